//! The two ends of connections: TCP over loopback, or pairs of Unix sockets. Each flow has its own connection.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::{io, iter};

use anyhow::{Context, bail};
use socket2::{Domain, Socket, Type};

use crate::data::{Case, Transport};
use crate::engine::{ConnectionProbe, QueueProbe};
use crate::engines::Engines;
use crate::sys::socket_options;
use crate::trial::messages::spec::Flow;
use crate::trial::sockets::udp_sockets::UdpSockets;
use crate::trial::sockets::{EndSockets, GrantedBuffers, QueueProbes, bind};

/// Connections that may wait to be accepted: the most that the kernel allows (`net.core.somaxconn`, 4096 since Linux
/// 5.4).
const BACKLOG: i32 = 4096;

pub(crate) struct Connections {
    case: Case,
    transport: Transport,
    /// Socket that accepts TCP connections.
    listener: Option<Socket>,
    /// Receiving ends, by the address that identifies the sending end.
    remote: BTreeMap<SocketAddr, Socket>,
    receivers: Vec<Socket>,
    senders: BTreeMap<SocketAddr, Socket>,
}

impl Connections {
    pub(crate) fn of(case: Case, transport: Transport) -> Self {
        Self {
            case,
            transport,
            listener: None,
            remote: BTreeMap::new(),
            receivers: Vec::new(),
            senders: BTreeMap::new(),
        }
    }

    /// Sets the receive buffer of a socket that is not connected yet: TCP negotiates its window when it connects.
    fn prepare_to_receive(&self, socket: &Socket) -> io::Result<()> {
        let asked = self.case.requested_rcvbuf();
        asked.map_or(Ok(()), |it| {
            socket_options::set_receive_buffer(socket, it.bytes())
        })
    }

    /// Turns Nagle's algorithm off if a thread waits for each message.
    fn hurry(&self, socket: &Socket) -> io::Result<()> {
        socket.set_tcp_nodelay(self.case.is_rr() || self.case.threads.is_alone())
    }

    fn connect(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr> {
        let socket = bind::socket(self.case.ip, Type::STREAM)?;
        bind::prepare_to_send(&socket, &self.case)?;
        if self.case.receives_at_both_ends() {
            self.prepare_to_receive(&socket)?;
        }
        socket.connect(&peer.into())?;
        self.hurry(&socket)?;
        let source = socket.local_addr()?.as_socket();
        let source = source.context("a connection has an address")?;
        self.senders.insert(source, socket);
        Ok(source)
    }

    fn make_pair(&mut self) -> anyhow::Result<SocketAddr> {
        let kind = if self.transport.keeps_messages() {
            Type::DGRAM
        } else {
            Type::STREAM
        };
        let (local, remote) = Socket::pair(Domain::UNIX, kind, None)?;
        bind::prepare_to_send(&local, &self.case)?;
        if self.case.receives_at_both_ends() {
            bind::prepare_to_send(&remote, &self.case)?;
        }
        let source = nth(self.senders.len() + 1);
        self.senders.insert(source, local);
        self.remote.insert(source, remote);
        Ok(source)
    }
}

/// Returns a placeholder for the address of the n-th Unix socket of a case, which has no address.
fn nth(n: usize) -> SocketAddr {
    (Ipv4Addr::UNSPECIFIED, u16::try_from(n).unwrap_or(u16::MAX)).into()
}

impl EndSockets for Connections {
    fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>> {
        let count = self.case.receiver_sockets();
        if self.transport.is_unix() {
            return Ok(vec![nth(0); count]);
        }
        let address = bind::receivers_address(&self.case)?;
        let listen = || {
            let listener = bind::socket(self.case.ip, Type::STREAM)?;
            self.prepare_to_receive(&listener)?;
            listener.bind(&SocketAddr::new(address, 0).into())?;
            listener.listen(BACKLOG)?;
            io::Result::Ok(listener)
        };
        let listener = listen().context("cannot listen for connections")?;
        let address = listener.local_addr()?.as_socket();
        self.listener = Some(listener);
        Ok(vec![
            address.context("a bound socket has an address")?;
            count
        ])
    }

    fn open_sender(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr> {
        if self.transport.is_unix() {
            self.make_pair()
                .context("cannot make a pair of Unix sockets")
        } else {
            let connected = self.connect(peer);
            connected.with_context(|| format!("cannot connect to {peer}"))
        }
    }

    fn probes(&mut self) -> anyhow::Result<&mut UdpSockets> {
        bail!("a connection is not probed")
    }

    fn assign_flows(&mut self, flows: &[Flow]) -> anyhow::Result<()> {
        if !self.transport.is_unix() {
            let listener = self.listener.take().context("no receiver is bound")?;
            // Connections arrive in another order than that of the flows.
            for _ in flows {
                let (socket, from) = listener.accept().context("cannot accept a connection")?;
                self.hurry(&socket).context("cannot set TCP_NODELAY")?;
                if self.case.receives_at_both_ends() {
                    bind::prepare_to_send(&socket, &self.case)
                        .context("cannot prepare a receiver to send")?;
                }
                let from = from.as_socket().context("a connection has an address")?;
                self.remote.insert(from, socket);
            }
        }
        for source in flows.iter().map(|flow| flow.source) {
            let remote = self.remote.remove(&source);
            self.receivers.push(remote.with_context(|| {
                format!("no connection came from {source}: are both ends here?")
            })?);
        }
        Ok(())
    }

    fn queue_probes(&self, (_, receiver): Engines) -> anyhow::Result<QueueProbes> {
        let carrier = receiver.carrier(self.transport);
        let payload_bytes = self.case.payload.bytes();
        let probe = |socket: &Socket, is_from_client| -> io::Result<Box<dyn QueueProbe>> {
            let bytes = carrier.and_then(|it| (it.bytes_of)(payload_bytes, is_from_client));
            Ok(Box::new(ConnectionProbe::new(
                socket,
                bytes.map(|it| it as u64),
            )?))
        };
        let receivers = self.receivers.iter().map(|socket| probe(socket, true));
        let senders = self.senders.values().map(|socket| probe(socket, false));
        QueueProbes::new(receivers.chain(senders), iter::empty())
    }

    fn buffers(&self) -> anyhow::Result<GrantedBuffers> {
        GrantedBuffers::of(
            &self.case,
            self.receivers.first(),
            self.senders.values().next(),
        )
    }

    fn take_receivers(&mut self) -> Vec<OwnedFd> {
        let receivers = std::mem::take(&mut self.receivers).into_iter();
        receivers.map(OwnedFd::from).collect()
    }

    fn take_sender(&mut self, source: SocketAddr) -> anyhow::Result<OwnedFd> {
        let sender = self.senders.remove(&source).map(OwnedFd::from);
        sender.with_context(|| format!("no sender has the address {source}"))
    }
}
