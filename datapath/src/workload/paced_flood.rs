//! Paced flood: sends a batch when its first datagram is due.
//!
//! A delayed thread sends batches back to back until none is due, which keeps the rate. It is never ahead of the
//! schedule by more than the rest of a batch.
//!
//! The gaps between sent datagrams of its first flow are measured by the kernel's transmit timestamps of some batches,
//! and by the ends of the send calls.

use std::sync::Arc;

use super::due::{DueTimes, whole};
use super::flood::Rotation;
use super::meters::PaceMeter;
use crate::engine::payload::Fill;
use crate::sys::clock;
use crate::sys::error_queue::{TransmitStamp, TransmitStamps};

/// Sender of a paced flood.
#[derive(Debug)]
pub struct PacedFlood {
    schedule: DueTimes,
    rotation: Rotation,
    /// Number of the thread, from 0.
    thread: u16,
    /// Gaps between the batches of the first endpoint.
    gaps: GapWatch,
    pub(super) meter: Arc<PaceMeter>,
}

impl PacedFlood {
    /// Creates the sender of thread `thread`, from 0, over the endpoints of `rotation`. `stamps`: transmit timestamps
    /// of the first endpoint.
    pub fn new(
        thread: u16,
        rotation: Rotation,
        schedule: DueTimes,
        stamps: Option<TransmitStamps>,
    ) -> Self {
        let meter = Arc::<PaceMeter>::default();
        Self {
            schedule,
            rotation,
            thread,
            gaps: GapWatch::new(stamps, Arc::clone(&meter)),
            meter,
        }
    }

    pub(super) fn begin(&mut self) {
        self.schedule.begin(self.thread);
    }

    /// Waits until the next batch is due, and returns the index of its endpoint. `None`: the caller must first check
    /// whether to stop.
    pub(super) fn wait_until_due(&mut self) -> Option<usize> {
        let is_due = self.schedule.wait_until_due();
        if is_due && self.rotation.endpoint == 0 {
            self.gaps.prepare();
        }
        is_due.then_some(self.rotation.endpoint)
    }

    /// Handles a batch that the kernel had no room for: moves on to the next endpoint.
    pub(super) fn not_sent(&mut self) {
        self.rotation.turn();
    }
}

impl Fill for PacedFlood {
    fn fill(&self, memory: &mut [u8]) {
        self.rotation.fill(memory);
    }

    fn sent(&mut self, packets: u64) {
        self.rotation.sent(packets);
        if packets > 0 && self.rotation.endpoint == 0 {
            let each = self.schedule.gap_ns() * self.rotation.endpoints as f64;
            self.gaps.went(each * packets as f64);
        }
        self.rotation.turn();
        if self.schedule.went(packets) {
            self.meter.add_late(packets);
        }
    }
}

/// Approximate number of pairs of batches with timestamps per second. At lower rates, all batches have timestamps.
/// Timestamps cost kernel memory, and one call of the sender each, which would add to the CPU time per datagram.
const PAIRS_PER_SECOND: f64 = 1000.0;

/// Measures the gaps between the batches of one endpoint.
#[derive(Debug)]
struct GapWatch {
    /// Transmit timestamps of the kernel. `None`: not requested.
    stamps: Option<TransmitStamps>,
    stage: Stage,
    last: Option<TransmitStamp>,
    returned_ns: Option<u64>,
    meter: Arc<PaceMeter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Number of batches to skip before the next pair.
    Skips(u64),
    /// First batch of a pair. No gap is counted before its end.
    First,
    /// Second batch of a pair: the gaps before each of its datagrams are counted.
    Second,
}

impl GapWatch {
    /// Creates a measurement with these timestamps of an endpoint. `meter` counts the gaps.
    fn new(stamps: Option<TransmitStamps>, meter: Arc<PaceMeter>) -> Self {
        Self {
            stamps,
            stage: Stage::Skips(0),
            last: None,
            returned_ns: None,
            meter,
        }
    }

    /// Prepares for the next batch, which is about to be sent.
    fn prepare(&mut self) {
        let Some(stamps) = self
            .stamps
            .as_mut()
            .filter(|_| self.stage == Stage::Skips(0))
        else {
            return;
        };
        // Discard the timestamps of batches that left late.
        stamps.by_ref().for_each(drop);
        stamps.begin();
        (self.stage, self.last) = (Stage::First, None);
    }

    /// Handles a sent batch. `gap_ns`: mean time between two batches, in nanoseconds.
    fn went(&mut self, gap_ns: f64) {
        let now = clock::monotonic_ns();
        if let Some(before) = self.returned_ns.replace(now) {
            self.meter.count_call_end_gap(now.saturating_sub(before));
        }
        self.stage = match self.stage {
            Stage::Skips(bursts) => Stage::Skips(bursts.saturating_sub(1)),
            Stage::First => {
                self.take(false);
                Stage::Second
            }
            Stage::Second => {
                self.take(true);
                self.after_a_pair(gap_ns)
            }
        };
    }

    fn take(&mut self, counts: bool) {
        let Some(stamps) = &mut self.stamps else {
            return;
        };
        for stamp in stamps {
            let next = self.last.map(|last| (last, last.number.wrapping_add(1)));
            // A lost timestamp gives no gap. The computer's clock may be set back meanwhile.
            if let Some((last, _)) = next.filter(|(_, next)| counts && stamp.number == *next) {
                if let Some(gap_ns) = stamp.ns.checked_sub(last.ns) {
                    self.meter.count_transmit_gap(gap_ns);
                }
            }
            self.last = Some(stamp);
        }
    }

    fn after_a_pair(&mut self, gap_ns: f64) -> Stage {
        let bursts_per_pair = 1e9 / gap_ns / PAIRS_PER_SECOND;
        if bursts_per_pair < 2.0 {
            return Stage::Second;
        }
        if let Some(stamps) = &self.stamps {
            stamps.end();
        }
        // Random, so that no rhythm of the sender distorts the sample.
        let most = 2.0 * (bursts_per_pair - 2.0);
        Stage::Skips(whole(fastrand::f64() * (most + 1.0)))
    }
}

#[cfg(test)]
mod tests;
