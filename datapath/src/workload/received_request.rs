//! A request as its server sees it, and the service time.

use std::time::Duration;
use std::{hint, thread};

use crate::data::ServiceTime;
use crate::engine::payload::Origin;
use crate::engine::verify::HEAD_BYTES;

/// A received request.
#[derive(Debug)]
pub(super) struct ReceivedRequest {
    pub(super) head: [u8; HEAD_BYTES],
    pub(super) origin: Origin,
    /// The whole request during verification, else empty.
    pub(super) whole: Vec<u8>,
}

impl ReceivedRequest {
    /// Copies the head of the request, or the whole request during verification, to the start of the response.
    #[inline]
    pub(super) fn repeat(&self, answer: &mut [u8]) {
        let repeated = if self.whole.is_empty() {
            &self.head[..]
        } else {
            &self.whole
        };
        let bytes = repeated.len().min(answer.len());
        answer[..bytes].copy_from_slice(&repeated[..bytes]);
    }
}

/// Performs a service time: sleeps, or computes until the clock `now_ns` has advanced by it.
pub(super) fn spend(service: ServiceTime, now_ns: impl Fn() -> u64) {
    if service.sleeps {
        thread::sleep(Duration::from_nanos(service.ns));
        return;
    }
    let end = now_ns() + service.ns;
    while now_ns() < end {
        hint::spin_loop();
    }
}
