//! The UDP sockets of one site.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

use anyhow::{Context, ensure};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::bind::{self, Ports};
use super::ends::{Buffers, Ends};
use super::scope::Scope;
use super::site::{Across, Flow};
use super::taps::Taps;
use super::token::LENGTH;
use crate::data::{Case, Sharing, Spread};
use crate::engines::{Engines, Entry};
use crate::sys::{path_mtu, reuseport_bpf};

/// How long one look for a probe may take, in milliseconds: between two, the script looks for Ctrl-C.
const LOOK_MS: u16 = 100;

/// Receivers share one address, every sender has its own.
pub(super) struct Sockets {
    case: Case,
    /// `None`: both parts are on this host.
    across: Option<Across>,
    /// The addresses that have answered a probe.
    proven: BTreeSet<IpAddr>,
    ports: Ports,
    receivers: Vec<UdpSocket>,
    /// By their addresses: of each the socket, and whom it sends to.
    senders: BTreeMap<SocketAddr, (UdpSocket, SocketAddr)>,
}

impl Sockets {
    /// What a probe holds.
    fn question(&self) -> Vec<u8> {
        let Some(across) = &self.across else {
            return vec![0];
        };
        let mut question = across.token.question.to_vec();
        let length = across.probe_bytes.unwrap_or(question.len());
        question.resize(length.max(question.len()), 0);
        question
    }

    /// # Errors
    /// When this host has no address for them.
    pub(super) fn of(case: Case, across: Option<Across>) -> anyhow::Result<Self> {
        let own = across.map(|across| across.own);
        let ip = own.map_or_else(|| bind::receivers_address(&case), |own| Ok(own.ip))?;
        let address = Scope::of(own)?.here(SocketAddr::new(ip, 0));
        Ok(Self {
            case,
            across,
            proven: BTreeSet::new(),
            ports: Ports::of(address),
            receivers: Vec::new(),
            senders: BTreeMap::new(),
        })
    }

    /// Those that receive, each with the engine that it receives with.
    fn receiving(
        &self,
        (sender, receiver): Engines,
    ) -> impl Iterator<Item = (&'static Entry, &UdpSocket)> {
        // What comes back is received by the engine of a client, or by that of the receivers.
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
        if self.across.is_some_and(|it| it.probe_bytes.is_some()) {
            path_mtu::keep_whole(&socket, peer.is_ipv4()).context("cannot set IP_MTU_DISCOVER")?;
        }
        let source = socket
            .local_addr()
            .context("a bound socket has an address")?;
        self.senders.insert(source, (socket, peer));
        Ok(source)
    }

    fn probe(&self, source: SocketAddr) -> anyhow::Result<Option<String>> {
        let sender = self.senders.get(&source);
        let (socket, peer) =
            sender.with_context(|| format!("no sender has the address {source}"))?;
        let question = self.question();
        let question = &question[..];
        let sent = if socket.peer_addr().is_ok() {
            socket.send(question)
        } else {
            socket.send_to(question, peer)
        };
        Ok(sent.err().map(|refusal| refusal.to_string()))
    }

