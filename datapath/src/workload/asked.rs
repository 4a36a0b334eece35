//! What a server is asked, and what it has to do for it.

use std::time::Duration;
use std::{hint, thread};

use crate::data::ServiceTime;
use crate::engine::payload::Origin;
use crate::engine::verify::HEAD_BYTES;

/// One request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) head: [u8; HEAD_BYTES],
    pub(super) origin: Origin,
    /// All of it, where it is looked at.
    pub(super) whole: Vec<u8>,
}

impl Asked {
    /// Repeats what it began with, or all of it, where the answer begins.
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

/// Computes until so much of `now_ns` has passed, or sleeps.
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
