//! Counters that a loop of requests or of a paced flood updates, and the coordinator thread reads.
//!
//! The window's requests are those that were sent (or, at a fixed rate, were due) while the window was open, whenever
//! their responses arrive. The sender of a request checks once whether the window is open, and the request carries the
//! result. So a request and its round trip either both belong to the window or both do not, however long it takes to
//! open the window. Late datagrams of a paced sender are counted all the time and read at both edges; gaps are counted
//! only while the window is open.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::data::{BUCKETS, Histogram, Pacing, RoundTrips, bucket_of};
use crate::engine::payload::Origin;
use crate::sys::arrival::ArrivalClock;

/// Number of times in each bucket of a [`Histogram`].
#[derive(Debug)]
struct BucketCounts(Box<[AtomicU64]>);

impl Default for BucketCounts {
    fn default() -> Self {
        Self((0..BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl BucketCounts {
    /// Counts a time in nanoseconds, `times` times.
    #[inline]
    fn count(&self, ns: u64, times: u64) {
        increase(&self.0[bucket_of(ns)], times);
    }

    fn read(&self) -> Histogram {
        Histogram::of_counts(self.0.iter().map(|it| it.load(Ordering::Relaxed)))
    }
}

/// Increases a counter that only one thread writes. No atomic addition is needed, which costs several times more.
#[inline]
fn increase(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}

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

/// Pacing accuracy of one thread. The thread writes, the coordinator thread reads. Occupies two cache lines of its
/// own, like [`Meter`](crate::engine::Meter).
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct PaceMeter {
    late: AtomicU64,
    /// Counts of late datagrams when the window opened, and when it closed.
    at_edges: [AtomicU64; 2],
    /// 1 while the window is open, in which gaps are counted.
    open_windows: AtomicU64,
    transmit_gaps: BucketCounts,
    call_end_gaps: BucketCounts,
}

impl PaceMeter {
    pub(super) fn add_late(&self, packets: u64) {
        increase(&self.late, packets);
    }

    /// Counts a gap between two datagrams, by the kernel's timestamps.
    pub(super) fn count_transmit_gap(&self, ns: u64) {
        let times = self.open_windows.load(Ordering::Relaxed);
        self.transmit_gaps.count(ns, times);
    }

    /// Counts a gap between the ends of two send calls.
    pub(super) fn count_call_end_gap(&self, ns: u64) {
        let times = self.open_windows.load(Ordering::Relaxed);
        self.call_end_gaps.count(ns, times);
    }

    /// Opens the window.
    pub fn open_window(&self) {
        self.mark_edge(0);
    }

    /// Closes the window.
    pub fn close_window(&self) {
        self.mark_edge(1);
    }

    fn mark_edge(&self, edge: usize) {
        let late = self.late.load(Ordering::Relaxed);
        self.at_edges[edge].store(late, Ordering::Relaxed);
        self.open_windows
            .store(u64::from(edge == 0), Ordering::Relaxed);
    }

    /// Returns the counts of the window.
    pub fn pacing(&self) -> Pacing {
        let [opening, closing] = &self.at_edges;
        let late = closing.load(Ordering::Relaxed);
        Pacing {
            late: late.saturating_sub(opening.load(Ordering::Relaxed)),
            transmit_gaps: self.transmit_gaps.read(),
            call_end_gaps: self.call_end_gaps.read(),
        }
    }
}

/// Responses per sample.
const ONE_IN: u32 = 16;

/// Samples the time from when the kernel received a response over a client's first endpoint until the client did. Only
/// some responses are sampled, because each sample costs a system call.
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

    #[test]
    fn late_is_counted_between_the_edges() {
        let meter = PaceMeter::default();
        meter.add_late(3);
        meter.open_window();
        meter.add_late(4);
        meter.close_window();
        meter.add_late(5);
        assert_eq!(meter.pacing().late, 4);
    }
}
