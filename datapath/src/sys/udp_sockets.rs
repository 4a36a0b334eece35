//! UDP sockets of other programs: their queues, buffers and drops, by `sock_diag` or from `/proc/net/udp`. Reads only.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use nix::sys::socket::SockProtocol;

use super::netlink::{Netlink, Scope, attributes, read_u32};

/// A UDP socket of any program of this network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdpSocketState {
    /// Number of the socket, which `/proc/PID/fd` shows as `socket:[INODE]`.
    pub inode: u32,
    /// Address that the socket is bound to.
    pub local: SocketAddr,
    /// It takes no IPv4 (`IPV6_V6ONLY`), as the kernel says in an answer to `sock_diag`.
    pub ipv6_only: bool,
    /// True if it takes datagrams of one peer only (connect(2)).
    pub is_connected: bool,
    /// Number of the only interface that it takes datagrams from (`SO_BINDTODEVICE`), as the kernel says in an answer
    /// to `sock_diag`. 0: all.
    pub device: u32,
    /// Memory that the receive queue takes up, in bytes. Drivers and the kernel add to the payload.
    pub queued_bytes: u32,
    /// Limit of `queued_bytes`: twice the `SO_RCVBUF` that the program set. `None`: the kernel does not answer
    /// `sock_diag`.
    pub buffer_bytes: Option<u32>,
    /// Datagrams that the socket has dropped since it was made. The kernel keeps 32 bits.
    pub drops: u32,
}

/// Returns the UDP sockets in the network namespace of this thread.
///
/// # Errors
/// Fails if the kernel offers neither `sock_diag` for UDP (`CONFIG_INET_UDP_DIAG`) nor `/proc/net/udp`.
pub fn here() -> io::Result<Vec<UdpSocketState>> {
    by_sock_diag().or_else(|_| of_process("thread-self"))
}

/// Returns the UDP sockets in the network namespace of a process: a directory of `/proc`, such as `42`. They lack
/// `buffer_bytes`, `ipv6_only` and `device`.
///
/// The kernel writes the table page by page and finds its place again by counting lines (`udp_get_idx`,
/// net/ipv4/udp.c): if other sockets go away meanwhile, it skips some that are there. So it is read until nothing is
/// new, at most four times.
///
/// # Errors
/// Fails if there is no such process.
pub fn of_process(process: &str) -> io::Result<Vec<UdpSocketState>> {
    let table = |name| fs::read_to_string(format!("/proc/{process}/net/{name}"));
    let mut found = BTreeMap::new();
    for _ in 0..4 {
        let known = found.len();
        let v4 = table("udp")?;
        // Without IPv6 there is no second table.
        let v6 = table("udp6").unwrap_or_default();
        let lines = v4.lines().chain(v6.lines()).filter_map(parse_line);
        found.extend(lines.map(|socket| (socket.inode, socket)));
        if found.len() == known {
            break;
        }
    }
    Ok(found.into_values().collect())
}

/// Parses a line of `/proc/net/udp` or `udp6` (proc_net(5)). `None`: the heading.
fn parse_line(line: &str) -> Option<UdpSocketState> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (_, queued) = fields.get(4)?.split_once(':')?;
    Some(UdpSocketState {
        inode: fields.get(9)?.parse().ok()?,
        local: parse_address(fields.get(1)?)?,
        ipv6_only: false,
        is_connected: parse_address(fields.get(2)?)?.port() != 0,
        device: 0,
        queued_bytes: u32::from_str_radix(queued, 16).ok()?,
        buffer_bytes: None,
        drops: fields.get(12)?.parse().ok()?,
    })
}

/// Parses `0100007F:1F90`: words of 32 bits in the byte order of this machine, then the port.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let words = address.as_bytes().chunks(8).map(|word| {
        let word = u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?;
        Some(word.to_ne_bytes())
    });
    let octets = words.collect::<Option<Vec<[u8; 4]>>>()?.concat();
    let port = u16::from_str_radix(port, 16).ok()?;
    Some(SocketAddr::new(ip(&octets)?, port))
}

/// Returns the address of four or sixteen octets.
fn ip(octets: &[u8]) -> Option<IpAddr> {
    let v4 = || <[u8; 4]>::try_from(octets).map(|it| IpAddr::V4(Ipv4Addr::from(it)));
    let v6 = || <[u8; 16]>::try_from(octets).map(|it| IpAddr::V6(Ipv6Addr::from(it)));
    v4().or_else(|_| v6()).ok()
}

fn by_sock_diag() -> io::Result<Vec<UdpSocketState>> {
    let mut kernel = Netlink::open(SockProtocol::NetlinkSockDiag)?;
    let mut sockets = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let each = |message: &[u8]| sockets.extend(parse_message(message));
        let body = request(family.try_into().unwrap_or_default());
        kernel.ask(SOCK_DIAG_BY_FAMILY, Scope::All, &body, each)?;
    }
    Ok(sockets)
}

/// Kind of the request, and of its answers (`include/uapi/linux/sock_diag.h`).
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Attribute with the memory of a socket: an array, as of `SO_MEMINFO` (`include/uapi/linux/inet_diag.h`).
const INET_DIAG_SKMEMINFO: u16 = 7;
/// Attribute with `IPV6_V6ONLY`: a byte. Only sockets of IPv6 that are not connected have it.
const INET_DIAG_SKV6ONLY: u16 = 11;
/// Bytes of `struct inet_diag_msg`.
const MESSAGE_BYTES: usize = 72;

