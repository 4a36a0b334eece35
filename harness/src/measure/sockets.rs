//! The UDP sockets of one site.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

use anyhow::Context;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::bind::{self, Ports};
use super::ends::{Buffers, Ends};
use super::site::Flow;
use super::taps::Taps;
use crate::data::{Case, Sharing, Spread};
use crate::engines::{Engines, Entry};
use crate::sys::reuseport_bpf;

/// How long one look for a probe may take, in milliseconds: between two, the script looks for Ctrl-C.
const LOOK_MS: u16 = 100;

/// Receivers share one address, every sender has its own.
pub(super) struct Sockets {
    case: Case,
    ports: Ports,
    receivers: Vec<UdpSocket>,
    /// By their addresses: of each the socket, and whom it sends to.
    senders: BTreeMap<SocketAddr, (UdpSocket, SocketAddr)>,
}

impl Sockets {
    /// # Errors
    /// When this host has no address for them.
    pub(super) fn of(case: Case) -> anyhow::Result<Self> {
        Ok(Self {
            case,
            ports: Ports::of(&case)?,
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
        let socket = bind::sender(&self.case, peer, &mut self.ports)
            .with_context(|| format!("cannot make a sender socket towards {peer}"))?;
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
        let sent = if socket.peer_addr().is_ok() {
            socket.send(&[0])
        } else {
            socket.send_to(&[0], peer)
        };
        Ok(sent.err().map(|refusal| refusal.to_string()))
    }

    fn arrived(&self, source: SocketAddr) -> anyhow::Result<Option<usize>> {
        for receiver in readable(&self.receivers)? {
            let (_, from) = self.receivers[receiver].recv_from(&mut [0; 1])?;
            if from == source {
                return Ok(Some(receiver));
            }
        }
        Ok(None)
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
        Buffers::of(self.receivers.first(), sender.map(|(socket, _)| socket))
    }

    fn take_receivers(&mut self) -> Vec<OwnedFd> {
        let receivers = std::mem::take(&mut self.receivers).into_iter();
        receivers.map(OwnedFd::from).collect()
    }

    fn take_sender(&mut self, source: SocketAddr) -> anyhow::Result<OwnedFd> {
        let sender = self.senders.remove(&source);
        let (socket, _) = sender.with_context(|| format!("no sender has the address {source}"))?;
        Ok(socket.into())
    }
}

/// The receivers that have something to read, after waiting for that.
fn readable(receivers: &[UdpSocket]) -> io::Result<Vec<usize>> {
    let mut waiting: Vec<PollFd> = receivers
        .iter()
        .map(|receiver| PollFd::new(receiver.as_fd(), PollFlags::POLLIN))
        .collect();
    match poll(&mut waiting, PollTimeout::from(LOOK_MS)) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = |fd: &PollFd| fd.any().unwrap_or(false);
    Ok((0..receivers.len())
        .filter(|&n| ready(&waiting[n]))
        .collect())
}
