//! What a sender at a rate counts while its loop runs; the coordinator says when the window is open.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::data::{BUCKETS, Histogram, Pacing, bucket_of};

/// How one thread keeps to its schedule: it writes, the coordinator reads. Two cache lines to itself, as
/// [`Meter`](crate::engine::Meter).
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct PaceMeter {
    late: AtomicU64,
    /// How many were late when the window opened, and when it closed.
    at_edges: [AtomicU64; 2],
    /// Between datagrams, as the kernel stamped them.
    pub(super) left: GapCounts,
    /// Between the ends of calls.
    pub(super) returned: GapCounts,
}

impl PaceMeter {
    pub(super) fn late(&self, packets: u64) {
        let late = self.late.load(Ordering::Relaxed);
        self.late.store(late + packets, Ordering::Relaxed);
    }

    /// The window begins.
    pub fn open_window(&self) {
        self.look(0);
    }

    /// The window ends.
    pub fn close_window(&self) {
        self.look(1);
    }

    fn look(&self, edge: usize) {
        let late = self.late.load(Ordering::Relaxed);
        self.at_edges[edge].store(late, Ordering::Relaxed);
        let is_open = u64::from(edge == 0);
        self.left.open(is_open);
        self.returned.open(is_open);
    }

    /// What was counted in the window.
    pub fn pacing(&self) -> Pacing {
        let [opening, closing] = &self.at_edges;
        let late = closing.load(Ordering::Relaxed);
        Pacing {
            late: late.saturating_sub(opening.load(Ordering::Relaxed)),
            left: self.left.read(),
            returned: self.returned.read(),
        }
    }
}

/// Gaps of one thread, while a window is open: it writes, the coordinator reads.
#[derive(Debug)]
pub(super) struct GapCounts {
    counts: Box<[AtomicU64]>,
    /// 1 while the window is open.
    is_open: AtomicU64,
}

impl Default for GapCounts {
    fn default() -> Self {
        Self {
            counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            is_open: AtomicU64::new(0),
        }
    }
}

impl GapCounts {
    /// Gaps count from now on, or do not any more.
    fn open(&self, is_open: u64) {
        self.is_open.store(is_open, Ordering::Relaxed);
    }

    pub(super) fn count(&self, ns: u64) {
        // Only one thread writes.
        let count = &self.counts[bucket_of(ns)];
        let more = self.is_open.load(Ordering::Relaxed);
        count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    fn read(&self) -> Histogram {
        Histogram::of_counts(self.counts.iter().map(|it| it.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_is_counted_between_the_edges() {
        let meter = PaceMeter::default();
        meter.late(3);
        meter.open_window();
        meter.late(4);
        meter.close_window();
        meter.late(5);
        assert_eq!(meter.pacing().late, 4);
    }
}
