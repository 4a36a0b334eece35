//! How long answers had been there when their client had them: of some, as to ask costs a system call.

use std::os::fd::AsFd;

use super::round_trips::RoundTripMeter;
use crate::engine::payload::Origin;
use crate::sys::arrival::ArrivalClock;

/// One answer in so many is asked for.
const ONE_IN: u32 = 16;

/// Looks at some of the answers that come over the first link of a client.
#[derive(Debug)]
pub struct ArrivalSampler {
    clock: ArrivalClock,
    seen: u32,
}

impl ArrivalSampler {
    /// Of what comes over this socket. `None`: the kernel does not say when it came.
    pub fn of(socket: impl AsFd) -> Option<Self> {
        let clock = ArrivalClock::of(socket)?;
        Some(Self { clock, seen: 0 })
    }

    /// The answer to request `number` has just been received, and nothing else since.
    #[inline]
    pub(super) fn look(&mut self, meter: &RoundTripMeter, origin: Origin, number: u64) {
        self.seen += 1;
        if self.seen >= ONE_IN && origin.link == 0 {
            self.seen = 0;
            if let Some(ns) = self.clock.ns_since_arrival() {
                meter.woken(number, ns);
            }
        }
    }
}
