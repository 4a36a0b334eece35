//! Paced flood: sends a batch when its first datagram is due.
//!
//! A delayed thread sends batches back to back until none is due, which keeps the rate. It is never ahead of the
//! schedule by more than the rest of a batch.

use std::sync::Arc;

use super::due::DueTimes;
use super::gaps::GapWatch;
use super::pace_meter::PaceMeter;
use super::rotation::Rotation;
use crate::engine::payload::Fill;
use crate::sys::transmit::TransmitStamps;

/// Sender of a paced flood.
#[derive(Debug)]
pub struct PacedFlood {
    schedule: DueTimes,
    rotation: Rotation,
    /// Number of the thread, from 0.
    thread: u16,
    /// Gaps between the batches of the first endpoint.
    gaps: GapWatch,
    meter: Arc<PaceMeter>,
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

    /// Returns the counter of its pacing accuracy.
    pub fn meter(&self) -> Arc<PaceMeter> {
        Arc::clone(&self.meter)
    }

    pub(super) fn begin(&mut self) {
        self.schedule.begin(self.thread);
    }

    pub(super) fn endpoint(&self) -> usize {
        self.rotation.endpoint()
    }

    /// Waits until the next batch is due. Returns false if the caller must first check whether to stop.
    pub(super) fn wait_until_due(&mut self) -> bool {
        let is_due = self.schedule.wait_until_due();
        if is_due && self.endpoint() == 0 {
            self.gaps.prepare();
        }
        is_due
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
        if packets > 0 && self.endpoint() == 0 {
            let each = self.schedule.gap_ns() * self.rotation.endpoints() as f64;
            self.gaps.went(each * packets as f64);
        }
        self.rotation.turn();
        if self.schedule.went(packets) {
            self.meter.add_late(packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Arrivals;
    use crate::sys::clock;

    fn flood(gap_ns: f64) -> PacedFlood {
        let schedule = DueTimes::new(gap_ns, Arrivals::Even);
        let mut flood = PacedFlood::new(0, Rotation::of(1, Vec::new()), schedule, None);
        flood.begin();
        flood
    }

    #[test]
    fn a_flood_catches_up_and_never_has_more_gone_than_is_due() {
        const BATCH: u64 = 7;
        let begun = clock::monotonic_ns();
        let mut flood = flood(10_000.0);
        std::thread::sleep(std::time::Duration::from_millis(2));
        let mut sent = 0;
        while sent < 500 {
            if flood.wait_until_due() {
                flood.sent(BATCH);
                let due = (clock::monotonic_ns() - begun) / 10_000 + 1;
                sent += BATCH;
                assert!(sent < due + BATCH, "{sent} have gone, {due} are due");
            }
        }
        flood.meter.close_window();
        assert!(flood.meter.pacing().late >= 100, "it began 2 ms late");
    }
}
