//! Creates, sizes and binds UDP sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;

use anyhow::{Context, ensure};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{Ipv4RecvErr, Ipv6RecvErr, Priority as SetPriority};
use socket2::{Domain, Socket, Type};

use crate::data::{Case, Checksum, Connection, Ip, Priority, Sharing, Spread};
use crate::sys::{busy_poll, reuseport, socket_options};

/// Minimum receive buffer of a socket, in bytes, however many sockets share a receiver's buffer: seven datagrams of
/// 1500 B, or one of any length.
const LEAST_RCVBUF: usize = 16 << 10;

/// Returns the address of a case's receivers on one host.
///
/// # Errors
/// Fails if this host has no such address.
pub(crate) fn receivers_address(case: &Case) -> anyhow::Result<IpAddr> {
    let address = case.receivers_address();
    address.with_context(|| format!("no interface has an IP{} address", case.ip))
}

/// Allocates ports of one address. IPv4 loopback has many addresses: if one has no port left, the next one is used.
pub(crate) struct Ports {
    /// First address, with port 0.
    first: SocketAddr,
    /// Number of addresses that have no port left.
    full: u8,
}

impl Ports {
    /// Starts with this address.
    pub(crate) fn of(first: SocketAddr) -> Self {
        Self { first, full: 0 }
    }

    /// Binds to a port that the kernel chooses.
    ///
    /// # Errors
    /// Returns the error of the system call: `AddrInUse` if no address has a port left.
    fn bind(&mut self, socket: &Socket) -> io::Result<()> {
        loop {
            let mut address = self.first;
            if let SocketAddr::V4(address) = &mut address {
                let [a, b, c, d] = address.ip().octets();
                address.set_ip(Ipv4Addr::new(a, b, c, d + self.full));
            }
            let bound = socket.bind(&address.into());
            let is_full = bound
                .as_ref()
                .is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse);
            let has_others = self.first.is_ipv4() && self.first.ip().is_loopback();
            if !is_full || !has_others || self.full == u8::MAX - 1 {
                return bound;
            }
            self.full += 1;
        }
    }
}

