//! Probes of UDP sockets: which receiver a datagram reaches, and whether the remote host is really there.
//!
//! On one host, a probe is a byte, and the receivers are read. Between two hosts, a probe is a question with the token,
//! and its answer names the receiver.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use anyhow::Context;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::UdpSockets;
use crate::sys::socket_options;
use crate::trial::messages::spec::QUESTION_BYTES;

/// Longest wait for a probe or its answer, in milliseconds.
const PROBE_WAIT_MS: u16 = 100;
/// Longest wait for a question, in milliseconds. Short: meanwhile, the controller waits.
const QUESTION_WAIT_MS: u16 = 1;

impl UdpSockets {
    /// Forbids fragmentation of the datagrams from the sender with this address.
    ///
    /// # Errors
    /// Fails if a system call fails.
    pub(crate) fn forbid_fragmentation(&self, source: SocketAddr) -> anyhow::Result<()> {
        let (socket, peer) = self.sender(source)?;
        socket_options::forbid_fragmentation(socket, peer.is_ipv4())
            .context("cannot set IP_MTU_DISCOVER")
    }

    /// Sends a datagram of at least `least_bytes` bytes from the sender with this address. Returns why the kernel
    /// refused it, if it did.
    ///
    /// # Errors
    /// Fails if there is no such sender.
    pub(crate) fn probe(
        &self,
        source: SocketAddr,
        least_bytes: usize,
    ) -> anyhow::Result<Option<String>> {
        let (socket, peer) = self.sender(source)?;
        let mut probe = match &self.remote {
            None => vec![0],
            Some(remote) => remote.token.question.to_vec(),
        };
        probe.resize(probe.len().max(least_bytes), 0);
        let sent = if socket.peer_addr().is_ok() {
            socket.send(&probe)
        } else {
            socket.send_to(&probe, peer)
        };
        Ok(sent.err().map(|refusal| refusal.to_string()))
    }

    /// Returns the index of the receiver that a datagram from `source` has reached, after waiting for 100 ms at most.
    /// It is seen on this host, or reported by the remote host.
    ///
    /// # Errors
    /// Fails if there is no such sender, or if a system call fails.
    pub(crate) fn receiver_reached(&mut self, source: SocketAddr) -> anyhow::Result<Option<usize>> {
        let Some(remote) = self.remote else {
            for receiver in readable(&self.receivers, PROBE_WAIT_MS)? {
                let (_, from) = self.receivers[receiver].recv_from(&mut [0])?;
                if from == source {
                    return Ok(Some(receiver));
                }
            }
            return Ok(None);
        };
        let &(ref socket, peer) = self.sender(source)?;
        if readable([socket], PROBE_WAIT_MS)?.is_empty() {
            return Ok(None);
        }
        let mut answer = [0; QUESTION_BYTES + 1];
        // Ignore errors: ICMP refusals of earlier datagrams arrive here.
        let Ok((length, from)) = socket.recv_from(&mut answer) else {
            return Ok(None);
        };
        let receiver = remote.token.receiver_in(&answer[..length]);
        let receiver = receiver.filter(|_| from == peer);
        if receiver.is_some() {
            self.verified_peers.insert(from.ip());
        }
        Ok(receiver)
    }

    /// Answers the questions with the token that have reached a receiver here, after waiting for 1 ms at most.
    ///
    /// # Errors
    /// Fails if a system call fails.
    pub(crate) fn answer_questions(&mut self) -> anyhow::Result<()> {
        let token = self.remote.context("both ends are on this host")?.token;
        for receiver in readable(&self.receivers, QUESTION_WAIT_MS)? {
            let socket = &self.receivers[receiver];
            let mut question = [0; QUESTION_BYTES];
            // The rest of a longer datagram is cut off.
            let (length, from) = socket.recv_from(&mut question)?;
            if question[..length] != token.question {
                continue;
            }
            self.senders_heard.insert(from);
            let number = u16::try_from(receiver).context("there are more than 65536 receivers")?;
            // If the answer gets lost, the sender asks again.
            let _ = socket.send_to(&token.answer_of(number), from);
        }
        Ok(())
    }

    /// Returns whether a question from this address has arrived.
    pub(crate) fn has_heard(&self, source: SocketAddr) -> bool {
        self.senders_heard.contains(&source)
    }
}

/// Returns the positions of the readable sockets, after waiting for at most `wait_ms` milliseconds.
///
/// A read does not block afterwards: for blocking sockets, the kernel first drops datagrams with a bad checksum
/// (`udp_poll`, net/ipv4/udp.c).
fn readable<'a>(
    sockets: impl IntoIterator<Item = &'a UdpSocket>,
    wait_ms: u16,
) -> io::Result<Vec<usize>> {
    let mut polled: Vec<PollFd> = sockets
        .into_iter()
        .map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN))
        .collect();
    match poll(&mut polled, PollTimeout::from(wait_ms)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let is_ready = |fd: &PollFd| fd.any().unwrap_or(false);
    Ok((0..polled.len())
        .filter(|&n| is_ready(&polled[n]))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::trial::sockets::EndSockets;
    use crate::trial::sockets::udp_sockets::tests::TwoEnds;

    #[test]
    fn only_an_answered_sender_is_handed_over() {
        let mut ends = TwoEnds::new();
        assert!(ends.senders.take_sender(ends.source).is_err());
        let mut ends = TwoEnds::new();
        assert_eq!(ends.senders.probe(ends.source, 0).expect("a sender"), None);
        ends.receivers.answer_questions().expect("it can be read");
        let reached = ends.senders.receiver_reached(ends.source);
        assert_eq!(reached.expect("it can be read"), Some(0));
        assert!(ends.receivers.has_heard(ends.source));
        ends.senders.take_sender(ends.source).expect("verified");
    }

    #[test]
    fn datagrams_without_the_token_get_no_answer() {
        let mut ends = TwoEnds::new();
        let stranger = UdpSocket::bind((ends.peer.ip(), 0)).expect("ports are free");
        let short = Some(Duration::from_millis(20));
        stranger.set_read_timeout(short).expect("it can be set");
        let mut garbage: Vec<Vec<u8>> = (0..40).map(|length| vec![7; length]).collect();
        // Datagrams that are nearly right.
        garbage.push([&[0], &ends.token.question[..]].concat());
        garbage.push(ends.token.question[..QUESTION_BYTES - 1].to_vec());
        garbage.push(ends.token.answer.to_vec());
        for datagram in &garbage {
            let sent = stranger.send_to(datagram, ends.peer);
            sent.expect("loopback takes it");
            ends.receivers.answer_questions().expect("it can be read");
        }
        assert!(stranger.recv(&mut [0; 64]).is_err(), "it was answered");
    }

    #[test]
    fn answers_are_as_long_as_the_shortest_question() {
        let mut ends = TwoEnds::new();
        for least_bytes in [0, 1400] {
            let sent = ends.senders.probe(ends.source, least_bytes);
            assert_eq!(sent.expect("a sender"), None);
            ends.receivers.answer_questions().expect("it can be read");
            let (socket, _) = ends.senders.sender(ends.source).expect("a sender");
            let answered = socket.recv(&mut [0; 64]).expect("an answer");
            assert_eq!(answered, QUESTION_BYTES);
        }
    }
}
