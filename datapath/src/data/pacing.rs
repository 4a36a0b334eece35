//! Accuracy of paced sending: late datagrams and the gaps between datagrams.

use serde::{Deserialize, Serialize};

use super::Histogram;

/// Accuracy of the senders of a paced flood in one window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pacing {
    /// Datagrams sent when the next one was already due, because their thread was behind.
    pub late: u64,
    /// Gaps between datagrams of the first flow of a sender, in nanoseconds, by the kernel's transmit timestamps. A
    /// sample of some batches. Empty if the kernel makes no timestamps.
    pub transmit_gaps: Histogram,
    /// Gaps between the ends of consecutive send calls, in nanoseconds. Every call is counted.
    pub call_end_gaps: Histogram,
}

impl Pacing {
    /// Adds the counts of another sender or window.
    pub fn add(&mut self, other: &Self) {
        self.late += other.late;
        self.transmit_gaps.add(&other.transmit_gaps);
        self.call_end_gaps.add(&other.call_end_gaps);
    }
}
