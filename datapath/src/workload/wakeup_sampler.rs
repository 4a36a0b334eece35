//! Samples the time from when the kernel received a response until the client did. Only some responses are sampled,
//! because each sample costs a system call.

use std::os::fd::AsFd;
use std::sync::Arc;

use super::round_trips::RoundTripMeter;
use crate::engine::payload::Origin;
use crate::sys::arrival::ArrivalClock;

/// Responses per sample.
const ONE_IN: u32 = 16;

/// Samples the receive timestamps of the responses over a client's first endpoint.
#[derive(Debug)]
pub struct WakeupSampler {
    clock: ArrivalClock,
    seen: u32,
}

impl WakeupSampler {
    /// Creates a sampler for this socket. `None`: the kernel makes no receive timestamps.
    pub fn of(socket: impl AsFd) -> Option<Self> {
        let clock = ArrivalClock::of(socket)?;
        Some(Self { clock, seen: 0 })
    }

    /// Samples a response that was just received, if its turn has come. Nothing may be received in between. `meter`:
    /// the counter to use, if the request belongs to the window.
    #[inline]
    pub(super) fn look(&mut self, meter: Option<&Arc<RoundTripMeter>>, origin: Origin) {
        self.seen += 1;
        if self.seen >= ONE_IN && origin.endpoint == 0 {
            self.seen = 0;
            if let (Some(meter), Some(ns)) = (meter, self.clock.ns_since_arrival()) {
                meter.woken(ns);
            }
        }
    }
}
