//! The sockets of one site, all built before any thread starts: what cannot be built is an error, never
//! a thread that waits for ever.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use anyhow::{Context, ensure};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::SockRef;

use super::bind;
use super::site::{Flow, Part};
use crate::data::{Case, Sharing, Spread};
use crate::engines::{Engines, Entry};
use crate::sys::reuseport_bpf;

/// How long one look for a probe may take, in milliseconds: between two, the script looks for Ctrl-C.
const LOOK_MS: u16 = 100;

/// Receivers share one address, every sender has its own.
pub(super) struct Sockets {
    case: Case,
    receivers: Vec<UdpSocket>,
    senders: Vec<Sender>,
}

struct Sender {
    socket: UdpSocket,
    source: SocketAddr,
    peer: SocketAddr,
}

/// The sizes of the buffers that the kernel granted, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Buffers {
    pub(super) rcvbuf_bytes: Option<u64>,
    pub(super) sndbuf_bytes: Option<u64>,
}

impl Sockets {
    pub(super) fn of(case: Case) -> Self {
        Self {
            case,
            receivers: Vec::new(),
            senders: Vec::new(),
        }
    }

    pub(super) fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>> {
        self.receivers = bind::receivers(&self.case)?;
        let addresses = self.receivers.iter().map(UdpSocket::local_addr);
        let addresses: io::Result<Vec<SocketAddr>> = addresses.collect();
        addresses.context("a bound socket has an address")
    }

    /// Those that receive, each with the engine that it receives with.
    pub(super) fn receiving(
        &self,
        (sender, receiver): Engines,
    ) -> impl Iterator<Item = (&'static Entry, &UdpSocket)> {
        let clients = self.senders.iter().filter(|_| self.case.asks());
        let clients = clients.map(move |client| (sender, &client.socket));
        let receivers = self.receivers.iter().map(move |socket| (receiver, socket));
        clients.chain(receivers)
    }

    pub(super) fn aim(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr> {
        let socket = bind::sender(&self.case, peer)
            .with_context(|| format!("cannot make a sender socket towards {peer}"))?;
        let source = socket
            .local_addr()
            .context("a bound socket has an address")?;
        self.senders.push(Sender {
            socket,
            source,
            peer,
        });
        Ok(source)
    }

    /// Takes the sender with this address out of the list.
    pub(super) fn take_sender(&mut self, source: SocketAddr) -> anyhow::Result<UdpSocket> {
        let mut senders = self.senders.iter();
        let at = senders.position(|sender| sender.source == source);
        let at = at.with_context(|| format!("no sender has the address {source}"))?;
        Ok(self.senders.remove(at).socket)
    }

    /// Sends a datagram of one byte.
    pub(super) fn probe(&self, source: SocketAddr) -> anyhow::Result<Option<String>> {
        let mut senders = self.senders.iter();
        let sender = senders.find(|sender| sender.source == source);
        let Sender { socket, peer, .. } =
            sender.with_context(|| format!("no sender has the address {source}"))?;
        let sent = if socket.peer_addr().is_ok() {
            socket.send(&[0])
        } else {
            socket.send_to(&[0], peer)
        };
        Ok(sent.err().map(|refusal| refusal.to_string()))
    }

    /// The receiver at which a datagram from `source` has arrived, after waiting for one from anywhere.
    pub(super) fn arrived(&self, source: SocketAddr) -> anyhow::Result<Option<usize>> {
        for receiver in readable(&self.receivers)? {
            let (_, from) = self.receivers[receiver].recv_from(&mut [0; 1])?;
            if from == source {
                return Ok(Some(receiver));
            }
        }
        Ok(None)
    }

    pub(super) fn pair(&self, flows: &[Flow]) -> anyhow::Result<()> {
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

    pub(super) fn buffers(&self) -> anyhow::Result<Buffers> {
        let receiver = self.receivers.first().map(SockRef::from);
        let sender = self.senders.first();
        let sender = sender.map(|sender| SockRef::from(&sender.socket));
        let rcvbuf = receiver.map(|socket| socket.recv_buffer_size());
        let sndbuf = sender.map(|socket| socket.send_buffer_size());
        let granted = |size: Option<io::Result<usize>>| {
            let size = size.transpose().context("cannot read the buffer sizes")?;
            anyhow::Ok(size.map(|bytes| bytes as u64))
        };
        Ok(Buffers {
            rcvbuf_bytes: granted(rcvbuf)?,
            sndbuf_bytes: granted(sndbuf)?,
        })
    }

    /// The receivers and the senders, these in the order of `flows`; none of them where they are not here.
    ///
    /// # Errors
    /// When the flows are not those of the case, or of its senders.
    pub(super) fn into_sides(
        mut self,
        part: Part,
        flows: &[Flow],
    ) -> anyhow::Result<(Vec<UdpSocket>, Vec<UdpSocket>)> {
        ensure!(
            flows.len() == self.case.threads.senders(),
            "{} flows, not those of the case",
            flows.len()
        );
        let receivers = std::mem::take(&mut self.receivers);
        let here = if part.sends() { flows } else { &[] };
        let senders = here.iter().map(|flow| self.take_sender(flow.source));
        Ok((receivers, senders.collect::<anyhow::Result<_>>()?))
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