/// Makes the receiving sockets, bound to one shared address or to one each; the kernel chooses the ports.
pub(crate) fn receivers(case: &Case, ports: &mut Ports) -> anyhow::Result<Vec<UdpSocket>> {
    let count = case.receiver_sockets();
    let mut receivers: Vec<UdpSocket> = Vec::with_capacity(count);
    for n in 0..count {
        let socket = socket(case.ip, Type::DGRAM).context("cannot make a receiver socket")?;
        let each = case.receiver_sockets() / case.threads.receivers();
        set_receive_buffer(&socket, case, each).context("cannot set SO_RCVBUF")?;
        if case.checksum == Some(Checksum::Off) {
            socket_options::accept_no_checksum(&socket, case.ip.loopback())
                .context("cannot accept datagrams without a checksum")?;
        }
        busy_poll(&socket, case)?;
        if case.is_full_duplex() {
            prepare_to_send(&socket, case).context("cannot prepare a receiver to send")?;
        }
        if case.is_rr() {
            have_refusals_told(&socket, case).context("cannot set IP_RECVERR")?;
        }
        let first = receivers.first().map(UdpSocket::local_addr).transpose();
        let first = first.context("a bound socket has an address")?;
        let bound = match (first, case.sharing) {
            (Some(first), Some(sharing)) if sharing != Sharing::Separate => {
                share(&socket, sharing)?;
                socket.bind(&first.into())
            }
            _ => ports.bind(&socket),
        };
        bound.with_context(|| format!("cannot bind receiver {} of {count}", n + 1))?;
        if let (0, Some(sharing)) = (n, case.sharing) {
            // Only after the first bind: with SO_REUSEPORT set, the kernel may choose for port 0 a port that another
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

/// Has each receiver take the packets that its own CPU handles, if the case asks for it. Only after the probes, which
/// come from the coordinator thread's CPU.
///
/// # Errors
/// Fails if a system call fails.
pub(crate) fn prefer_own_cpus(
    case: &Case,
    receivers: &[OwnedFd],
    cpus: &[Option<usize>],
) -> anyhow::Result<()> {
    if case.sharing != Some(Sharing::Reuseport(Spread::Cpu)) {
        return Ok(());
    }
    for (socket, cpu) in receivers.iter().zip(cpus) {
        let cpu = cpu.context("--spread cpu needs receivers on CPUs")?;
        reuseport::prefer_cpu(socket, cpu).context("cannot set SO_INCOMING_CPU")?;
    }
    Ok(())
}

/// Makes a sender's socket with its own source port.
///
/// # Errors
/// Returns the error of the system call.
pub(crate) fn sender(
    case: &Case,
    peer: SocketAddr,
    ports: &mut Ports,
) -> anyhow::Result<UdpSocket> {
    let socket = socket(case.ip, Type::DGRAM)?;
    prepare_to_send(&socket, case)?;
    if case.receives_at_both_ends() {
        set_receive_buffer(&socket, case, case.flows_each())?;
        busy_poll(&socket, case)?;
    }
    ports.bind(&socket)?;
    if case.connection == Connection::Connected {
        socket.connect(&peer.into())?;
    }
    Ok(socket.into())
}

/// Sets the receive buffer of one of a thread's `sockets`, which share the size of the case, whether they receive
/// datagrams, requests or responses.
fn set_receive_buffer(socket: &Socket, case: &Case, sockets: usize) -> io::Result<()> {
    let asked = case.rcvbuf.bytes();
    let each = asked / sockets.max(1);
    socket_options::set_receive_buffer(socket, each.max(LEAST_RCVBUF.min(asked)))
}

/// Has a socket that receives busy-poll, if the case asks for it.
///
/// # Errors
/// Fails if a system call fails: for want of a permission, which the plan knows.
fn busy_poll(socket: &Socket, case: &Case) -> anyhow::Result<()> {
    let Some(poll) = case.busy_poll else {
        return Ok(());
    };
    busy_poll::of_socket(socket, poll.us).with_context(|| format!("--busy-poll {poll}"))
}

/// Sets the options of a sending socket: send buffer, traffic class, priority, checksums, error reports.
///
/// # Errors
/// Returns the error of the system call.
pub(crate) fn prepare_to_send(socket: &Socket, case: &Case) -> anyhow::Result<()> {
    if let Some(sndbuf) = case.sndbuf {
        socket_options::set_send_buffer(socket, sndbuf.bytes())?;
    }
    // The traffic class: ip(7), ipv6(7).
    if let Some(tos) = case.tos {
        let asked = tos.byte();
        let kept = match case.ip {
            Ip::V4 => {
                socket.set_tos_v4(asked)?;
                socket.tos_v4()?
            }
            Ip::V6 => {
                socket.set_tclass_v6(asked)?;
                socket.tclass_v6()?
            }
        };
        ensure!(
            kept == asked,
            "--tos {tos}: asked for {asked}, but the kernel keeps {kept}"
        );
    }
    // After the traffic class, which sets a priority too (socket(7)).
    if let Some(priority) = case.priority {
        let set = setsockopt(socket, SetPriority, &i32::from(u8::from(priority)));
        set.with_context(|| {
            let most = Priority::MAX_UNPRIVILEGED;
            format!("--priority {priority}: above {most} it needs CAP_NET_ADMIN, as with sudo")
        })?;
    }
    if case.checksum == Some(Checksum::Off) {
        socket_options::leave_out_checksum(socket, case.ip.loopback())?;
    }
    have_refusals_told(socket, case)
}

/// Has each send between hosts report whether the queue of the interface had room.
///
/// Without IP_RECVERR, a datagram that is dropped there looks sent to the program (ip(7), `udp_send_skb` in
/// net/ipv4/udp.c).
///
/// # Errors
/// Returns the error of the system call.
fn have_refusals_told(socket: &Socket, case: &Case) -> anyhow::Result<()> {
    if case.direction.is_none() || case.transport.is_some() {
        return Ok(());
    }
    let set = match case.ip {
        Ip::V4 => setsockopt(socket, Ipv4RecvErr, &true),
        Ip::V6 => setsockopt(socket, Ipv6RecvErr, &true),
    };
    Ok(set?)
}

/// Makes a socket of this type, for UDP or TCP.
pub(crate) fn socket(ip: Ip, kind: Type) -> io::Result<Socket> {
    let domain = match ip {
        Ip::V4 => Domain::IPV4,
        Ip::V6 => Domain::IPV6,
    };
    Socket::new(domain, kind, None)
}

#[cfg(test)]
mod tests {
    use nix::sys::socket::getsockopt;
    use socket2::SockRef;

    use super::*;

    #[test]
    fn whoever_receives_has_the_receive_buffer() {
        let size = |key: &str| {
            let case = Case::of_key(&format!("std:std/2t/9B/connected/v4{key}")).expect("a case");
            let mut ports =
                Ports::of((receivers_address(&case).expect("loopback is there"), 0).into());
            let receivers = receivers(&case, &mut ports).expect("ports are free");
            let peer = receivers[0].local_addr().expect("it is bound");
            let sender = sender(&case, peer, &mut ports).expect("ports are free");
            let size = |socket: &UdpSocket| SockRef::from(socket).recv_buffer_size().ok();
            (size(&receivers[0]), size(&sender))
        };
        for key in ["/rr", "/rr/rate9", "/bidir"] {
            let (receiver, sender) = size(key);
            assert_eq!(receiver, sender, "{key}");
        }
        let (receiver, sender) = size("");
        assert_ne!(receiver, sender, "nothing comes back");
    }

    #[test]
    fn senders_have_the_priority_that_was_asked_for_whatever_their_traffic_class() {
        let case = "std:std/2t/9B/connected/v4/priority3/tos-ef";
        let case = Case::of_key(case).expect("a case");
        let mut ports = Ports::of((Ipv4Addr::LOCALHOST, 0).into());
        let peer = (Ipv4Addr::LOCALHOST, 9).into();
        let sender = sender(&case, peer, &mut ports).expect("ports are free");
        assert_eq!(getsockopt(&sender, SetPriority), Ok(3));
    }

    #[test]
    fn senders_mark_their_datagrams() {
        for (key, ip) in [("v4/tos-ef", Ip::V4), ("v6/tos-185", Ip::V6)] {
            let case = Case::of_key(&format!("std:std/2t/9B/unconnected/{key}")).expect("a case");
            let peer = (Ipv4Addr::LOCALHOST, 9).into();
            let mut ports =
                Ports::of((receivers_address(&case).expect("loopback is there"), 0).into());
            let Ok(socket) = sender(&case, peer, &mut ports).map(Socket::from) else {
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
