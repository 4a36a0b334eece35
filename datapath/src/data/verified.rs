//! What `--verify` found in datagrams, and which it can look at.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{Payload, Traits};

/// What a datagram must hold at least to be told from others: 2 B of lane, 6 B of number, 4 B that follow
/// from them.
pub const LEAST_BYTES: usize = 12;

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
    /// Came before.
    pub duplicated: u64,
    /// Came after one that was sent later by the same lane.
    pub reordered: u64,
    /// Shorter than it was sent, and right as far as it goes.
    pub truncated: u64,
    /// Anything else than what was sent, and what was said to come from somebody else.
    pub corrupted: u64,
}

impl Verified {
    /// What the engines are to blame for, if anything. To reorder is UDP's own right.
    pub fn fault(&self) -> Option<String> {
        let Self {
            packets,
            duplicated,
            truncated,
            corrupted,
            ..
        } = self;
        (duplicated + truncated + corrupted > 0).then(|| {
            format!(
                "of {packets} datagrams verified, {duplicated} duplicated, {truncated} truncated, \
                 {corrupted} corrupted"
            )
        })
    }
}

impl AddAssign for Verified {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.truncated += other.truncated;
        self.corrupted += other.corrupted;
    }
}
