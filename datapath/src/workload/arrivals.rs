//! How long answers had been there when their client had them: of some, as to ask costs a system call.

use std::os::fd::AsFd;
use std::sync::Arc;

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

    /// An answer has just been received, and nothing else since. `meter`: where it counts, if it is of the window.
    #[inline]
    pub(super) fn look(&mut self, meter: Option<&Arc<RoundTripMeter>>, origin: Origin) {
        self.seen += 1;
        if self.seen >= ONE_IN && origin.link == 0 {
            self.seen = 0;
            if let (Some(meter), Some(ns)) = (meter, self.clock.ns_since_arrival()) {
                meter.woken(ns);
            }
        }
    }
}
