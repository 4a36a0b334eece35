//! Results of `--verify`, and the datagrams that can be verified.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{Direction, EngineProperties, Payload};

/// Minimum payload to tell datagrams apart, in bytes: 2 B of bench thread, 6 B of sequence number, and 4 B that are
/// derived from them.
pub const LEAST_BYTES: usize = 12;

/// Minimum payload that has room for the send time (8 B more), in bytes.
pub const TIMED_BYTES: usize = LEAST_BYTES + 8;

/// Returns the reason why datagrams of this payload from this sender cannot be verified. `None`: they can.
pub fn refusal(payload: Payload, sender: &EngineProperties) -> Option<String> {
    if !sender.moves_datagrams {
        return Some(format!("{} moves no datagrams", sender.name));
    }
    (payload.bytes() < LEAST_BYTES).then(|| {
        format!("{payload} B are too few to tell datagrams apart, {LEAST_BYTES} B are enough")
    })
}

/// Results of verifying the datagrams of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Datagrams verified.
    pub packets: u64,
    /// Datagrams that were sent and never received, without duplicates and foreign datagrams. `None`: the counts of
    /// both ends were not combined.
    pub missing: Option<u64>,
    /// Datagrams received more than once.
    pub duplicated: u64,
    /// Datagrams received after a datagram that the same thread sent later.
    pub reordered: u64,
    /// Reordering extent of RFC 4737, the maximum of all reordered datagrams: the number of datagrams of the same
    /// thread received since the first one that was sent later. 0: none was reordered.
    pub reordering_extent: u64,
    /// Interarrival jitter of RFC 3550 at the end of the run, in nanoseconds, of the thread with the highest value.
    /// `None`: too few datagrams were received, or they had no room for a time.
    pub jitter_ns: Option<u64>,
    /// Datagrams shorter than sent, and otherwise correct.
    pub truncated: u64,
    /// Datagrams with other contents than sent, or with a wrong source address.
    pub corrupted: u64,
}

impl Verified {
    /// Returns the errors that the engines caused. `None`: there are none. UDP may reorder datagrams, and the path
    /// between two hosts may duplicate them, so these are not errors of an engine.
    pub fn fault(&self, direction: Option<Direction>) -> Option<String> {
        let Self {
            packets,
            truncated,
            corrupted,
            ..
        } = self;
        let duplicated = direction.is_none().then_some(self.duplicated);
        (duplicated.unwrap_or(0) + truncated + corrupted > 0).then(|| {
            let twice = duplicated.map(|packets| format!("{packets} duplicated, "));
            let twice = twice.unwrap_or_default();
            format!(
                "of {packets} datagrams verified, {twice}{truncated} truncated, {corrupted} corrupted"
            )
        })
    }

    /// Returns the number of datagrams that never arrived, out of `sent`. The received ones are known by their
    /// numbers.
    pub fn missing_of(&self, sent: u64) -> u64 {
        let ours = self
            .packets
            .saturating_sub(self.duplicated + self.corrupted);
        sent.saturating_sub(ours)
    }

    /// Returns a description of duplication and reordering by the path between two hosts. `None`: the path did
    /// neither.
    pub fn done_on_the_way(&self) -> Option<String> {
        let Self {
            packets,
            duplicated,
            reordered,
            reordering_extent,
            ..
        } = self;
        (duplicated + reordered > 0).then(|| {
            let missing = match self.missing {
                Some(missing) if missing > 0 => format!(", and {missing} others never came"),
                _ => String::new(),
            };
            format!(
                "of {packets} datagrams verified, {duplicated} came twice and {reordered} out of order, by \
                 {reordering_extent} at most{missing}: the path does so"
            )
        })
    }
}

impl AddAssign for Verified {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.missing = self.missing.zip(other.missing).map(|(a, b)| a + b);
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.reordering_extent = self.reordering_extent.max(other.reordering_extent);
        self.jitter_ns = self.jitter_ns.max(other.jitter_ns);
        self.truncated += other.truncated;
        self.corrupted += other.corrupted;
    }
}
