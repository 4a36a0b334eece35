//! The sockets of one site, all built before any thread starts: what cannot be built is an error, never
//! a thread that waits for ever.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;

use anyhow::{Context, ensure};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::SockRef;

use super::bind;
use super::site::{Flow, Part};
use crate::data::{Batch, Case, Sharing, Spread, Wait};
use crate::engine::null_link::{NullLink, NullQueue};
use crate::engine::verify::{SequenceTracker, SequenceWriter};
use crate::engine::{Direction, Link, PortOptions};
use crate::engines::Entry;
use crate::sys::reuseport_bpf;
use crate::workload::{Incoming, Outgoing, Program};

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

    pub(super) fn receivers(&self) -> &[UdpSocket] {
        &self.receivers
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

    /// The programs of the lanes of `part`, senders first, in the order of their flows, each with the ports that
    /// it opens on these sockets.
    pub(super) fn programs(
        mut self,
        part: Part,
        flows: &[Flow],
        receiver: &Entry,
        tracker: Option<&Arc<SequenceTracker>>,
    ) -> anyhow::Result<Vec<Program>> {
        let case = self.case;
        ensure!(
            flows.len() == case.threads.senders(),
            "{} flows, not those of the case",
            flows.len()
        );
        let payload_bytes = case.payload.bytes();
        let options = |link, direction| PortOptions {
            // Verification has to see datagrams that are too long, too.
            buffer_bytes: payload_bytes + usize::from(tracker.is_some()),
            batch: case.batch.map_or(1, Batch::count),
            spins: direction == Direction::Receives
                && case.wait == Some(Wait::Spin)
                && receiver.about.can_spin,
            own_payloads: tracker.is_some(),
            ..PortOptions::of(vec![link], direction, payload_bytes)
        };
        let queues: Vec<Arc<NullQueue>> = flows.iter().map(|_| Arc::default()).collect();
        let receivers = std::mem::take(&mut self.receivers).into_iter().enumerate();
        let incoming = receivers.map(|(n, socket)| {
            let here = flows.iter().zip(&queues);
            let here = here.filter(|(flow, _)| flow.receiver == n);
            let null = NullLink {
                incoming: here.map(|(_, queue)| Arc::clone(queue)).collect(),
                ..NullLink::default()
            };
            let peer = None;
            Incoming {
                options: options(Link { socket, peer, null }, Direction::Receives),
                tracker: tracker.cloned(),
            }
        });
        let incoming: Vec<Incoming> = incoming.collect();
        let mut outgoing = Vec::with_capacity(flows.len());
        for (n, (flow, queue)) in (0..).zip(flows.iter().zip(queues)) {
            if let Some(tracker) = tracker {
                tracker.expect_source(n, flow.source);
            }
            if !part.sends() {
                continue;
            }
            let socket = self.take_sender(flow.source)?;
            let peer = Some(flow.peer);
            let null = NullLink {
                out: queue,
                ..NullLink::default()
            };
            outgoing.push(Outgoing {
                options: options(Link { socket, peer, null }, Direction::Sends),
                writer: tracker.map(|_| SequenceWriter::new(n, payload_bytes)),
            });
        }
        Ok(if case.threads.is_alone() {
            let pairs = outgoing.into_iter().zip(incoming);
            pairs.map(|(out, into)| Program::Turns(out, into)).collect()
        } else {
            let floods = outgoing.into_iter().map(Program::Flood);
            let sinks = incoming.into_iter().map(Program::Sink);
            floods.chain(sinks).collect()
        })
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
