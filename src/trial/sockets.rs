//! The UDP sockets of one end of a trial, and their probes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

use anyhow::{Context, ensure};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::bind::{self, Ports};
use super::ends::{Buffers, Ends, Probes};
use super::queue_probes::QueueProbes;
use super::scope::Scope;
use super::spec::Flow;
use super::token::{ANSWER, QUESTION, Token};
use crate::data::{Case, HostAddress, Sharing, Spread};
use crate::engines::{Engines, Entry};
use crate::sys::{path_mtu, reuseport_bpf};

/// Time that one look for a datagram may take, in milliseconds.
const LOOK_MS: u16 = 100;

/// The other host of a trial, seen from this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Across {
    /// Address that the local sockets are bound to; a link-local address includes its interface.
    pub(super) own: HostAddress,
    /// The only address that datagrams are sent to.
    pub(super) other: IpAddr,
    /// Token that probes contain and that is answered.
    pub(super) token: Token,
}

/// The UDP sockets of one end. Receivers share one address; every sender has its own address.
pub(super) struct Sockets {
    case: Case,
    /// The other host. `None`: both ends are on this host.
    across: Option<Across>,
    /// Addresses that have answered a probe.
    proven: BTreeSet<IpAddr>,
    /// Senders whose probes have arrived.
    asked: BTreeSet<SocketAddr>,
    ports: Ports,
    receivers: Vec<UdpSocket>,
    /// Sending sockets by their own addresses, each with the address that it sends to.
    senders: BTreeMap<SocketAddr, (UdpSocket, SocketAddr)>,
}

impl Sockets {
    /// Starts without any socket.
    ///
    /// # Errors
    /// Fails if this host has no address for the sockets.
    pub(super) fn of(case: Case, across: Option<Across>) -> anyhow::Result<Self> {
        let own = across.map(|across| across.own);
        let ip = own.map_or_else(|| bind::receivers_address(&case), |own| Ok(own.ip))?;
        let address = Scope::of(own)?.local(SocketAddr::new(ip, 0));
        Ok(Self {
            case,
            across,
            proven: BTreeSet::new(),
            asked: BTreeSet::new(),
            ports: Ports::of(address),
            receivers: Vec::new(),
            senders: BTreeMap::new(),
        })
    }

    fn sender(&self, source: SocketAddr) -> anyhow::Result<&(UdpSocket, SocketAddr)> {
        let sender = self.senders.get(&source);
        sender.with_context(|| format!("no sender has the address {source}"))
    }

    fn arrived(&self, source: SocketAddr) -> anyhow::Result<Option<usize>> {
        for receiver in readable(&self.receivers, LOOK_MS)? {
            let (_, from) = self.receivers[receiver].recv_from(&mut [0])?;
            if from == source {
                return Ok(Some(receiver));
            }
        }
        Ok(None)
    }

    fn answered(&mut self, source: SocketAddr, token: &Token) -> anyhow::Result<Option<usize>> {
        let &(ref socket, peer) = self.sender(source)?;
        if readable([socket], LOOK_MS)?.is_empty() {
            return Ok(None);
        }
        let mut held = [0; QUESTION + 1];
        // An error may be the refusal of an earlier datagram.
        let Ok((QUESTION, from)) = socket.recv_from(&mut held) else {
            return Ok(None);
        };
        let (answer, receiver) = held[..QUESTION].split_at(ANSWER);
        if from != peer || *answer != token.answer {
            return Ok(None);
        }
        self.proven.insert(from.ip());
        let receiver = receiver
            .iter()
            .fold(0, |all, &byte| all << 8 | usize::from(byte));
        Ok(Some(receiver))
    }

    /// Returns all sockets that receive, each with the engine that receives on it.
    fn receiving(
        &self,
        (sender, receiver): Engines,
    ) -> impl Iterator<Item = (&'static Entry, &UdpSocket)> {
        // Responses are received by the clients' engine. In a bidirectional flood, senders receive with the receivers'
        // engine.
        let engine = if self.case.asks() { sender } else { receiver };
        let both = self
            .senders
            .values()
            .filter(|_| self.case.receives_at_both_ends());
        let clients = both.map(move |(socket, _)| (engine, socket));
        let receivers = self.receivers.iter().map(move |socket| (receiver, socket));
        clients.chain(receivers)
    }
}