    fn arrived(&self, source: SocketAddr) -> anyhow::Result<Option<usize>> {
        for receiver in readable(&self.receivers)? {
            let socket = &self.receivers[receiver];
            let question = self.question();
            let mut held = vec![0; question.len() + 1];
            let (length, from) = socket.recv_from(&mut held)?;
            if from != source {
                continue;
            }
            match &self.across {
                None => return Ok(Some(receiver)),
                Some(across) if held[..length] == question => {
                    // Another probe follows if it gets lost.
                    let _ = socket.send_to(&across.token.answer, from);
                    return Ok(Some(receiver));
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }

    fn is_proven(&mut self, source: SocketAddr) -> anyhow::Result<bool> {
        let across = self.across.context("both parts are on this host")?;
        let sender = self.senders.get(&source);
        let (socket, peer) =
            sender.with_context(|| format!("no sender has the address {source}"))?;
        if readable([socket])?.is_empty() {
            return Ok(false);
        }
        let mut held = [0; LENGTH + 1];
        // A refusal of an earlier datagram comes here, too.
        let Ok((length, from)) = socket.recv_from(&mut held) else {
            return Ok(false);
        };
        let is_answer = from == *peer && held[..length] == across.token.answer;
        if is_answer {
            self.proven.insert(from.ip());
        }
        Ok(is_answer)
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

    fn taps(&self, engines: Engines) -> anyhow::Result<Taps> {
        let taps = self.receiving(engines);
        Taps::new(taps.map(|(entry, socket)| (entry.tap)(socket)))
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

/// Those that have something to read, after waiting for that.
fn readable<'a>(sockets: impl IntoIterator<Item = &'a UdpSocket>) -> io::Result<Vec<usize>> {
    let mut waiting: Vec<PollFd> = sockets
        .into_iter()
        .map(|receiver| PollFd::new(receiver.as_fd(), PollFlags::POLLIN))
        .collect();
    match poll(&mut waiting, PollTimeout::from(LOOK_MS)) {
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
    use crate::data::HostAddress;
    use crate::measure::token::Token;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// The two halves of a trial, as if they were on two hosts: a sender, a receiver, and their addresses.
    fn halves() -> (Sockets, SocketAddr, Sockets, SocketAddr) {
        let case = Case::of_key("std:std/2t/300B/unconnected/v4/up").expect("a case");
        let across = Across {
            own: HostAddress::at(LOOPBACK, "lo"),
            other: LOOPBACK,
            token: Token::random().expect("the kernel has random numbers"),
            probe_bytes: None,
        };
        let half = || Sockets::of(case, Some(across)).expect("loopback is there");
        let (mut senders, mut receivers) = (half(), half());
        let peer = receivers.bind().expect("ports are free")[0];
        let source = senders.aim(peer).expect("ports are free");
        (senders, source, receivers, peer)
    }

    #[test]
    fn nothing_is_sent_to_an_address_that_has_not_answered() {
        let (mut senders, source, receivers, _) = halves();
        assert!(senders.take_sender(source).is_err());
        let (mut senders, source, receivers_again, _) = halves();
        drop(receivers);
        assert_eq!(senders.probe(source).expect("it is a sender"), None);
        assert_eq!(receivers_again.arrived(source).expect("it looks"), Some(0));
        assert!(senders.is_proven(source).expect("it looks"));
        senders.take_sender(source).expect("it may send now");
    }

    #[test]
    fn nobody_is_aimed_at_but_the_other_host() {
        let (mut senders, ..) = halves();
        let stranger = (Ipv4Addr::new(192, 0, 2, 1), 9).into();
        let refused = senders.aim(stranger).expect_err("it was not agreed");
        assert!(format!("{refused:#}").contains("agreed with 127.0.0.1"));
    }

    #[test]
    fn who_does_not_know_the_token_gets_no_answer_and_who_does_no_longer_one() {
        let (senders, source, receivers, peer) = halves();
        let stranger = UdpSocket::bind((LOOPBACK, 0)).expect("ports are free");
        let short = Some(Duration::from_millis(20));
        stranger.set_read_timeout(short).expect("it can be set");
        let token = receivers.across.expect("it is across").token;
        let mut garbage: Vec<Vec<u8>> = (0..40).map(|length| vec![7; length]).collect();
        // A replay from another address, and what is nearly right.
        garbage.push(token.question.to_vec());
        garbage.push([&token.question[..], &[0]].concat());
        garbage.push(token.question[..15].to_vec());
        garbage.push(token.answer.to_vec());
        for datagram in &garbage {
            stranger.send_to(datagram, peer).expect("loopback takes it");
            assert_eq!(receivers.arrived(source).expect("it looks"), None);
        }
        assert!(stranger.recv(&mut [0; 64]).is_err(), "it was answered");
        assert_eq!(senders.probe(source).expect("it is a sender"), None);
        while receivers.arrived(source).expect("it looks").is_none() {}
        let (socket, _) = &senders.senders[&source];
        let answered = socket.recv(&mut [0; 64]).expect("an answer");
        assert_eq!(answered, token.question.len());
    }
}
