//! Measures the gaps between sent datagrams of the first flow of a sender: by the kernel's transmit timestamps of some
//! batches, and by the ends of the send calls.

use std::sync::Arc;

use super::pace_meter::PaceMeter;
use crate::sys::clock;
use crate::sys::transmit::{TransmitStamp, TransmitStamps};

/// Approximate number of pairs of batches with timestamps per second. At lower rates, all batches have timestamps.
/// Timestamps cost kernel memory, and one call of the sender each, which would add to the CPU time per datagram.
const PAIRS_PER_SECOND: f64 = 1000.0;

/// Measures the gaps between the batches of one endpoint.
#[derive(Debug)]
pub(super) struct GapWatch {
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
    pub(super) fn new(stamps: Option<TransmitStamps>, meter: Arc<PaceMeter>) -> Self {
        Self {
            stamps,
            stage: Stage::Skips(0),
            last: None,
            returned_ns: None,
            meter,
        }
    }

    /// Prepares for the next batch, which is about to be sent.
    pub(super) fn prepare(&mut self) {
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
    pub(super) fn went(&mut self, gap_ns: f64) {
        let now = clock::monotonic_ns();
        if let Some(before) = self.returned_ns.replace(now) {
            self.meter.call_end_gaps.count(now.saturating_sub(before));
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
                    self.meter.transmit_gaps.count(gap_ns);
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
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates"
        )]
        Stage::Skips((fastrand::f64() * (most + 1.0)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    /// Returns the gaps counted for 100 batches of 3 datagrams over loopback: by timestamps, and by calls.
    fn counts(gap_ns: f64) -> (u64, u64) {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let to = receiver.local_addr().expect("it is bound");
        sender.connect(to).expect("loopback works");
        let meter = Arc::<PaceMeter>::default();
        let mut watch = GapWatch::new(TransmitStamps::of(&sender), Arc::clone(&meter));
        meter.open_window();
        for _ in 0..100 {
            watch.prepare();
            for _ in 0..3 {
                sender.send(&[0]).expect("loopback works");
            }
            watch.went(gap_ns);
        }
        meter.close_window();
        watch.went(gap_ns);
        let found = meter.pacing();
        (found.transmit_gaps.count(), found.call_end_gaps.count())
    }

    #[test]
    fn at_a_low_rate_every_gap_is_counted_and_at_a_high_one_some_are() {
        let (left, returned) = counts(1e6);
        assert_eq!(returned, 99, "between the calls");
        if left == 0 {
            eprintln!("this kernel does not stamp what leaves");
            return;
        }
        assert_eq!(left, 99 * 3, "all but those within the first burst");
        let (left, returned) = counts(1e5);
        assert_eq!(returned, 99);
        // Pairs of batches, ten batches from one pair to the next on average. Each pair has two gaps within, and one
        // between.
        assert!(left % 3 == 0 && (3..50 * 3).contains(&left), "{left}");
    }
}