impl Probes for Sockets {
    fn keep_whole(&self, source: SocketAddr) -> anyhow::Result<()> {
        let (socket, peer) = self.sender(source)?;
        path_mtu::keep_whole(socket, peer.is_ipv4()).context("cannot set IP_MTU_DISCOVER")
    }

    fn probe(&self, source: SocketAddr, least_bytes: usize) -> anyhow::Result<Option<String>> {
        let (socket, peer) = self.sender(source)?;
        let mut question = match &self.across {
            None => vec![0],
            Some(across) => across.token.question.to_vec(),
        };
        question.resize(question.len().max(least_bytes), 0);
        let sent = if socket.peer_addr().is_ok() {
            socket.send(&question)
        } else {
            socket.send_to(&question, peer)
        };
        Ok(sent.err().map(|refusal| refusal.to_string()))
    }

    fn reached(&mut self, source: SocketAddr) -> anyhow::Result<Option<usize>> {
        match self.across {
            None => self.arrived(source),
            Some(across) => self.answered(source, &across.token),
        }
    }

    fn answer(&mut self) -> anyhow::Result<()> {
        const MOMENT_MS: u16 = 1;
        let token = self.across.context("both ends are on this host")?.token;
        for receiver in readable(&self.receivers, MOMENT_MS)? {
            let socket = &self.receivers[receiver];
            let mut held = [0; QUESTION];
            // The rest of a longer datagram is cut off.
            let (length, from) = socket.recv_from(&mut held)?;
            if held[..length] != token.question {
                continue;
            }
            self.asked.insert(from);
            let number = u16::try_from(receiver).unwrap_or(u16::MAX);
            let answer = [&token.answer[..], &number.to_be_bytes()].concat();
            // If the answer gets lost, the sender asks again.
            let _ = socket.send_to(&answer, from);
        }
        Ok(())
    }

    fn was_asked_by(&self, source: SocketAddr) -> bool {
        self.asked.contains(&source)
    }
}

impl Ends for Sockets {
    fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>> {
        self.receivers = bind::receivers(&self.case, &mut self.ports)?;
        let addresses = self.receivers.iter().map(UdpSocket::local_addr);
        let addresses: io::Result<Vec<SocketAddr>> = addresses.collect();
        addresses.context("a bound socket has an address")
    }

