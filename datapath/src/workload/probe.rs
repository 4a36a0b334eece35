//! Probes: numbered datagrams that an echo returns. Their bytes, and the outcome of each.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::engine::lock;

/// Length of a token, in bytes.
pub const TOKEN_BYTES: usize = 16;
/// Shortest probe, in bytes.
pub const PROBE_BYTES: usize = TOKEN_BYTES + 32;

/// Random bytes that only the two ends know. An echo returns no other datagrams, and none is longer than its request.
pub type ProbeToken = [u8; TOKEN_BYTES];

// Offsets of the fields, which are big-endian.
const NUMBER: usize = TOKEN_BYTES;
const RECEIVED: usize = NUMBER + 8;
const DROPPED: usize = RECEIVED + 4;
const HELD_US: usize = DROPPED + 4;
const ARRIVED: usize = HELD_US + 4;
const CLOCK_ERROR: usize = ARRIVED + 8;

/// State of an echo when it returned a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EchoState {
    /// Probes that it has received so far, with this one. Wraps.
    pub received: u32,
    /// Datagrams that its socket had dropped so far. Wraps.
    pub dropped: u32,
    /// Time from the arrival of the probe at its host to its return, in microseconds.
    pub held_us: u32,
    /// Time of that arrival since 1970, by the clock of its host, in nanoseconds.
    pub arrived_ns: u64,
    /// Bound of that clock's error, in microseconds. 0: not known.
    pub clock_error_us: u32,
}

/// One-way delays of a returned probe, in nanoseconds, each wrong by the difference of both hosts' clocks. With the
/// time that the echo held the probe, they add up to the round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OneWay {
    /// From the prober to the echo's host.
    pub forward_ns: i64,
    /// From the echo to the prober's host.
    pub back_ns: i64,
}

/// A returned probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// Round-trip time in nanoseconds. Without the time that the datagram waited in the prober's own socket, if the
    /// kernel stamps arrivals.
    pub rtt_ns: u64,
    /// Identity of the echo: the first bytes of its token.
    pub echo: u32,
    /// One-way delays by both clocks.
    pub one_way: OneWay,
    /// State of the echo.
    pub state: EchoState,
}

/// Outcome of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It came back in time.
    Returned(Return),
    /// It was sent, and did not come back in time.
    Lost,
    /// The kernel refused to send it, with this error number.
    Refused(i32),
    /// The prober ran too late to send it.
    Unsent,
}

/// A probe whose outcome is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeOutcome {
    /// Time at which the probe was due, in nanoseconds since the start.
    pub at_ns: u64,
    /// Outcome of the probe.
    pub fate: Fate,
}

/// Probes in the order of their numbers, and counters of the prober's socket.
#[derive(Clone, Debug, Default)]
pub struct ProbeBatch {
    /// Outcomes, without gaps between batches.
    pub outcomes: Vec<ProbeOutcome>,
    /// Datagrams that the prober's own socket has dropped so far. Wraps.
    pub own_drops: u32,
    /// ICMP messages so far that no program listens at the other end. Wraps.
    pub unreachable: u32,
    /// The longest time that the echo held a probe which came back after it counted as lost, in microseconds: since the
    /// batch before. 0: none came back.
    pub late_held_us: u32,
}

/// Address of an echo, which may change while a prober runs.
#[derive(Debug, Default)]
pub struct Target {
    /// Increased with each change.
    generation: AtomicU32,
    current: Mutex<Option<(SocketAddr, ProbeToken)>>,
    /// Time of the last return, as [`crate::sys::clock::monotonic_ns`].
    heard_ns: AtomicU64,
}

impl Target {
    /// Sets the address of the echo.
    pub fn set(&self, address: SocketAddr, token: ProbeToken) {
        let mut current = lock(&self.current);
        *current = Some((address, token));
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Returns the time of the last return, in nanoseconds of the monotonic clock. 0: none yet.
    pub fn heard_ns(&self) -> u64 {
        self.heard_ns.load(Ordering::Relaxed)
    }

    pub(super) fn hear(&self, now_ns: u64) {
        self.heard_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Returns the address and its generation, if that is not `known`.
    pub(super) fn newer_than(&self, known: u32) -> Option<(u32, SocketAddr, ProbeToken)> {
        let generation = self.generation.load(Ordering::Acquire);
        if generation == known {
            return None;
        }
        let current = lock(&self.current);
        current.map(|(address, token)| (generation, address, token))
    }
}

/// Returns the identity of the echo with this token.
pub(super) fn echo_of(token: &ProbeToken) -> u32 {
    u32::from_be_bytes(field(token, 0).unwrap_or_default())
}

/// Writes a request.
pub(super) fn write_request(memory: &mut [u8], token: &ProbeToken, number: u64) {
    memory[..TOKEN_BYTES].copy_from_slice(token);
    memory[NUMBER..RECEIVED].copy_from_slice(&number.to_be_bytes());
}

/// Turns a request into its response.
pub(super) fn write_response(memory: &mut [u8], state: EchoState) {
    memory[RECEIVED..DROPPED].copy_from_slice(&state.received.to_be_bytes());
    memory[DROPPED..HELD_US].copy_from_slice(&state.dropped.to_be_bytes());
    memory[HELD_US..ARRIVED].copy_from_slice(&state.held_us.to_be_bytes());
    memory[ARRIVED..CLOCK_ERROR].copy_from_slice(&state.arrived_ns.to_be_bytes());
    memory[CLOCK_ERROR..PROBE_BYTES].copy_from_slice(&state.clock_error_us.to_be_bytes());
}

/// Returns the number of a probe. `None`: it has another token.
pub(super) fn read_number(datagram: &[u8], token: &ProbeToken) -> Option<u64> {
    if datagram.len() < PROBE_BYTES || !datagram.starts_with(token) {
        return None;
    }
    Some(u64::from_be_bytes(field(datagram, NUMBER)?))
}

/// Returns the state of the echo in a response.
pub(super) fn read_state(datagram: &[u8]) -> Option<EchoState> {
    let number = |at| Some(u32::from_be_bytes(field(datagram, at)?));
    Some(EchoState {
        received: number(RECEIVED)?,
        dropped: number(DROPPED)?,
        held_us: number(HELD_US)?,
        arrived_ns: u64::from_be_bytes(field(datagram, ARRIVED)?),
        clock_error_us: number(CLOCK_ERROR)?,
    })
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_has_the_request_and_the_state_of_the_echo() {
        let token = *b"0123456789abcdef";
        let mut memory = [0; PROBE_BYTES];
        write_request(&mut memory, &token, 1 << 40);
        let state = EchoState {
            received: 5,
            dropped: 2,
            held_us: 30,
            arrived_ns: 1 << 60,
            clock_error_us: 4,
        };
        write_response(&mut memory, state);
        assert_eq!(read_number(&memory, &token), Some(1 << 40));
        assert_eq!(read_state(&memory), Some(state));
        assert_eq!(read_number(&memory, b"0123456789abcdeF"), None);
        assert_eq!(read_number(&memory[1..], &token), None);
    }
}