/// Makes a `struct inet_diag_req_v2` for all UDP sockets of an address family.
fn request(family: u8) -> [u8; 56] {
    let mut request = [0; 56];
    request[0] = family;
    request[1] = libc::IPPROTO_UDP.try_into().unwrap_or_default();
    request[2] = 1 << (INET_DIAG_SKMEMINFO - 1);
    // All states.
    request[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
    request
}

/// Parses a `struct inet_diag_msg` and its attributes.
fn parse_message(message: &[u8]) -> Option<UdpSocketState> {
    /// Offsets in the message, and places in the array.
    const PORT: usize = 4;
    const PEER_PORT: usize = 6;
    const ADDRESS: usize = 8;
    const DEVICE: usize = 40;
    const INODE: usize = 68;
    const RMEM_ALLOC: usize = 0;
    const RCVBUF: usize = 1;
    const DROPS: usize = 8;
    let octets = if i32::from(*message.first()?) == libc::AF_INET {
        4
    } else {
        16
    };
    let port = message.get(PORT..)?.first_chunk()?;
    let address = ip(message.get(ADDRESS..ADDRESS + octets)?)?;
    let attribute = |wanted: u16| {
        let mut all = attributes(message.get(MESSAGE_BYTES..).unwrap_or_default());
        all.find(|(kind, _)| *kind == wanted)
            .map(|(_, value)| value)
    };
    let memory = attribute(INET_DIAG_SKMEMINFO)?;
    Some(UdpSocketState {
        inode: read_u32(message, INODE)?,
        local: SocketAddr::new(address, u16::from_be_bytes(*port)),
        is_connected: *message.get(PEER_PORT..)?.first_chunk()? != [0; 2],
        device: read_u32(message, DEVICE)?,
        ipv6_only: attribute(INET_DIAG_SKV6ONLY).is_some_and(|it| it.first() == Some(&1)),
        queued_bytes: read_u32(memory, 4 * RMEM_ALLOC)?,
        buffer_bytes: read_u32(memory, 4 * RCVBUF),
        drops: read_u32(memory, 4 * DROPS)?,
    })
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use socket2::{Domain, SockRef, Socket, Type};

    use super::*;

    /// Compares both sources for sockets whose queues have overflowed.
    #[test]
    fn both_sources_say_the_same_of_a_full_socket() {
        for loopback in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(receiver) = UdpSocket::bind(loopback) else {
                continue; // no IPv6 here
            };
            let sender = UdpSocket::bind(loopback).expect("as the first");
            let local = receiver.local_addr().expect("bound");
            for _ in 0..2000 {
                sender
                    .send_to(&[0; 1400], local)
                    .expect("loopback takes it");
            }
            let find = |sockets: Vec<UdpSocketState>| {
                let mut sockets = sockets.into_iter();
                sockets.find(|socket| socket.local == local)
            };
            let in_table = find(of_process("self").expect("Linux has /proc"));
            let in_table = in_table.expect("it is open");
            assert!(in_table.drops > 0 && in_table.queued_bytes > 0);
            if let Ok(sockets) = by_sock_diag() {
                let socket = find(sockets).expect("it is open");
                assert!(socket.buffer_bytes > Some(0));
                // The table does not tell these.
                let same = UdpSocketState {
                    buffer_bytes: None,
                    ipv6_only: false,
                    ..socket
                };
                assert_eq!(same, in_table);
            }
        }
    }

    #[test]
    fn a_socket_of_all_addresses_takes_ipv4_or_does_not() {
        for only in [true, false] {
            let Ok(socket) = Socket::new(Domain::IPV6, Type::DGRAM, None) else {
                return; // no IPv6 here
            };
            socket.set_only_v6(only).expect("it is not bound");
            let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
            socket.bind(&any.into()).expect("a port is free");
            let local = socket.local_addr().expect("bound").as_socket();
            let Ok(sockets) = by_sock_diag() else {
                return; // no sock_diag here
            };
            let found = sockets.iter().find(|it| Some(it.local) == local);
            assert_eq!(found.expect("it is open").ipv6_only, only);
        }
    }

    #[test]
    fn a_connected_socket_and_one_of_an_interface_are_told() {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let client = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let to = receiver.local_addr().expect("bound");
        client.connect(to).expect("it is open");
        let table = of_process("self").expect("Linux has /proc");
        for all in [Some(table), by_sock_diag().ok()].into_iter().flatten() {
            let is_connected = |socket: &UdpSocket| {
                let local = socket.local_addr().expect("bound");
                let found = all.iter().find(|it| it.local == local);
                found.expect("it is open").is_connected
            };
            assert!(is_connected(&client) && !is_connected(&receiver));
        }
        let bound = SockRef::from(&receiver).bind_device(Some(b"lo"));
        let Some((sockets, ())) = by_sock_diag().ok().zip(bound.ok()) else {
            return; // old kernels need CAP_NET_RAW
        };
        let found = sockets.iter().find(|it| it.local == to);
        assert!(found.expect("it is open").device > 0);
    }

    #[test]
    fn a_line_of_the_table_is_a_socket() {
        let line = "  123: 0100007F:1F90 00000000:0000 07 00000000:00000280 00:00000000 00000000  1000        0 4242 2 0000000000000000 17";
        let socket = parse_line(line).expect("a socket");
        assert_eq!((socket.inode, socket.queued_bytes), (4242, 640));
        assert_eq!((socket.buffer_bytes, socket.drops), (None, 17));
        assert_eq!(socket.local.port(), 8080);
        assert_eq!(parse_line("  sl  local_address rem_address   st"), None);
        assert_eq!(parse_message(&[2, 0, 0]), None);
    }
}
