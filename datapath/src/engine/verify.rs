//! `--verify`: whether what an engine delivers is what was sent.
//!
//! Each datagram carries the number of its lane, its own number, and bytes that follow from the two. So
//! each can be told from every other one, and a single wrong bit shows. This is for windows of its own:
//! measured ones know nothing of it.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::data::{LEAST_BYTES, LEAST_REQUEST_BYTES, Verified};
use crate::engine::payload::{Check, Fill, Origin};

/// Stamps the datagrams of one lane.
#[derive(Clone, Debug)]
pub struct SequenceWriter {
    lane: u16,
    next: u64,
    payload_bytes: usize,
}

impl SequenceWriter {
    /// For a sending lane whose datagrams hold `payload_bytes`, [`LEAST_BYTES`] or more.
    pub fn new(lane: u16, payload_bytes: usize) -> Self {
        Self {
            lane,
            next: 0,
            payload_bytes,
        }
    }
}

impl Fill for SequenceWriter {
    fn fill(&self, memory: &mut [u8]) {
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
pub struct SequenceTracker {
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
    /// Where it sends from, where that is known.
    source: Option<SocketAddr>,
    numbers: HashSet<u64>,
    newest: u64,
}

impl SequenceTracker {
    /// For datagrams of `payload_bytes`, [`LEAST_BYTES`] or more.
    pub fn new(payload_bytes: usize) -> Self {
        Self {
            payload_bytes,
            seen: Mutex::default(),
        }
    }

    /// Says where a lane sends from: engines must say the same.
    pub fn expect_source(&self, lane: u16, source: SocketAddr) {
        self.seen().lanes.entry(lane).or_default().source = Some(source);
    }

    /// What was found so far.
    pub fn verified(&self) -> Verified {
        self.seen().verified
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(&self, datagram: &[u8], origin: Origin) {
        let mut seen = self.seen();
        let Seen { verified, lanes } = &mut *seen;
        verified.packets += 1;
        let Some((lane, number)) = read(datagram, self.payload_bytes) else {
            verified.corrupted += 1;
            return;
        };
        let lane = lanes.entry(lane).or_default();
        let is_foreign = |source| lane.source.is_some_and(|theirs| theirs != source);
        if origin.source.is_some_and(is_foreign) {
            verified.corrupted += 1;
            return;
        }
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

/// Enters what a receiving lane gets into the tracker of its run.
#[derive(Debug)]
pub struct SequenceCheck(pub Arc<SequenceTracker>);

impl Check for SequenceCheck {
    const LOOKS: bool = true;

    fn check(&mut self, datagram: &[u8], origin: Origin) {
        self.0.enter(datagram, origin);
    }
}

const LANE_BYTES: usize = 2;

/// What a datagram begins with: the number of its lane, and its own, both little-endian.
pub(crate) const HEAD_BYTES: usize = LEAST_REQUEST_BYTES;

/// Writes all of a datagram.
pub(crate) fn write(datagram: &mut [u8], lane: u16, number: u64) {
    write_head(datagram, lane, number);
    let (head, rest) = datagram.split_at_mut(HEAD_BYTES);
    pattern(head).fill(rest);
}

/// Writes what it begins with.
#[inline]
pub(crate) fn write_head(datagram: &mut [u8], lane: u16, number: u64) {
    let (lane, number) = (lane.to_le_bytes(), number.to_le_bytes());
    datagram[..LANE_BYTES].copy_from_slice(&lane);
    datagram[LANE_BYTES..HEAD_BYTES].copy_from_slice(&number[..HEAD_BYTES - LANE_BYTES]);
}

/// The lane and the number that a datagram begins with.
#[inline]
pub(crate) fn read_head(datagram: &[u8]) -> Option<(u16, u64)> {
    let head = u64::from_le_bytes(*datagram.first_chunk()?);
    #[expect(clippy::cast_possible_truncation, reason = "the first two bytes")]
    let lane = head as u16;
    Some((lane, head >> (8 * LANE_BYTES)))
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
    read_head(datagram)
}

/// The bytes that follow from a head.
fn pattern(head: &[u8]) -> fastrand::Rng {
    let mut seed = [0; HEAD_BYTES];
    seed.copy_from_slice(head);
    fastrand::Rng::with_seed(u64::from_le_bytes(seed))
}

#[cfg(test)]
mod tests;
