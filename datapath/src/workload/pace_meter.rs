//! Counters of a paced sender's accuracy. Late datagrams are counted all the time and read at both edges; gaps are
//! counted only while the window is open.

use std::sync::atomic::{AtomicU64, Ordering};

use super::bucket_counts::{BucketCounts, increase};
use crate::data::Pacing;

/// Pacing accuracy of one thread. The thread writes, the coordinator thread reads. Occupies two cache lines of its
/// own, like [`Meter`](crate::engine::Meter).
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct PaceMeter {
    late: AtomicU64,
    /// Counts of late datagrams when the window opened, and when it closed.
    at_edges: [AtomicU64; 2],
    /// Gaps between datagrams, by the kernel's timestamps.
    pub(super) transmit_gaps: GapCounts,
    /// Gaps between the ends of send calls.
    pub(super) call_end_gaps: GapCounts,
}

impl PaceMeter {
    pub(super) fn add_late(&self, packets: u64) {
        increase(&self.late, packets);
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
        let is_open = u64::from(edge == 0);
        self.transmit_gaps.set_open(is_open);
        self.call_end_gaps.set_open(is_open);
    }

    /// Returns the counts of the window.
    pub fn pacing(&self) -> Pacing {
        let [opening, closing] = &self.at_edges;
        let late = closing.load(Ordering::Relaxed);
        Pacing {
            late: late.saturating_sub(opening.load(Ordering::Relaxed)),
            transmit_gaps: self.transmit_gaps.counts.read(),
            call_end_gaps: self.call_end_gaps.counts.read(),
        }
    }
}

/// Gaps of one thread, counted while the window is open. The thread writes, the coordinator thread reads.
#[derive(Debug, Default)]
pub(super) struct GapCounts {
    counts: BucketCounts,
    /// 1 while the window is open.
    is_open: AtomicU64,
}

impl GapCounts {
    /// Starts (1) or stops (0) counting.
    fn set_open(&self, is_open: u64) {
        self.is_open.store(is_open, Ordering::Relaxed);
    }

    pub(super) fn count(&self, ns: u64) {
        self.counts.count(ns, self.is_open.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
