//! The prober: sends numbered datagrams at a constant rate from one socket and takes their returns, so that one clock
//! sees everything.
//!
//! One thread does both. If it does not get to run, nothing is outstanding for long, so that its own socket loses
//! nothing. Probes that are overdue by more than [`MAX_BEHIND_NS`] are left out instead of sent in a burst.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use super::echo::BUFFER_BYTES;
use super::probe::{self, Fate, OneWay, ProbeBatch, ProbeOutcome, ProbeToken, Return, Target};
use crate::sys::arrival::ArrivalClock;
use crate::sys::interrupt::StopRequested;
use crate::sys::{clock, scheduling, socket_options, socket_queues};

/// Delay beyond which a probe is not sent any more, in nanoseconds.
const MAX_BEHIND_NS: u64 = 10_000_000;
/// Time between two batches, in nanoseconds.
const BATCH_NS: u64 = 100_000_000;
/// Outcomes that a batch has at most.
const BATCH_MAX: usize = 1 << 16;
/// Longest wait, in nanoseconds, after which the loop looks for a stop and a new target.
const LOOK_NS: u64 = 20_000_000;

/// Rate, size and timeout of probes.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    /// Time between two probes, in nanoseconds.
    pub gap_ns: f64,
    /// Number of probes. The prober ends after the last one.
    pub probes: u64,
    /// Length of a probe in bytes, at least [`probe::PROBE_BYTES`].
    pub payload_bytes: usize,
    /// Time after which a probe is lost, in nanoseconds.
    pub timeout_ns: u64,
}

/// A probe on its way, or one whose turn has not come.
#[derive(Clone, Copy, Debug)]
enum State {
    Outstanding { sent_ns: u64 },
    Known(Fate),
}

/// Sender and receiver of probes.
#[derive(Debug)]
pub struct Prober {
    probing: Probing,
    target: Arc<Target>,
    generation: u32,
    socket: UdpSocket,
    token: ProbeToken,
    arrival: Option<ArrivalClock>,
    memory: Vec<u8>,
    /// States of the last probes, by their numbers modulo its length.
    ring: Vec<State>,
    start_ns: u64,
    /// Number of the next probe.
    next: u64,
    /// Number of the first probe that is in no batch yet.
    settled: u64,
    batch: ProbeBatch,
}

