//! The sockets of one run, all built before any thread starts: what cannot be built is an error, never
//! a thread that waits for ever.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use socket2::{Domain, Protocol, Socket, Type};

use super::spread::{self, Flow};
use super::taps::Taps;
use crate::case::{Batch, Case, Connection, Ip, Sharing};
use crate::engine::{ReceiveEnd, SendEnd};
use crate::lane::{Job, Role};
use crate::sys::buffers;
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
    // Probes that were sent more than once.
    taps.take_unread();

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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The receiving sockets of a case.
    pub(in crate::runner) fn receivers(case: &Case) -> Vec<UdpSocket> {
        super::receivers(case).expect("loopback works")
    }
}
