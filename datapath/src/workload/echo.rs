//! The echo of probes: returns each to where it came from, with its own counters.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::probe::{self, EchoState, ProbeToken};
use crate::sys::arrival::ArrivalClock;
use crate::sys::{clock, scheduling, socket_options, socket_queues};

/// Size of the socket's buffers in bytes: half a second of 10,000 small datagrams a second.
pub(super) const BUFFER_BYTES: usize = 4 << 20;
/// Longest datagram, in bytes.
const LONGEST: usize = 1 << 16;
/// Interval at which a wait looks at the time.
const LOOK: Duration = Duration::from_secs(1);

/// A socket that returns probes.
#[derive(Debug)]
pub struct Echo {
    socket: UdpSocket,
    token: ProbeToken,
    arrival: Option<ArrivalClock>,
    clock_error_us: Arc<AtomicU32>,
    /// Counters of answers that this host did not send.
    pub unsent: Arc<UnsentAnswers>,
}

/// Answers that the echo's host did not send, by the reason.
#[derive(Debug, Default)]
pub struct UnsentAnswers {
    /// A rule of a firewall forbade it (EPERM).
    pub refused: AtomicU64,
    /// There was no way to the other end: ENETUNREACH, EHOSTUNREACH or ENETDOWN.
    pub without_route: AtomicU64,
}

impl UnsentAnswers {
    fn count(&self, sent: &io::Result<usize>) {
        let error = sent.as_ref().err().and_then(io::Error::raw_os_error);
        let counter = match error {
            Some(libc::EPERM) => &self.refused,
            Some(libc::ENETUNREACH | libc::EHOSTUNREACH | libc::ENETDOWN) => &self.without_route,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl Echo {
    /// Binds a socket to this address, for probes with this token. `clock_error_us`: see [`EchoState::clock_error_us`].
    ///
    /// # Errors
    /// Returns the error of the system call.
    pub fn bind(
        address: SocketAddr,
        token: ProbeToken,
        clock_error_us: Arc<AtomicU32>,
    ) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket_options::set_receive_buffer(&socket, BUFFER_BYTES)?;
        socket_options::set_send_buffer(&socket, BUFFER_BYTES)?;
        socket.set_read_timeout(Some(LOOK))?;
        let arrival = ArrivalClock::of(&socket);
        Ok(Self {
            socket,
            token,
            arrival,
            clock_error_us,
            unsent: Arc::default(),
        })
    }

    /// Returns the address of the socket.
    ///
    /// # Errors
    /// Returns the error of the system call.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Returns probes until none has arrived for this time, with a raised priority if that is permitted.
    pub fn run(&self, longest_silence: Duration) {
        scheduling::raise_priority();
        let mut memory = vec![0; LONGEST];
        let mut state = EchoState::default();
        let mut next_number = 0;
        let mut heard_ns = clock::monotonic_ns();
        loop {
            // An error is a timeout, or concerns a single datagram.
            let received = self.socket.recv_from(&mut memory);
            let probe = received.ok().and_then(|(bytes, from)| {
                let number = probe::read_number(&memory[..bytes], &self.token)?;
                Some((bytes, from, number))
            });
            let now_ns = clock::monotonic_ns();
            let Some((bytes, from, number)) = probe else {
                if u128::from(now_ns - heard_ns) > longest_silence.as_nanos() {
                    return;
                }
                continue;
            };
            heard_ns = now_ns;
            state.received = state.received.wrapping_add(1);
            if number != next_number {
                // Some are missing.
                state.dropped = socket_queues::socket_drops(&self.socket).unwrap_or(state.dropped);
            }
            next_number = number + 1;
            let read_ns = clock::realtime_ns();
            let arrival = self.arrival.as_ref();
            state.arrived_ns = arrival.map_or(read_ns, |it| it.arrived_before(read_ns));
            let held_us = (read_ns - state.arrived_ns) / 1000;
            state.held_us = u32::try_from(held_us).unwrap_or(u32::MAX);
            state.clock_error_us = self.clock_error_us.load(Ordering::Relaxed);
            probe::write_response(&mut memory, state);
            // The prober sees that it is missing.
            let sent = self.socket.send_to(&memory[..bytes], from);
            self.unsent.count(&sent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_were_not_sent_are_counted_by_the_reason() {
        let unsent = UnsentAnswers::default();
        let errors = [
            libc::EPERM,
            libc::ENETUNREACH,
            libc::ENETDOWN,
            libc::ENOBUFS,
        ];
        for errno in errors {
            unsent.count(&Err(io::Error::from_raw_os_error(errno)));
        }
        unsent.count(&Ok(64));
        let counts = [&unsent.refused, &unsent.without_route];
        assert_eq!(counts.map(|it| it.load(Ordering::Relaxed)), [1, 2]);
    }
}
