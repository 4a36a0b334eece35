//! Histogram that one thread writes and the coordinator thread reads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::{BUCKETS, Histogram, bucket_of};

/// Number of times in each bucket of a [`Histogram`].
#[derive(Debug)]
pub(super) struct BucketCounts(Box<[AtomicU64]>);

impl Default for BucketCounts {
    fn default() -> Self {
        Self((0..BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl BucketCounts {
    /// Counts a time in nanoseconds, `times` times.
    #[inline]
    pub(super) fn count(&self, ns: u64, times: u64) {
        increase(&self.0[bucket_of(ns)], times);
    }

    pub(super) fn read(&self) -> Histogram {
        Histogram::of_counts(self.0.iter().map(|it| it.load(Ordering::Relaxed)))
    }
}

/// Increases a counter that only one thread writes. No atomic addition is needed, which costs several times more.
#[inline]
pub(super) fn increase(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed) + by, Ordering::Relaxed);
}
