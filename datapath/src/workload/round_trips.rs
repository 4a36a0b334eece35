//! What a client counts while its loop runs, and the coordinator reads at the edges of a window.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::{BUCKETS, Histogram, RoundTrips, bucket_of};

/// The round trips of one client since it started.
#[derive(Debug)]
pub struct RoundTripMeter {
    counts: Box<[AtomicU64]>,
    sum_ns: AtomicU64,
    timed_out: AtomicU64,
    late: AtomicU64,
}

impl Default for RoundTripMeter {
    fn default() -> Self {
        Self {
            counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            sum_ns: AtomicU64::default(),
            timed_out: AtomicU64::default(),
            late: AtomicU64::default(),
        }
    }
}

impl RoundTripMeter {
    /// An answer came in time.
    #[inline]
    pub(super) fn record(&self, ns: u64) {
        count(&self.counts[bucket_of(ns)], 1);
        count(&self.sum_ns, ns);
    }

    /// A request is given up.
    pub(super) fn timed_out(&self) {
        count(&self.timed_out, 1);
    }

    /// An answer came that nobody waits for any more.
    pub(super) fn late(&self) {
        count(&self.late, 1);
    }

    /// What there was so far. An answer that comes meanwhile may be in one of the counts and not in another.
    pub fn read(&self) -> RoundTrips {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RoundTrips {
            times: Histogram::of_counts(self.counts.iter().map(read)),
            sum_ns: read(&self.sum_ns),
            timed_out: read(&self.timed_out),
            late: read(&self.late),
        }
    }
}

/// Only the client writes, so that it needs no atomic addition, which costs several times as much.
#[inline]
fn count(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}
