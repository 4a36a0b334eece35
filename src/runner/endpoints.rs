//! The sockets of one run, all built before any thread starts: what cannot be built is an error, never
//! a thread that waits for ever.

use std::io;
use std::mem::MaybeUninit;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::spread::{self, Flow};
use crate::case::{Batch, Case, Connection, Ip, Sharing};
use crate::engine::{ReceiveEnd, SendEnd};
use crate::lane::{Job, Role};
use crate::sys::buffers;
use crate::sys::drops::{queued_bytes, socket_drops};
use crate::sys::interrupt::Interrupt;
use crate::verify::{Ledger, Stamper};
use crate::wire::Wire;

/// How long the only thread of a case waits for a datagram before it takes it for lost.
const ALONE_PATIENCE: Duration = Duration::from_millis(10);

/// The jobs of the lanes, senders first, and what the coordinator keeps.
pub(super) struct Endpoints {
    pub(super) jobs: Vec<Job>,
    pub(super) taps: Taps,
}

/// The coordinator's own handles on the receiving sockets.
pub(super) struct Taps {
    receivers: Vec<Tap>,
    /// What the kernel granted.
    pub(super) rcvbuf_bytes: u64,
    /// What the kernel granted.
    pub(super) sndbuf_bytes: u64,
}

struct Tap {
    socket: UdpSocket,
    drops_before: u32,
}

/// Builds the sockets of `case`: receivers share one address, every sender has its own, each flow's
/// receiver is known, and what is to be connected is connected.
///
/// # Errors
/// What the system refused, and what was asked of it.
pub(super) fn build(
    case: &Case,
    ledger: Option<&Arc<Ledger>>,
    interrupt: &Interrupt,
) -> anyhow::Result<Endpoints> {
    let receivers = receivers(case)?;
    let flows = spread::flows(case, &receivers, interrupt)?;
    let taps = Taps::new(&receivers, &flows)?;

    let payload_bytes = case.payload.bytes();
    // Whoever looks at datagrams wants to see those that are too long, too.
    let room = payload_bytes + usize::from(ledger.is_some());
    let batch = case.batch.map_or(1, Batch::count);
    let wires: Vec<Arc<Wire>> = flows.iter().map(|_| Arc::default()).collect();
    let alone = case.threads.is_alone();
    let patience = alone.then_some(ALONE_PATIENCE);
    let receive_ends = receivers.into_iter().enumerate().map(|(n, socket)| {
        let ends_here =
            |(flow, wire): (&Flow, &Arc<Wire>)| (flow.receiver == n).then(|| Arc::clone(wire));
        ReceiveEnd {
            socket,
            payload_bytes: room,
            batch,
            patience,
            ledger: ledger.cloned(),
            wires: flows.iter().zip(&wires).filter_map(ends_here).collect(),
        }
    });
    let receive_ends: Vec<ReceiveEnd> = receive_ends.collect();
    let send_ends = (0..).zip(flows.into_iter().zip(wires));
    let send_ends = send_ends.map(|(n, (flow, wire))| SendEnd {
        socket: flow.sender,
        peer: flow.peer,
        payload_bytes,
        batch,
        stamper: ledger.map(|_| Stamper::new(n, payload_bytes)),
        wire,
    });
    let roles: Vec<Role> = if alone {
        let pairs = send_ends.zip(receive_ends);
        pairs
            .map(|(send, receive)| Role::Alone(send, receive))
            .collect()
    } else {
        let receive_roles = receive_ends.into_iter().map(Role::Receive);
        send_ends.map(Role::Send).chain(receive_roles).collect()
    };
    let connection = case.connection;
    let jobs = roles.into_iter().map(|role| Job { role, connection });
    Ok(Endpoints {
        jobs: jobs.collect(),
        taps,
    })
}