impl Prober {
    /// Creates a prober of a target that has an address.
    ///
    /// # Errors
    /// Fails if the target has no address, or returns the error of a system call.
    pub fn new(probing: Probing, target: Arc<Target>) -> io::Result<Self> {
        let found = target.newer_than(0).ok_or(ErrorKind::AddrNotAvailable)?;
        let (generation, address, token) = found;
        let socket = if address.is_ipv4() {
            UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?
        } else {
            UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?
        };
        socket.set_nonblocking(true)?;
        socket.connect(address)?;
        socket_options::set_receive_buffer(&socket, BUFFER_BYTES)?;
        socket_options::set_send_buffer(&socket, BUFFER_BYTES)?;
        let in_flight = (probing.timeout_ns + BATCH_NS) as f64 / probing.gap_ns;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate is at most 10^8 per second"
        )]
        let places = (in_flight as usize + 1024).next_power_of_two();
        Ok(Self {
            arrival: ArrivalClock::of(&socket),
            memory: vec![0; probing.payload_bytes.max(1 << 11)],
            ring: vec![State::Known(Fate::Unsent); places],
            start_ns: clock::monotonic_ns(),
            next: 0,
            settled: 0,
            batch: ProbeBatch::default(),
            probing,
            target,
            generation,
            socket,
            token,
        })
    }

    /// Probes until all are sent and have returned or are lost, or until the stop. `take` gets the outcomes ten times a
    /// second, a timeout after the probes were sent. The thread's priority is raised if that is permitted. After a
    /// stop, outcomes that are not known yet are left out.
    pub fn run(mut self, stop: &StopRequested, mut take: impl FnMut(ProbeBatch)) {
        clock::minimise_timer_slack();
        scheduling::raise_priority();
        self.start_ns = clock::monotonic_ns();
        let mut batch_due_ns = self.start_ns + BATCH_NS;
        while self.settled < self.probing.probes && !stop.to_end() {
            self.follow_target();
            self.receive_all();
            let now_ns = clock::monotonic_ns();
            self.settle(now_ns);
            if now_ns >= batch_due_ns || self.batch.outcomes.len() >= BATCH_MAX {
                batch_due_ns = now_ns + BATCH_NS;
                self.hand_over(&mut take);
            }
            self.send_due();
            self.wait();
        }
        self.hand_over(&mut take);
    }

    fn hand_over(&mut self, take: &mut impl FnMut(ProbeBatch)) {
        self.batch.own_drops =
            socket_queues::socket_drops(&self.socket).unwrap_or(self.batch.own_drops);
        let next = ProbeBatch {
            outcomes: Vec::with_capacity(self.batch.outcomes.len()),
            late_held_us: 0,
            ..self.batch
        };
        take(std::mem::replace(&mut self.batch, next));
    }

    /// Turns to another echo if the target has changed.
    fn follow_target(&mut self) {
        let Some((generation, address, token)) = self.target.newer_than(self.generation) else {
            return;
        };
        // Without a route it is tried again: the interface may be down.
        if self.socket.connect(address).is_ok() {
            (self.generation, self.token) = (generation, token);
        }
    }

    fn due_ns(&self, number: u64) -> u64 {
        self.start_ns + offset_ns(self.probing.gap_ns, number)
    }

    fn place(&self, number: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below the length")]
        let place = (number % self.ring.len() as u64) as usize;
        place
    }

    fn send_due(&mut self) {
        while self.next < self.probing.probes && self.next - self.settled < self.ring.len() as u64 {
            let (due_ns, now_ns) = (self.due_ns(self.next), clock::monotonic_ns());
            if due_ns > now_ns {
                return;
            }
            let state = if now_ns - due_ns > MAX_BEHIND_NS {
                State::Known(Fate::Unsent)
            } else {
                self.send(now_ns)
            };
            let place = self.place(self.next);
            self.ring[place] = state;
            self.next += 1;
        }
    }

    fn send(&mut self, sent_ns: u64) -> State {
        let memory = &mut self.memory[..self.probing.payload_bytes];
        probe::write_request(memory, &self.token, self.next);
        let sent = self.socket.send(memory).or_else(|error| {
            if error.kind() != ErrorKind::ConnectionRefused {
                return Err(error);
            }
            // The error is of an earlier probe, and this one was not sent.
            self.batch.unreachable = self.batch.unreachable.wrapping_add(1);
            self.socket.send(memory)
        });
        match sent {
            Ok(_) => State::Outstanding { sent_ns },
            Err(error) => State::Known(Fate::Refused(error.raw_os_error().unwrap_or_default())),
        }
    }

    fn receive_all(&mut self) {
        loop {
            match self.socket.recv(&mut self.memory) {
                Ok(bytes) => self.take_return(bytes),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    self.batch.unreachable = self.batch.unreachable.wrapping_add(1);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn take_return(&mut self, bytes: usize) {
        let (now_ns, read_ns) = clock::monotonic_and_realtime_ns();
        let datagram = &self.memory[..bytes];
        let number = probe::read_number(datagram, &self.token);
        let Some((number, state)) = number.zip(probe::read_state(datagram)) else {
            return;
        };
        self.target.hear(now_ns);
        if number < self.settled {
            self.batch.late_held_us = self.batch.late_held_us.max(state.held_us);
        }
        if !(self.settled..self.next).contains(&number) {
            return;
        }
        let place = self.place(number);
        // A duplicate changes nothing.
        let State::Outstanding { sent_ns } = self.ring[place] else {
            return;
        };
        let all_ns = now_ns - sent_ns;
        let arrival = self.arrival.as_ref();
        let arrived_ns = arrival.map_or(read_ns, |it| it.arrived_before(read_ns));
        let rtt_ns = all_ns - (read_ns - arrived_ns).min(all_ns);
        let returned_ns = state.arrived_ns + 1000 * u64::from(state.held_us);
        let one_way = OneWay {
            forward_ns: difference(state.arrived_ns, arrived_ns.saturating_sub(rtt_ns)),
            back_ns: difference(arrived_ns, returned_ns),
        };
        let echo = probe::echo_of(&self.token);
        self.ring[place] = State::Known(Fate::Returned(Return {
            rtt_ns,
            echo,
            one_way,
            state,
        }));
    }

    /// Moves outcomes into the batch, in the order of their numbers, up to the first probe that may still return.
    fn settle(&mut self, now_ns: u64) {
        while self.settled < self.next && self.batch.outcomes.len() < BATCH_MAX {
            let fate = match self.ring[self.place(self.settled)] {
                State::Known(fate) => fate,
                State::Outstanding { sent_ns } if now_ns - sent_ns >= self.probing.timeout_ns => {
                    Fate::Lost
                }
                State::Outstanding { .. } => return,
            };
            let at_ns = offset_ns(self.probing.gap_ns, self.settled);
            self.batch.outcomes.push(ProbeOutcome { at_ns, fate });
            self.settled += 1;
        }
    }

    /// Waits until the next probe is due or one returns, but not for long.
    fn wait(&self) {
        let now_ns = clock::monotonic_ns();
        let until_ns = if self.next < self.probing.probes {
            self.due_ns(self.next).min(now_ns + LOOK_NS)
        } else {
            now_ns + LOOK_NS
        };
        let left = std::time::Duration::from_nanos(until_ns.saturating_sub(now_ns));
        let mut watched = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        // Errors (EINTR) only lead to the next turn of the loop.
        let _ = ppoll(&mut watched, Some(TimeSpec::from_duration(left)), None);
    }
}

/// Returns how much later the first time is.
fn difference(one_ns: u64, other_ns: u64) -> i64 {
    let size = i64::try_from(one_ns.abs_diff(other_ns)).unwrap_or(i64::MAX);
    if one_ns >= other_ns { size } else { -size }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and a century at most"
)]
fn offset_ns(gap_ns: f64, number: u64) -> u64 {
    (number as f64 * gap_ns) as u64
}

#[cfg(test)]
mod tests;
