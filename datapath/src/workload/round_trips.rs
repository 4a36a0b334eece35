//! Counters of a client's round trips, which its loop updates.
//!
//! The window's requests are those that were sent (or, at a fixed rate, were due) while the window was open, whenever
//! their responses arrive. The sender of a request checks once whether the window is open, and the request carries the
//! result. So a request and its round trip either both belong to the window or both do not, however long it takes to
//! open the window.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::bucket_counts::{BucketCounts, increase};
use crate::data::RoundTrips;

/// Timeout of a request, in nanoseconds. On loopback, a request without a response by then is lost.
pub const TIMEOUT_NS: u64 = 250_000_000;

/// Round trips of one client. Occupies two cache lines of its own, like [`Meter`](crate::engine::Meter).
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct RoundTripMeter {
    is_open: AtomicBool,
    /// Requests of the window.
    requests: AtomicU64,
    counts: BucketCounts,
    sum_ns: AtomicU64,
    late: AtomicU64,
    wakeups: BucketCounts,
}

impl RoundTripMeter {
    /// Returns whether a request that is sent, or due, now belongs to the window.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Counts requests of the window that were sent.
    #[inline]
    pub(crate) fn sent_requests(&self, requests: u64) {
        increase(&self.requests, requests);
    }

    /// Counts a response to a request of the window that arrived in time, after `ns` nanoseconds.
    #[inline]
    pub(crate) fn answered(&self, ns: u64) {
        self.counts.count(ns, 1);
        increase(&self.sum_ns, ns);
    }

    /// Counts the time from when the kernel received a response until the client did.
    pub(super) fn woken(&self, ns: u64) {
        self.wakeups.count(ns, 1);
    }

    /// Counts datagrams that no request waits for.
    pub(crate) fn late(&self, datagrams: u64) {
        increase(&self.late, datagrams);
    }

    /// Opens the window: it begins with the next request.
    pub fn open_window(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }

    /// Closes the window: the next request does not belong to it.
    pub fn close_window(&self) {
        self.is_open.store(false, Ordering::Relaxed);
    }

    /// Returns the round trips of the window. To be called after the run.
    pub fn round_trips(&self) -> RoundTrips {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let times = self.counts.read();
        RoundTrips {
            // The receiving thread of a client may be ahead of the sending one by one request, which is being sent.
            unanswered: read(&self.requests).saturating_sub(times.count()),
            times,
            sum_ns: read(&self.sum_ns),
            late: read(&self.late),
            wakeups: self.wakeups.read(),
        }
    }
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
        (0..4).for_each(|_| meter.sent_requests(1));
        meter.close_window();
        assert!(!meter.is_open());
        for ns in [1000, 1000, 3000] {
            meter.answered(ns);
        }
        meter.late(1);
        meter.woken(700);
        let found = meter.round_trips();
        assert_eq!((found.times.count(), found.sum_ns), (3, 5000));
        assert_eq!(found.wakeups.count(), 1);
        assert_eq!((found.unanswered, found.late), (1, 1));
    }
}
