//! What a client counts while its loop runs.
//!
//! Of the window are the requests that were sent, or with a rate: were due, while it was open, whenever their answers
//! come. The coordinator says where it begins and ends by the number of requests sent so far; it reads the counts when
//! the run is over.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::{BUCKETS, Histogram, RoundTrips, bucket_of};

/// After so long without an answer, in nanoseconds, a request is given up: on loopback it is lost then.
pub const TIMEOUT_NS: u64 = 250_000_000;

/// The round trips of one client. Two cache lines to itself, as [`Meter`](crate::engine::Meter).
#[derive(Debug)]
#[repr(align(128))]
pub struct RoundTripMeter {
    /// Requests sent so far. The first has the number 0.
    sent: AtomicU64,
    /// The numbers of those of the window: from the first, up to the second.
    window: [AtomicU64; 2],
    counts: Box<[AtomicU64]>,
    sum_ns: AtomicU64,
    late: AtomicU64,
    wakeups: Box<[AtomicU64]>,
}

impl Default for RoundTripMeter {
    fn default() -> Self {
        let counts = || (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        Self {
            sent: AtomicU64::default(),
            window: [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)],
            counts: counts(),
            sum_ns: AtomicU64::default(),
            late: AtomicU64::default(),
            wakeups: counts(),
        }
    }
}

impl RoundTripMeter {
    /// One more request is sent. Returns its number.
    #[inline]
    pub(super) fn sent(&self) -> u64 {
        let number = self.sent.load(Ordering::Relaxed);
        self.sent.store(number + 1, Ordering::Relaxed);
        number
    }

    /// The answer to request `number` came in time.
    #[inline]
    pub(super) fn answered(&self, number: u64, ns: u64) {
        if self.is_in_window(number) {
            count(&self.counts[bucket_of(ns)], 1);
            count(&self.sum_ns, ns);
        }
    }

    /// The answer to request `number` had been there for so long when the client had it.
    pub(super) fn woken(&self, number: u64, ns: u64) {
        if self.is_in_window(number) {
            count(&self.wakeups[bucket_of(ns)], 1);
        }
    }

    /// Something came that nobody waits for any more.
    pub(super) fn late(&self) {
        count(&self.late, 1);
    }

    fn is_in_window(&self, number: u64) -> bool {
        let [from, to] = &self.window;
        (from.load(Ordering::Relaxed)..to.load(Ordering::Relaxed)).contains(&number)
    }

    /// The window begins with the next request.
    pub fn open_window(&self) {
        let [from, _] = &self.window;
        from.store(self.sent.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// The next request is not of the window any more.
    pub fn close_window(&self) {
        let [_, to] = &self.window;
        to.store(self.sent.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// The round trips of the window, when the run is over.
    pub fn round_trips(&self) -> RoundTrips {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let [from, to] = &self.window;
        let times = Histogram::of_counts(self.counts.iter().map(read));
        let asked = read(to).min(read(&self.sent)).saturating_sub(read(from));
        RoundTrips {
            // One that was being sent at an edge may be answered without being counted as sent.
            unanswered: asked.saturating_sub(times.count()),
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
    fn of_the_window_are_the_requests_that_were_sent_while_it_was_open() {
        let meter = RoundTripMeter::default();
        let send = |count: u64| (0..count).for_each(|_| _ = meter.sent());
        send(3);
        meter.answered(0, 10);
        meter.open_window();
        meter.answered(2, 10);
        send(4);
        for number in [3, 4] {
            meter.answered(number, 1000);
        }
        meter.close_window();
        send(2);
        // Its answer comes when the window is closed; that of 6 never.
        meter.answered(5, 3000);
        meter.answered(7, 10);
        meter.late();
        meter.woken(2, 700);
        meter.woken(5, 700);
        let found = meter.round_trips();
        assert_eq!((found.times.count(), found.sum_ns), (3, 5000));
        assert_eq!(found.wakeups.count(), 1);
        assert_eq!((found.unanswered, found.late), (1, 1));
    }

    #[test]
    fn without_a_window_there_is_nothing() {
        let meter = RoundTripMeter::default();
        meter.sent();
        meter.answered(0, 10);
        assert_eq!(meter.round_trips(), RoundTrips::default());
    }
}
