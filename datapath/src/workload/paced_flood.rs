//! A flood at a rate: a burst goes when its first datagram is due.
//!
//! A thread that was held up sends one burst after the other until none is due any more, so that the rate is kept, and
//! never has more gone than is due, but for the rest of a burst.

use std::sync::Arc;

use super::gaps::GapWatch;
use super::pace_meter::PaceMeter;
use super::rotation::Rotation;
use super::schedule::Schedule;
use crate::engine::payload::Fill;
use crate::sys::transmit::TransmitStamps;

/// What sends in a flood at a rate.
#[derive(Debug)]
pub struct PacedFlood {
    schedule: Schedule,
    rotation: Rotation,
    /// Which of the threads it is, from 0.
    thread: u16,
    /// Of the first link.
    gaps: GapWatch,
    meter: Arc<PaceMeter>,
}

impl PacedFlood {
    /// The thread of that number, from 0, over the links of `rotation`, with the stamps of the first of them.
    pub fn new(
        thread: u16,
        rotation: Rotation,
        schedule: Schedule,
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

    /// Where it counts how well it keeps to its schedule.
    pub fn meter(&self) -> Arc<PaceMeter> {
        Arc::clone(&self.meter)
    }

    pub(super) fn begin(&mut self) {
        self.schedule.begin(self.thread);
    }

    pub(super) fn link(&self) -> usize {
        self.rotation.link()
    }

    /// Waits until the next burst is due. `false`: it is time to look whether to stop.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.schedule.is_due();
        if is_due && self.link() == 0 {
            self.gaps.prepare();
        }
        is_due
    }

    /// There was no room for a burst: it is the next link's turn.
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
        if packets > 0 && self.link() == 0 {
            let each = self.schedule.gap_ns() * self.rotation.links() as f64;
            self.gaps.went(each * packets as f64);
        }
        self.rotation.turn();
        if self.schedule.went(packets) {
            self.meter.late(packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Arrivals;
    use crate::sys::clock;

    fn flood(gap_ns: f64) -> PacedFlood {
        let schedule = Schedule::new(gap_ns, Arrivals::Even);
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
            if flood.is_due() {
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
