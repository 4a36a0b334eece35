//! `--verify`: whether what an engine delivers is what was sent.
//!
//! Each datagram carries the number of its lane, its own number, where there is room the time when it was sent, and
//! bytes that follow from these. So each can be told from every other one, and a single wrong bit shows. This is for
//! windows of its own: measured ones know nothing of it.

mod flow;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::flow::{Arrival, FlowOrder, Jitter};
use crate::data::{LEAST_BYTES, LEAST_REQUEST_BYTES, TIMED_BYTES, Verified};
use crate::engine::payload::{Check, Fill, Origin};
use crate::sys::clock;

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
            write(datagram, self.lane, number, clock::monotonic_ns());
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
    order: FlowOrder,
    jitter: Jitter,
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
        let seen = self.seen();
        let jitters = seen.lanes.values().filter_map(|lane| lane.jitter.ns());
        Verified {
            jitter_ns: jitters.max(),
            ..seen.verified
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(&self, datagram: &[u8], origin: Origin) {
        let came_ns = clock::monotonic_ns();
        let mut seen = self.seen();
        let Seen { verified, lanes } = &mut *seen;
        verified.packets += 1;
        let Some((lane, number, sent_ns)) = read(datagram, self.payload_bytes) else {
            verified.corrupted += 1;
            return;
        };
        let lane = lanes.entry(lane).or_default();
        let is_foreign = |source| lane.source.is_some_and(|theirs| theirs != source);
        if origin.source.is_some_and(is_foreign) {
            verified.corrupted += 1;
            return;
        }
        let arrival = lane.order.enter(number);
        match arrival {
            Arrival::InOrder => {}
            Arrival::Duplicate => verified.duplicated += 1,
            Arrival::Reordered(extent) => {
                verified.reordered += 1;
                verified.reordering_extent = verified.reordering_extent.max(extent);
            }
        }
        if let Some(sent_ns) = sent_ns.filter(|_| arrival != Arrival::Duplicate) {
            lane.jitter.enter(sent_ns, came_ns);
        }
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

/// What stands before the bytes that follow from it: the head, and the time after it, in datagrams of that size.
fn stamped_bytes(payload_bytes: usize) -> usize {
    if payload_bytes < TIMED_BYTES {
        HEAD_BYTES
    } else {
        HEAD_BYTES + size_of::<u64>()
    }
}

/// Writes all of a datagram, which is sent at that time.
pub(crate) fn write(datagram: &mut [u8], lane: u16, number: u64, sent_ns: u64) {
    write_head(datagram, lane, number);
    let (stamped, rest) = datagram.split_at_mut(stamped_bytes(datagram.len()));
    if let Some(time) = stamped[HEAD_BYTES..].first_chunk_mut() {
        *time = sent_ns.to_le_bytes();
    }
    pattern(stamped).fill(rest);
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

/// The lane and the number of a datagram, and when it was sent if it says so, if it holds what it was sent with, as far
/// as it goes.
fn read(datagram: &[u8], payload_bytes: usize) -> Option<(u16, u64, Option<u64>)> {
    let stamped_bytes = stamped_bytes(payload_bytes);
    let least = LEAST_BYTES - HEAD_BYTES + stamped_bytes;
    if !(least..=payload_bytes).contains(&datagram.len()) {
        return None;
    }
    let (stamped, rest) = datagram.split_at(stamped_bytes);
    let mut wanted = vec![0; rest.len()];
    pattern(stamped).fill(&mut wanted);
    if wanted != rest {
        return None;
    }
    let (lane, number) = read_head(datagram)?;
    let time = stamped[HEAD_BYTES..].first_chunk();
    Some((lane, number, time.map(|time| u64::from_le_bytes(*time))))
}

/// The bytes that follow from a head and the time after it, if there is one.
fn pattern(stamped: &[u8]) -> fastrand::Rng {
    let words = stamped.chunks_exact(size_of::<u64>());
    let words = words.filter_map(|word| Some(u64::from_le_bytes(*word.first_chunk()?)));
    // Turned, so that a bit that is wrong in both does not cancel out.
    let seed = words.fold(0, |seed: u64, word| seed.rotate_left(17) ^ word);
    fastrand::Rng::with_seed(seed)
}

#[cfg(test)]
mod tests;
