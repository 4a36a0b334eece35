//! `--verify`: whether what an engine delivers is what was sent.
//!
//! Each datagram carries the number of its lane, its own number, and bytes that follow from the two. So
//! each can be told from every other one, and a single wrong bit shows. This is for windows of its own:
//! measured ones know nothing of it.

use std::collections::{HashMap, HashSet};
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::case::{Payload, Traits};
use crate::content::{Inspect, Stamp};

/// What a datagram must hold at least to be told from others: 2 B of lane, 6 B of number, 4 B that follow
/// from them.
pub const LEAST_BYTES: usize = 12;

/// Why datagrams of that payload from such a sender cannot be verified, if they cannot.
pub fn refusal(payload: Payload, sender: &Traits) -> Option<String> {
    if !sender.moves_datagrams {
        return Some(format!("{} moves no datagrams", sender.name));
    }
    (payload.bytes() < LEAST_BYTES)
        .then(|| format!("{payload} B cannot tell a datagram from another, {LEAST_BYTES} B can"))
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
    /// Anything else than what was sent.
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
                "of {packets} datagrams verified, {duplicated} came twice, {truncated} were cut, \
                 {corrupted} were not what was sent"
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

/// Stamps the datagrams of one lane.
#[derive(Clone, Debug)]
pub struct Stamper {
    lane: u16,
    next: u64,
    payload_bytes: usize,
}

impl Stamper {
    /// For a sending lane whose datagrams hold `payload_bytes`, [`LEAST_BYTES`] or more.
    pub fn new(lane: u16, payload_bytes: usize) -> Self {
        Self {
            lane,
            next: 0,
            payload_bytes,
        }
    }
}

impl Stamp for Stamper {
    fn stamp(&self, memory: &mut [u8]) {
        let datagrams = memory.chunks_exact_mut(self.payload_bytes);
        for (number, datagram) in (self.next..).zip(datagrams) {
            write(datagram, self.lane, number);
        }
    }

    fn sent(&mut self, packets: u64) {
        self.next += packets;
    }
}

/// What all receivers of one run have seen.
#[derive(Debug)]
pub struct Ledger {
    payload_bytes: usize,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    verified: Verified,
    lanes: HashMap<u16, Lane>,
}

#[derive(Debug, Default)]
struct Lane {
    numbers: HashSet<u64>,
    newest: u64,
}

impl Ledger {
    /// For datagrams of `payload_bytes`, [`LEAST_BYTES`] or more.
    pub fn new(payload_bytes: usize) -> Self {
        Self {
            payload_bytes,
            seen: Mutex::default(),
        }
    }

    /// What was found so far.
    pub fn verified(&self) -> Verified {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .verified
    }

    fn enter(&self, datagram: &[u8]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Seen { verified, lanes } = &mut *seen;
        verified.packets += 1;
        let Some((lane, number)) = read(datagram, self.payload_bytes) else {
            verified.corrupted += 1;
            return;
        };
        let lane = lanes.entry(lane).or_default();
        if !lane.numbers.insert(number) {
            verified.duplicated += 1;
        } else if number < lane.newest {
            verified.reordered += 1;
        }
        lane.newest = lane.newest.max(number);
        if datagram.len() < self.payload_bytes {
            verified.truncated += 1;
        }
    }
}

/// Enters what a receiving lane gets into the ledger of its run.
#[derive(Debug)]
pub struct Inspector(pub Arc<Ledger>);

impl Inspect for Inspector {
    const LOOKS: bool = true;

    fn inspect(&mut self, datagram: &[u8]) {
        self.0.enter(datagram);
    }
}

const LANE_BYTES: usize = 2;
const HEAD_BYTES: usize = 8;

fn write(datagram: &mut [u8], lane: u16, number: u64) {
    let (head, rest) = datagram.split_at_mut(HEAD_BYTES);
    head[..LANE_BYTES].copy_from_slice(&lane.to_le_bytes());
    head[LANE_BYTES..].copy_from_slice(&number.to_le_bytes()[..HEAD_BYTES - LANE_BYTES]);
    pattern(head).fill(rest);
}

/// The lane and the number of a datagram, if it holds what it was sent with, as far as it goes.
fn read(datagram: &[u8], payload_bytes: usize) -> Option<(u16, u64)> {
    if !(LEAST_BYTES..=payload_bytes).contains(&datagram.len()) {
        return None;
    }
    let (head, rest) = datagram.split_at(HEAD_BYTES);
    let mut wanted = vec![0; rest.len()];
    pattern(head).fill(&mut wanted);
    if wanted != rest {
        return None;
    }
    let (lane, number) = head.split_at(LANE_BYTES);
    let mut padded = [0; size_of::<u64>()];
    padded[..number.len()].copy_from_slice(number);
    Some((
        u16::from_le_bytes(lane.try_into().ok()?),
        u64::from_le_bytes(padded),
    ))
}

/// The bytes that follow from a head.
fn pattern(head: &[u8]) -> fastrand::Rng {
    let mut seed = [0; HEAD_BYTES];
    seed.copy_from_slice(head);
    fastrand::Rng::with_seed(u64::from_le_bytes(seed))
}

#[cfg(test)]
mod tests;
