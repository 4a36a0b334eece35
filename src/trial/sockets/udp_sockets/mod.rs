//! The UDP sockets of one end of a trial. Their probes are in [`probes`].

mod probes;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;

use anyhow::{Context, ensure};

use crate::data::{Case, Sharing, Spread};
use crate::engines::{Engines, Entry};
use crate::sys::reuseport;
use crate::trial::messages::spec::{Flow, RemotePeer, Scope};
use crate::trial::sockets::bind::{self, Ports};
use crate::trial::sockets::{EndSockets, GrantedBuffers, QueueProbes};

/// The UDP sockets of one end. Receivers share one address; every sender has its own address.
pub(crate) struct UdpSockets {
    case: Case,
    /// The remote host. `None`: both ends are on this host.
    remote: Option<RemotePeer>,
    /// Addresses that have answered a probe with the token.
    verified_peers: BTreeSet<IpAddr>,
    /// Senders whose probes have arrived.
    senders_heard: BTreeSet<SocketAddr>,
    ports: Ports,
    receivers: Vec<UdpSocket>,
    /// Sending sockets by their own addresses, each with the address that it sends to.
    senders: BTreeMap<SocketAddr, (UdpSocket, SocketAddr)>,
}

impl UdpSockets {
    /// Starts without any socket.
    ///
    /// # Errors
    /// Fails if this host has no address for the sockets.
    pub(crate) fn new(case: Case, remote: Option<RemotePeer>) -> anyhow::Result<Self> {
        let own = remote.map(|remote| remote.local_address);
        let ip = own.map_or_else(|| bind::receivers_address(&case), |own| Ok(own.ip))?;
        let address = Scope::of(own)?.address(SocketAddr::new(ip, 0));
        Ok(Self {
            case,
            remote,
            verified_peers: BTreeSet::new(),
            senders_heard: BTreeSet::new(),
            ports: Ports::of(address),
            receivers: Vec::new(),
            senders: BTreeMap::new(),
        })
    }

    fn sender(&self, source: SocketAddr) -> anyhow::Result<&(UdpSocket, SocketAddr)> {
        let sender = self.senders.get(&source);
        sender.with_context(|| no_sender(source))
    }

    /// Returns all sockets that receive, each with the engine that receives on it.
    fn receiving(
        &self,
        (sender, receiver): Engines,
    ) -> impl Iterator<Item = (&'static Entry, &UdpSocket)> {
        // Responses are received by the clients' engine. In a bidirectional flood, senders receive with the receivers'
        // engine.
        let engine = if self.case.is_rr() { sender } else { receiver };
        let senders = self
            .senders
            .values()
            .filter(|_| self.case.receives_at_both_ends())
            .map(move |(socket, _)| (engine, socket));
        let receivers = self.receivers.iter().map(move |socket| (receiver, socket));
        senders.chain(receivers)
    }
}

impl EndSockets for UdpSockets {
    fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>> {
        self.receivers = bind::receivers(&self.case, &mut self.ports)?;
        let addresses = self.receivers.iter().map(UdpSocket::local_addr);
        let addresses: io::Result<Vec<SocketAddr>> = addresses.collect();
        addresses.context("a bound socket has an address")
    }

    fn open_sender(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr> {
        if let Some(remote) = self.remote {
            let agreed = remote.address;
            ensure!(
                peer.ip() == agreed,
                "a sender is to send to {peer}, but the trial was agreed with {agreed}"
            );
        }
        let socket = bind::sender(&self.case, peer, &mut self.ports)
            .with_context(|| format!("cannot open a sending socket towards {peer}"))?;
        let source = socket
            .local_addr()
            .context("a bound socket has an address")?;
        self.senders.insert(source, (socket, peer));
        Ok(source)
    }

    fn probes(&mut self) -> anyhow::Result<&mut UdpSockets> {
        Ok(self)
    }

    fn assign_flows(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        if self.case.sharing == Some(Sharing::Reuseport(Spread::Bpf)) {
            let group = self.receivers.first().context("no receiver is bound")?;
            let ports = flows.iter().map(|flow| (flow.source.port(), flow.receiver));
            let ports: Vec<(u16, usize)> = ports.collect();
            return reuseport::by_source_port(group, &ports)
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
        let probes = probes.map(|(entry, socket)| (entry.queue_probe)(socket));
        QueueProbes::new(probes, self.receiving(engines).map(|(entry, _)| entry))
    }

    fn buffers(&self) -> anyhow::Result<GrantedBuffers> {
        let sender = self.senders.values().next();
        let sender = sender.map(|(socket, _)| socket);
        GrantedBuffers::of(&self.case, self.receivers.first(), sender)
    }

    fn take_receivers(&mut self) -> Vec<OwnedFd> {
        let receivers = std::mem::take(&mut self.receivers).into_iter();
        receivers.map(OwnedFd::from).collect()
    }

    fn take_sender(&mut self, source: SocketAddr) -> anyhow::Result<OwnedFd> {
        let sender = self.senders.remove(&source);
        let (socket, peer) = sender.with_context(|| no_sender(source))?;
        ensure!(
            self.remote.is_none() || self.verified_peers.contains(&peer.ip()),
            "{peer} has not proven that it receives: nothing is sent to it"
        );
        Ok(socket.into())
    }
}

fn no_sender(source: SocketAddr) -> String {
    format!("no sender has the address {source}")
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::data::HostAddress;
    use crate::trial::messages::spec::Token;

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// The two ends of a trial as if they were on two hosts, with one sender and one receiver.
    pub(crate) struct TwoEnds {
        pub(crate) senders: UdpSockets,
        /// Address of the sender.
        pub(crate) source: SocketAddr,
        pub(crate) receivers: UdpSockets,
        /// Address of the receiver.
        pub(crate) peer: SocketAddr,
        pub(crate) token: Token,
    }

    impl TwoEnds {
        pub(crate) fn new() -> Self {
            let case = Case::of_key("std:std/2t/300B/unconnected/v4/up").expect("a case");
            let token = Token::random().expect("the kernel has random numbers");
            let remote = RemotePeer {
                local_address: HostAddress::at(LOOPBACK, "lo"),
                address: LOOPBACK,
                token,
            };
            let end = || UdpSockets::new(case, Some(remote)).expect("loopback is there");
            let (mut senders, mut receivers) = (end(), end());
            let peer = receivers.bind().expect("ports are free")[0];
            let source = senders.open_sender(peer).expect("ports are free");
            Self {
                senders,
                source,
                receivers,
                peer,
                token,
            }
        }
    }

    #[test]
    fn no_sender_is_opened_towards_a_stranger() {
        let mut ends = TwoEnds::new();
        let stranger = (Ipv4Addr::new(192, 0, 2, 1), 9).into();
        let refused = ends.senders.open_sender(stranger);
        let refused = refused.expect_err("it was not agreed");
        assert!(format!("{refused:#}").contains("agreed with 127.0.0.1"));
    }
}
