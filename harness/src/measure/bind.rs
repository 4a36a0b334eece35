//! Sockets made, sized and bound.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use anyhow::Context;
use socket2::{Domain, Protocol, Socket, Type};

use crate::data::{Case, Connection, Ip, Sharing, Tos};
use crate::sys::buffers;

/// The receiving sockets: bound to one address that the kernel chose, or to one each.
pub(super) fn receivers(case: &Case) -> anyhow::Result<Vec<UdpSocket>> {
    let count = case.threads.receivers();
    let any_port = SocketAddr::new(case.ip.loopback(), 0);
    let mut receivers: Vec<UdpSocket> = Vec::with_capacity(count);
    for n in 0..count {
        let socket = socket(case.ip).context("cannot make a receiver socket")?;
        buffers::set_receive(&socket, case.rcvbuf.bytes()).context("cannot set SO_RCVBUF")?;
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
/// The error of the system call.
pub(super) fn sender(case: &Case, peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = socket(case.ip)?;
    if let Some(sndbuf) = case.sndbuf {
        buffers::set_send(&socket, sndbuf.bytes())?;
    }
    if let Some(tos) = case.tos {
        mark(&socket, case.ip, tos)?;
    }
    socket.bind(&SocketAddr::new(case.ip.loopback(), 0).into())?;
    if case.connection == Connection::Connected {
        socket.connect(&peer.into())?;
    }
    Ok(socket.into())
}

/// Marks what a socket sends (ip(7), ipv6(7)).
///
/// # Errors
/// What the system said, or that it keeps another mark.
fn mark(socket: &Socket, ip: Ip, tos: Tos) -> io::Result<()> {
    let kept = match ip {
        Ip::V4 => {
            socket.set_tos_v4(tos.byte())?;
            socket.tos_v4()?
        }
        Ip::V6 => {
            socket.set_tclass_v6(tos.byte())?;
            socket.tclass_v6()?
        }
    };
    if kept == tos.byte() {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "--tos {tos}: asked for {}, but the kernel keeps {kept}",
            tos.byte()
        )))
    }
}

fn socket(ip: Ip) -> io::Result<Socket> {
    let domain = match ip {
        Ip::V4 => Domain::IPV4,
        Ip::V6 => Domain::IPV6,
    };
    Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn senders_mark_their_datagrams() {
        for (key, ip) in [("v4/tos-ef", Ip::V4), ("v6/tos-185", Ip::V6)] {
            let case = Case::of_key(&format!("std:std/2t/9B/unconnected/{key}")).expect("a case");
            let peer = (Ipv4Addr::LOCALHOST, 9).into();
            let Ok(socket) = sender(&case, peer).map(Socket::from) else {
                assert_eq!(ip, Ip::V6, "v4 is everywhere");
                continue;
            };
            let (kept, asked) = match ip {
                Ip::V4 => (socket.tos_v4(), 184),
                Ip::V6 => (socket.tclass_v6(), 185),
            };
            assert_eq!(kept.expect("it says"), asked);
        }
    }
}