    fn aim(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr> {
        if let Some(across) = self.across {
            let other = across.other;
            ensure!(
                peer.ip() == other,
                "a sender is to send to {peer}, but the trial was agreed with {other}"
            );
        }
        let socket = bind::sender(&self.case, peer, &mut self.ports)
            .with_context(|| format!("cannot make a sender socket towards {peer}"))?;
        let source = socket
            .local_addr()
            .context("a bound socket has an address")?;
        self.senders.insert(source, (socket, peer));
        Ok(source)
    }

    fn probes(&mut self) -> Option<&mut dyn Probes> {
        Some(self)
    }

    fn pair(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        if self.case.sharing == Some(Sharing::Reuseport(Spread::Bpf)) {
            let group = self.receivers.first().context("no receiver is bound")?;
            let ports = flows.iter().map(|flow| (flow.source.port(), flow.receiver));
            let ports: Vec<(u16, usize)> = ports.collect();
            return reuseport_bpf::by_source_port(group, &ports)
                .context("cannot set SO_ATTACH_REUSEPORT_CBPF");
        }
        for flow in flows {
            let receiver = self.receivers.get(flow.receiver);
            let receiver = receiver.context("a flow ends at a receiver that is not bound")?;
            receiver
                .connect(flow.source)
                .context("cannot connect a receiver to its sender")?;
        }
        Ok(())
    }

    fn queue_probes(&self, engines: Engines) -> anyhow::Result<QueueProbes> {
        let probes = self.receiving(engines);
        QueueProbes::new(probes.map(|(entry, socket)| (entry.queue_probe)(socket)))
    }

    fn buffers(&self) -> anyhow::Result<Buffers> {
        let sender = self.senders.values().next();
        let sender = sender.map(|(socket, _)| socket);
        Buffers::of(&self.case, self.receivers.first(), sender)
    }

    fn take_receivers(&mut self) -> Vec<OwnedFd> {
        let receivers = std::mem::take(&mut self.receivers).into_iter();
        receivers.map(OwnedFd::from).collect()
    }

    fn take_sender(&mut self, source: SocketAddr) -> anyhow::Result<OwnedFd> {
        let sender = self.senders.remove(&source);
        let (socket, peer) =
            sender.with_context(|| format!("no sender has the address {source}"))?;
        ensure!(
            self.across.is_none() || self.proven.contains(&peer.ip()),
            "{peer} has not proven that it receives: nothing is sent to it"
        );
        Ok(socket.into())
    }
}

/// Returns the positions of the readable sockets, after waiting for at most `most_ms` milliseconds.
fn readable<'a>(
    sockets: impl IntoIterator<Item = &'a UdpSocket>,
    most_ms: u16,
) -> io::Result<Vec<usize>> {
    let mut waiting: Vec<PollFd> = sockets
        .into_iter()
        .map(|receiver| PollFd::new(receiver.as_fd(), PollFlags::POLLIN))
        .collect();
    match poll(&mut waiting, PollTimeout::from(most_ms)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = |fd: &PollFd| fd.any().unwrap_or(false);
    Ok((0..waiting.len()).filter(|&n| ready(&waiting[n])).collect())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// Makes the two ends of a trial as if they were on two hosts: a sender, a receiver, and their addresses.
    fn ends() -> (Sockets, SocketAddr, Sockets, SocketAddr) {
        let case = Case::of_key("std:std/2t/300B/unconnected/v4/up").expect("a case");
        let across = Across {
            own: HostAddress::at(LOOPBACK, "lo"),
            other: LOOPBACK,
            token: Token::random().expect("the kernel has random numbers"),
        };
        let end = || Sockets::of(case, Some(across)).expect("loopback is there");
        let (mut senders, mut receivers) = (end(), end());
        let peer = receivers.bind().expect("ports are free")[0];
        let source = senders.aim(peer).expect("ports are free");
        (senders, source, receivers, peer)
    }

    #[test]
    fn nothing_is_sent_to_an_address_that_has_not_answered() {
        let (mut senders, source, ..) = ends();
        assert!(senders.take_sender(source).is_err());
        let (mut senders, source, mut receivers, _) = ends();
        assert_eq!(senders.probe(source, 0).expect("it is a sender"), None);
        receivers.answer().expect("it looks");
        assert_eq!(senders.reached(source).expect("it looks"), Some(0));
        assert!(receivers.was_asked_by(source));
        senders.take_sender(source).expect("it may send now");
    }

    #[test]
    fn nobody_is_aimed_at_but_the_other_host() {
        let (mut senders, ..) = ends();
        let stranger = (Ipv4Addr::new(192, 0, 2, 1), 9).into();
        let refused = senders.aim(stranger).expect_err("it was not agreed");
        assert!(format!("{refused:#}").contains("agreed with 127.0.0.1"));
    }

    #[test]
    fn who_does_not_know_the_token_gets_no_answer_and_none_is_longer_than_what_was_asked() {
        let (senders, source, mut receivers, peer) = ends();
        let stranger = UdpSocket::bind((LOOPBACK, 0)).expect("ports are free");
        let short = Some(Duration::from_millis(20));
        stranger.set_read_timeout(short).expect("it can be set");
        let token = receivers.across.expect("it is across").token;
        let mut garbage: Vec<Vec<u8>> = (0..40).map(|length| vec![7; length]).collect();
        // Datagrams that are nearly right.
        garbage.push([&[0], &token.question[..]].concat());
        garbage.push(token.question[..QUESTION - 1].to_vec());
        garbage.push(token.answer.to_vec());
        for datagram in &garbage {
            stranger.send_to(datagram, peer).expect("loopback takes it");
            receivers.answer().expect("it looks");
        }
        assert!(stranger.recv(&mut [0; 64]).is_err(), "it was answered");
        for least_bytes in [0, 1400] {
            let sent = senders.probe(source, least_bytes);
            assert_eq!(sent.expect("it is a sender"), None);
            receivers.answer().expect("it looks");
            let (socket, _) = &senders.senders[&source];
            let answered = socket.recv(&mut [0; 64]).expect("an answer");
            assert_eq!(answered, token.question.len());
        }
    }
}
