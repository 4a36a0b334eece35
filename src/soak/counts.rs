//! A histogram that grows.

use crate::data::{BUCKETS, Histogram, bucket_of};

/// Buckets of the histogram that are counted as one, so that a minute takes up few kilobytes: no bucket is wider than
/// 1/32 of its times.
const BUCKETS_AS_ONE: usize = 4;

/// Counts of times, in few buckets.
#[derive(Debug)]
pub(super) struct Counts(Vec<u64>);

impl Default for Counts {
    fn default() -> Self {
        Self(vec![0; BUCKETS])
    }
}

impl Counts {
    /// Counts a time.
    pub(super) fn add(&mut self, ns: u64) {
        let bucket = bucket_of(ns);
        self.0[bucket - bucket % BUCKETS_AS_ONE + BUCKETS_AS_ONE / 2] += 1;
    }

    /// Returns the counts, and begins again.
    pub(super) fn end(&mut self) -> Histogram {
        let counts = Histogram::of_counts(self.0.iter().copied());
        self.0.fill(0);
        counts
    }
}
