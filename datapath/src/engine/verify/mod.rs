//! Checks that an engine delivers the datagrams that were sent (`--verify`).
//!
//! Each datagram carries the number of its flow, its own sequence number, the time when it was sent if there
//! is room, and bytes derived from these. No two datagrams are alike, and a single wrong bit shows. Verification has
//! its own windows: measured windows do not verify.

mod flow;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use self::flow::{Arrival, FlowOrder, Jitter};
use crate::data::{LEAST_BYTES, LEAST_REQUEST_BYTES, TIMED_BYTES, Verified};
use crate::engine::lock;
use crate::engine::payload::{Check, Fill, Origin};
use crate::sys::clock;

/// Writes the sequence number, the time and the content of each datagram of one flow.
#[derive(Clone, Debug)]
pub struct SequenceWriter {
    flow: u16,
    next: u64,
    payload_bytes: usize,
}

impl SequenceWriter {
    /// Creates a writer for a flow of datagrams of `payload_bytes`, at least [`LEAST_BYTES`].
    pub fn new(flow: u16, payload_bytes: usize) -> Self {
        Self {
            flow,
            next: 0,
            payload_bytes,
        }
    }
}

impl Fill for SequenceWriter {
    fn fill(&self, memory: &mut [u8]) {
        let datagrams = memory.chunks_exact_mut(self.payload_bytes);
        for (number, datagram) in (self.next..).zip(datagrams) {
            write(datagram, self.flow, number, clock::monotonic_ns());
        }
    }

    fn sent(&mut self, packets: u64) {
        self.next += packets;
    }
}

/// Record of all datagrams received in one run.
#[derive(Debug)]
pub struct SequenceTracker {
    payload_bytes: usize,
    findings: Mutex<Findings>,
}

#[derive(Debug, Default)]
struct Findings {
    verified: Verified,
    flows: HashMap<u16, FlowRecord>,
}

#[derive(Debug, Default)]
struct FlowRecord {
    /// Source address of the flow, if known.
    source: Option<SocketAddr>,
    order: FlowOrder,
    jitter: Jitter,
}

impl SequenceTracker {
    /// Creates a tracker for datagrams of `payload_bytes`, at least [`LEAST_BYTES`].
    pub fn new(payload_bytes: usize) -> Self {
        Self {
            payload_bytes,
            findings: Mutex::default(),
        }
    }

    /// Sets the source address of a flow. Datagrams for which the engine reports another source count as
    /// corrupted.
    pub fn expect_source(&self, flow: u16, source: SocketAddr) {
        lock(&self.findings).flows.entry(flow).or_default().source = Some(source);
    }

    /// Returns the findings so far, with the largest jitter of any flow.
    pub fn verified(&self) -> Verified {
        let findings = lock(&self.findings);
        let jitters = findings.flows.values().filter_map(|flow| flow.jitter.ns());
        Verified {
            jitter_ns: jitters.max(),
            ..findings.verified
        }
    }

    pub(crate) fn enter(&self, datagram: &[u8], origin: Origin) {
        let came_ns = clock::monotonic_ns();
        let mut findings = lock(&self.findings);
        let Findings { verified, flows } = &mut *findings;
        verified.packets += 1;
        let Some((flow, number, sent_ns)) = read(datagram, self.payload_bytes) else {
            verified.corrupted += 1;
            return;
        };
        let flow = flows.entry(flow).or_default();
        let is_foreign = |source| flow.source.is_some_and(|theirs| theirs != source);
        if origin.source.is_some_and(is_foreign) {
            verified.corrupted += 1;
            return;
        }
        let arrival = flow.order.enter(number);
        match arrival {
            Arrival::InOrder => {}
            Arrival::Duplicate => verified.duplicated += 1,
            Arrival::Reordered(extent) => {
                verified.reordered += 1;
                verified.reordering_extent = verified.reordering_extent.max(extent);
            }
        }
        if let Some(sent_ns) = sent_ns.filter(|_| arrival != Arrival::Duplicate) {
            flow.jitter.enter(sent_ns, came_ns);
        }
        if datagram.len() < self.payload_bytes {
            verified.truncated += 1;
        }
    }
}

/// Checks each datagram that a bench flow receives, and enters it into the record of the run.
impl Check for Arc<SequenceTracker> {
    const READS_PAYLOAD: bool = true;

    fn check(&mut self, datagram: &[u8], origin: Origin) {
        self.enter(datagram, origin);
    }
}

const FLOW_BYTES: usize = 2;

/// Bytes of a datagram's head: the number of its flow and its sequence number, both little-endian.
pub(crate) const HEAD_BYTES: usize = LEAST_REQUEST_BYTES;

/// Returns the number of bytes before the derived content: the head, and in datagrams that are large enough the time.
fn stamped_bytes(payload_bytes: usize) -> usize {
    if payload_bytes < TIMED_BYTES {
        HEAD_BYTES
    } else {
        HEAD_BYTES + size_of::<u64>()
    }
}

/// Writes a whole datagram that is sent at `sent_ns`.
pub(crate) fn write(datagram: &mut [u8], flow: u16, number: u64, sent_ns: u64) {
    write_head(datagram, flow, number);
    let (stamped, rest) = datagram.split_at_mut(stamped_bytes(datagram.len()));
    if let Some(time) = stamped[HEAD_BYTES..].first_chunk_mut() {
        *time = sent_ns.to_le_bytes();
    }
    pattern(stamped).fill(rest);
}

/// Writes the head of a datagram.
#[inline]
pub(crate) fn write_head(datagram: &mut [u8], flow: u16, number: u64) {
    let (flow, number) = (flow.to_le_bytes(), number.to_le_bytes());
    datagram[..FLOW_BYTES].copy_from_slice(&flow);
    datagram[FLOW_BYTES..HEAD_BYTES].copy_from_slice(&number[..HEAD_BYTES - FLOW_BYTES]);
}

/// Returns the flow number and the sequence number in the head of a datagram.
#[inline]
pub(crate) fn read_head(datagram: &[u8]) -> Option<(u16, u64)> {
    let head = u64::from_le_bytes(*datagram.first_chunk()?);
    #[expect(clippy::cast_possible_truncation, reason = "the first two bytes")]
    let flow = head as u16;
    Some((flow, head >> (8 * FLOW_BYTES)))
}

/// Returns the flow number, the sequence number and, if present, the send time of a datagram. `None`: the content is
/// not what was sent. A truncated datagram is compared up to its end.
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
    let (flow, number) = read_head(datagram)?;
    let time = stamped[HEAD_BYTES..].first_chunk();
    Some((flow, number, time.map(|time| u64::from_le_bytes(*time))))
}

/// Returns the generator of the derived content, seeded with the head and, if present, the time.
fn pattern(stamped: &[u8]) -> fastrand::Rng {
    let words = stamped.chunks_exact(size_of::<u64>());
    let words = words.filter_map(|word| Some(u64::from_le_bytes(*word.first_chunk()?)));
    // Rotated, so that bits that are wrong in both words do not cancel out.
    let seed = words.fold(0, |seed: u64, word| seed.rotate_left(17) ^ word);
    fastrand::Rng::with_seed(seed)
}

#[cfg(test)]
mod tests;