/// The receiving sockets: bound to one address that the kernel chose, or to one each.
fn receivers(case: &Case) -> anyhow::Result<Vec<UdpSocket>> {
    let count = case.threads.receivers();
    let any_port = SocketAddr::new(case.ip.loopback(), 0);
    let mut receivers: Vec<UdpSocket> = Vec::with_capacity(count);
    for n in 0..count {
        let socket = socket(case.ip).context("cannot make a receiver socket")?;
        buffers::set_receive(&socket, case.rcvbuf).context("cannot set SO_RCVBUF")?;
        let first = receivers.first().map(UdpSocket::local_addr).transpose();
        let first = first.context("a bound socket has an address")?;
        let address = match (first, case.sharing) {
            (Some(first), Some(sharing)) if sharing != Sharing::Separate => {
                share(&socket, sharing)?;
                first
            }
            _ => any_port,
        };
        socket
            .bind(&address.into())
            .with_context(|| format!("cannot bind receiver {} of {count} to {address}", n + 1))?;
        if let (0, Some(sharing)) = (n, case.sharing) {
            // Only now: with SO_REUSEPORT set, port 0 may well be answered with a port that another
            // group of the same user shares already (`udp_lib_lport_inuse`, net/ipv4/udp.c).
            share(&socket, sharing)?;
        }
        receivers.push(socket.into());
    }
    Ok(receivers)
}

fn share(socket: &Socket, sharing: Sharing) -> anyhow::Result<()> {
    match sharing {
        Sharing::Reuseport(_) => socket
            .set_reuse_port(true)
            .context("cannot set SO_REUSEPORT"),
        Sharing::Reuseaddr => socket
            .set_reuse_address(true)
            .context("cannot set SO_REUSEADDR"),
        Sharing::Separate => Ok(()),
    }
}

/// A sender's socket with a source port of its own.
///
/// # Errors
/// What the system said.
pub(super) fn sender(case: &Case, peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = socket(case.ip)?;
    if let Some(sndbuf) = case.sndbuf {
        buffers::set_send(&socket, sndbuf)?;
    }
    socket.bind(&SocketAddr::new(case.ip.loopback(), 0).into())?;
    if case.connection == Connection::Connected {
        socket.connect(&peer.into())?;
    }
    Ok(socket.into())
}

fn socket(ip: Ip) -> io::Result<Socket> {
    let domain = match ip {
        Ip::V4 => Domain::IPV4,
        Ip::V6 => Domain::IPV6,
    };
    Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))
}

impl Taps {
    fn new(receivers: &[UdpSocket], flows: &[Flow]) -> anyhow::Result<Self> {
        let tap = |socket: &UdpSocket| -> io::Result<Tap> {
            Ok(Tap {
                drops_before: socket_drops(socket)?,
                socket: socket.try_clone()?,
            })
        };
        let granted = |size: io::Result<usize>| size.context("cannot read the buffer sizes");
        let first_receiver = receivers.first().context("a case has a receiver")?;
        let first_flow = flows.first().context("a case has a sender")?;
        Ok(Self {
            rcvbuf_bytes: granted(SockRef::from(first_receiver).recv_buffer_size())? as u64,
            sndbuf_bytes: granted(SockRef::from(&first_flow.sender).send_buffer_size())? as u64,
            receivers: receivers
                .iter()
                .map(tap)
                .collect::<io::Result<_>>()
                .context("cannot read the drops of a socket")?,
        })
    }

    /// Datagrams dropped at the receiving sockets so far.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub(super) fn drops(&self) -> anyhow::Result<u64> {
        let mut drops = 0;
        for tap in &self.receivers {
            let now = socket_drops(&tap.socket).context("cannot read the drops of a socket")?;
            drops += u64::from(now.wrapping_sub(tap.drops_before));
        }
        Ok(drops)
    }

    /// Whether nothing lies in the queues. Where the kernel does not say: `false`.
    pub(super) fn are_empty(&self) -> bool {
        let is_empty = |tap: &Tap| queued_bytes(&tap.socket).is_ok_and(|bytes| bytes == 0);
        self.receivers.iter().all(is_empty)
    }

    /// Takes what lies in the queues, and returns how many datagrams that were. For after the receivers
    /// have stopped.
    pub(super) fn take_unread(&self) -> u64 {
        let mut unread = 0;
        for tap in &self.receivers {
            let socket = SockRef::from(&tap.socket);
            let mut buffer = [MaybeUninit::uninit(); 1];
            loop {
                match socket.recv_with_flags(&mut buffer, libc::MSG_DONTWAIT) {
                    Ok(_) => unread += 1,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // A pending error of the socket: reading it clears it (udp(7)).
                    Err(_) => {}
                }
            }
        }
        unread
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The receiving sockets of a case.
    pub(in crate::runner) fn receivers(case: &Case) -> Vec<UdpSocket> {
        super::receivers(case).expect("loopback works")
    }
}
