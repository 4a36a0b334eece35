//! What a client counts while its loop runs.
//!
//! Of the window are the requests that were sent, or with a rate: were due, while it was open, whenever their answers
//! come. Whoever sends a request looks whether the window is open, once, and the request bears the answer: so a request
//! and its round trip are both of the window or neither is, however long the coordinator takes to open it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::data::{BUCKETS, Histogram, RoundTrips, bucket_of};

/// After so long without an answer, in nanoseconds, a request is given up: on loopback it is lost then.
pub const TIMEOUT_NS: u64 = 250_000_000;

/// The round trips of one client. Two cache lines to itself, as [`Meter`](crate::engine::Meter).
#[derive(Debug)]
#[repr(align(128))]
pub struct RoundTripMeter {
    is_open: AtomicBool,
    /// Requests of the window.
    asked: AtomicU64,
    counts: Box<[AtomicU64]>,
    sum_ns: AtomicU64,
    late: AtomicU64,
    wakeups: Box<[AtomicU64]>,
}

impl Default for RoundTripMeter {
    fn default() -> Self {
        let counts = || (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        Self {
            is_open: AtomicBool::default(),
            asked: AtomicU64::default(),
            counts: counts(),
            sum_ns: AtomicU64::default(),
            late: AtomicU64::default(),
            wakeups: counts(),
        }
    }
}

impl RoundTripMeter {
    /// Whether a request that is sent, or due, now is of the window.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// A request of the window was sent.
    #[inline]
    pub(super) fn asked(&self) {
        count(&self.asked, 1);
    }

    /// The answer to a request of the window came in time.
    #[inline]
    pub(super) fn answered(&self, ns: u64) {
        count(&self.counts[bucket_of(ns)], 1);
        count(&self.sum_ns, ns);
    }

    /// The answer to a request of the window had been there for so long when the client had it.
    pub(super) fn woken(&self, ns: u64) {
        count(&self.wakeups[bucket_of(ns)], 1);
    }

    /// Something came that nobody waits for any more.
    pub(super) fn late(&self) {
        count(&self.late, 1);
    }

    /// The window begins with the next request.
    pub fn open_window(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }

    /// The next request is not of the window any more.
    pub fn close_window(&self) {
        self.is_open.store(false, Ordering::Relaxed);
    }

    /// The round trips of the window, when the run is over.
    pub fn round_trips(&self) -> RoundTrips {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let times = Histogram::of_counts(self.counts.iter().map(read));
        RoundTrips {
            // The receiving thread of a client may be ahead of the sending one, by the request that is being sent.
            unanswered: read(&self.asked).saturating_sub(times.count()),
            times,
            sum_ns: read(&self.sum_ns),
            late: read(&self.late),
            wakeups: Histogram::of_counts(self.wakeups.iter().map(read)),
        }
    }
}

/// Only one thread writes each of them, so that it needs no atomic addition, which costs several times as much.
#[inline]
fn count(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_was_answered_or_was_not() {
        let meter = RoundTripMeter::default();
        assert!(!meter.is_open());
        meter.open_window();
        assert!(meter.is_open());
        (0..4).for_each(|_| meter.asked());
        meter.close_window();
        assert!(!meter.is_open());
        for ns in [1000, 1000, 3000] {
            meter.answered(ns);
        }
        meter.late();
        meter.woken(700);
        let found = meter.round_trips();
        assert_eq!((found.times.count(), found.sum_ns), (3, 5000));
        assert_eq!(found.wakeups.count(), 1);
        assert_eq!((found.unanswered, found.late), (1, 1));
    }
}
