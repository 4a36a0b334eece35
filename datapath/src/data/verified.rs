//! What `--verify` found in datagrams, and which it can look at.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{Direction, Payload, Traits};

/// What a datagram must hold at least to be told from others: 2 B of lane, 6 B of number, 4 B that follow
/// from them.
pub const LEAST_BYTES: usize = 12;

/// What one must hold at least to say when it was sent, too: 8 B more.
pub const TIMED_BYTES: usize = LEAST_BYTES + 8;

/// Why datagrams of that payload from such a sender cannot be verified, if they cannot.
pub fn refusal(payload: Payload, sender: &Traits) -> Option<String> {
    if !sender.moves_datagrams {
        return Some(format!("{} moves no datagrams", sender.name));
    }
    (payload.bytes() < LEAST_BYTES).then(|| {
        format!("{payload} B are too few to tell datagrams apart, {LEAST_BYTES} B are enough")
    })
}

/// What was found in the datagrams of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Looked at.
    pub packets: u64,
    /// Sent meanwhile and came never, duplicates and strangers left out. `None`: nobody took them together.
    pub missing: Option<u64>,
    /// Came before.
    pub duplicated: u64,
    /// Came after one that was sent later by the same lane.
    pub reordered: u64,
    /// Of those, how many others of its lane came at most since the first one that was sent later: the reordering extent
    /// of RFC 4737. 0: none was reordered.
    pub reordering_extent: u64,
    /// The interarrival jitter of RFC 3550 at the end, in nanoseconds, of the lane with the most. `None`: too few came, or
    /// they had no room for a time.
    pub jitter_ns: Option<u64>,
    /// Shorter than it was sent, and right as far as it goes.
    pub truncated: u64,
    /// Anything else than what was sent, and what was said to come from somebody else.
    pub corrupted: u64,
}

impl Verified {
    /// What the engines are to blame for, if anything. To reorder is UDP's own right, and on the way between two hosts, to
    /// duplicate, too.
    pub fn fault(&self, direction: Option<Direction>) -> Option<String> {
        let Self {
            packets,
            truncated,
            corrupted,
            ..
        } = self;
        let duplicated = if direction.is_none() {
            self.duplicated
        } else {
            0
        };
        (duplicated + truncated + corrupted > 0).then(|| {
            let twice = match direction {
                None => format!("{duplicated} duplicated, "),
                Some(_) => String::new(),
            };
            format!(
                "of {packets} datagrams verified, {twice}{truncated} truncated, {corrupted} corrupted"
            )
        })
    }

    /// Of that many that were sent, those that never came: the numbers of the others are known.
    pub fn missing_of(&self, sent: u64) -> u64 {
        let ours = self
            .packets
            .saturating_sub(self.duplicated + self.corrupted);
        sent.saturating_sub(ours)
    }

    /// What the way between two hosts did to them, if anything.
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
