//! Control messages of sendmsg(2) and recvmsg(2) as bytes, and the socket options that request them.
//!
//! The macros of cmsg(3) follow raw pointers. This reads and writes the kernel's layout without `unsafe`.

use std::ffi::c_int;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use nix::sys::socket::{setsockopt, sockopt};

/// Bytes of a machine word, to which the kernel aligns messages and their contents.
const WORD: usize = size_of::<usize>();
/// Bytes of `struct cmsghdr` of the kernel: a word and two ints.
const HEADER: usize = (WORD + 8).next_multiple_of(WORD);
/// Kinds of the control message with the arrival: the old one and the one of 64 bits everywhere
/// (`include/uapi/asm-generic/socket.h`).
const TIMESTAMPNS: [c_int; 2] = [35, 64];

/// Memory for the control messages of one datagram. All kinds and that of UDP_GRO take 120 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct ControlMemory(pub [u8; Self::BYTES]);

impl ControlMemory {
    /// Length in bytes.
    pub const BYTES: usize = 128;
    /// Memory without messages.
    pub const EMPTY: Self = Self([0; Self::BYTES]);
}

/// A control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlMessage<'a> {
    /// Protocol level, such as `IPPROTO_IP`.
    pub level: c_int,
    /// Kind within the level, such as `IP_PKTINFO`.
    pub kind: c_int,
    /// Contents without padding.
    pub contents: &'a [u8],
}

/// Iterator over the control messages that recvmsg(2) wrote. It ends before a message that is cut off.
#[derive(Debug)]
pub struct ControlMessages<'a>(pub &'a [u8]);

impl<'a> Iterator for ControlMessages<'a> {
    type Item = ControlMessage<'a>;

    #[inline]
    fn next(&mut self) -> Option<ControlMessage<'a>> {
        let (header, rest) = self.0.split_first_chunk::<HEADER>()?;
        let length = usize::from_ne_bytes(*header.first_chunk()?);
        let contents = rest.get(..length.checked_sub(HEADER)?)?;
        let padded = contents.len().next_multiple_of(WORD);
        self.0 = rest.get(padded..).unwrap_or_default();
        Some(ControlMessage {
            level: int(header.get(WORD..)?)?,
            kind: int(header.get(WORD + 4..)?)?,
            contents,
        })
    }
}

impl ControlMessage<'_> {
    /// Returns the local address of a received datagram: the destination in its IP header (IP_PKTINFO in ip(7),
    /// IPV6_PKTINFO in ipv6(7)). `None`: the message is of another kind.
    #[inline]
    pub fn destination(&self) -> Option<IpAddr> {
        match (self.level, self.kind) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                let octets: &[u8; 4] = self.contents.get(8..)?.first_chunk()?;
                Some(Ipv4Addr::from(*octets).into())
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                let octets: &[u8; 16] = self.contents.first_chunk()?;
                Some(Ipv6Addr::from(*octets).into())
            }
            _ => None,
        }
    }

    /// Returns the number of the interface on which a datagram came in (IP_PKTINFO in ip(7), IPV6_PKTINFO in ipv6(7)).
    /// `None`: the message is of another kind.
    #[inline]
    pub fn interface(&self) -> Option<u32> {
        let at = match (self.level, self.kind) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => 0,
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => 16,
            _ => return None,
        };
        u32::try_from(int(self.contents.get(at..)?)?).ok()
    }

    /// Returns the TOS byte or traffic class of a received datagram. `None`: the message is of another kind.
    #[inline]
    pub fn traffic_class(&self) -> Option<u8> {
        match (self.level, self.kind) {
            (libc::IPPROTO_IP, libc::IP_TOS) => self.contents.first().copied(),
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => u8::try_from(int(self.contents)?).ok(),
            _ => None,
        }
    }

    /// Returns the arrival of a received datagram since 1970, in nanoseconds. `None`: the message is of another kind.
    #[inline]
    pub fn arrived_ns(&self) -> Option<u64> {
        let is_stamp = self.level == libc::SOL_SOCKET && TIMESTAMPNS.contains(&self.kind);
        is_stamp.then(|| read_time(self.contents))?
    }

    /// Returns the datagrams that the socket dropped before this one (SO_RXQ_OVFL). `None`: the message is of another
    /// kind.
    pub fn dropped_before(&self) -> Option<u32> {
        let is_count = self.level == libc::SOL_SOCKET && self.kind == libc::SO_RXQ_OVFL;
        let count = self.contents.first_chunk().filter(|_| is_count)?;
        Some(u32::from_ne_bytes(*count))
    }

    /// Returns the segment size of a GRO aggregate, in bytes. `None`: the message is of another kind.
    #[inline]
    pub fn segment_bytes(&self) -> Option<usize> {
        let is_size = self.level == libc::SOL_UDP && self.kind == libc::UDP_GRO;
        usize::try_from(int(self.contents).filter(|_| is_size)?).ok()
    }
}

#[inline]
fn int(bytes: &[u8]) -> Option<c_int> {
    Some(c_int::from_ne_bytes(*bytes.first_chunk()?))
}

/// Reads a `timespec`, whose fields have 32 or 64 bits, as nanoseconds.
#[inline]
fn read_time(bytes: &[u8]) -> Option<u64> {
    let (seconds, ns) = match bytes.len() {
        16 => {
            let field = |at: usize| Some(i64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
            (field(0)?, field(8)?)
        }
        8 => (int(bytes)?.into(), int(&bytes[4..])?.into()),
        _ => return None,
    };
    let (seconds, ns) = (u64::try_from(seconds).ok()?, u64::try_from(ns).ok()?);
    Some(seconds * 1_000_000_000 + ns)
}

/// Appends a control message for sendmsg(2).
pub fn push(messages: &mut Vec<u8>, level: c_int, kind: c_int, contents: &[u8]) {
    messages.extend((HEADER + contents.len()).to_ne_bytes());
    messages.extend(level.to_ne_bytes());
    messages.extend(kind.to_ne_bytes());
    messages.resize(messages.len().next_multiple_of(WORD), 0);
    messages.extend(contents);
    messages.resize(messages.len().next_multiple_of(WORD), 0);
}

/// Appends the message that sets the source address of a datagram: its socket's own, `local`.
pub fn push_source(messages: &mut Vec<u8>, local: SocketAddr) {
    match local {
        SocketAddr::V4(local) => {
            // `struct in_pktinfo`: interface, source address, and a field for receivers.
            let mut contents = [0; 12];
            contents[4..8].copy_from_slice(&local.ip().octets());
            push(messages, libc::IPPROTO_IP, libc::IP_PKTINFO, &contents);
        }
        SocketAddr::V6(local) => {
            // `struct in6_pktinfo`: source address and interface, which a link-local address needs.
            let mut contents = [0; 20];
            contents[..16].copy_from_slice(&local.ip().octets());
            contents[16..].copy_from_slice(&local.scope_id().to_ne_bytes());
            push(messages, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &contents);
        }
    }
}

/// Appends the message that sets the traffic class of a datagram to `ip`.
pub fn push_traffic_class(messages: &mut Vec<u8>, ip: IpAddr, class: u8) {
    let contents = c_int::from(class).to_ne_bytes();
    match ip {
        IpAddr::V4(_) => push(messages, libc::IPPROTO_IP, libc::IP_TOS, &contents),
        IpAddr::V6(_) => push(messages, libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &contents),
    }
}

/// Requests the destination address of each datagram. `ip`: the socket's own address.
///
/// # Errors
/// Returns the error of the system call.
pub fn request_destinations(socket: &impl AsFd, ip: IpAddr) -> io::Result<()> {
    Ok(match ip {
        IpAddr::V4(_) => setsockopt(socket, sockopt::Ipv4PacketInfo, &true),
        IpAddr::V6(_) => setsockopt(socket, sockopt::Ipv6RecvPacketInfo, &true),
    }?)
}

/// Requests the traffic class of each datagram. `ip`: the socket's own address.
///
/// # Errors
/// Returns the error of the system call.
pub fn request_traffic_classes(socket: &impl AsFd, ip: IpAddr) -> io::Result<()> {
    Ok(match ip {
        IpAddr::V4(_) => setsockopt(socket, sockopt::IpRecvTos, &true),
        IpAddr::V6(_) => setsockopt(socket, sockopt::Ipv6RecvTClass, &true),
    }?)
}

/// Requests the arrival time of each datagram.
///
/// # Errors
/// Returns the error of the system call.
pub fn request_arrivals(socket: &impl AsFd) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::ReceiveTimestampns, &true)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(level: c_int, kind: c_int, contents: &[u8]) -> Vec<u8> {
        let mut messages = Vec::new();
        push(&mut messages, level, kind, contents);
        messages
    }

    #[test]
    fn messages_are_read_as_they_were_written_and_not_beyond_what_is_cut_off() {
        let mut messages = message(libc::SOL_UDP, libc::UDP_GRO, &300_i32.to_ne_bytes());
        push_source(&mut messages, "10.0.0.7:9".parse().expect("an address"));
        push_traffic_class(&mut messages, Ipv6Addr::LOCALHOST.into(), 0xFE);
        push(&mut messages, libc::IPPROTO_IP, libc::IP_TOS, &[2]);
        let all: Vec<_> = ControlMessages(&messages).collect();
        assert_eq!(all.len(), 4);
        assert_eq!(all[0].segment_bytes(), Some(300));
        assert_eq!(all[1].contents[4..8], [10, 0, 0, 7]);
        assert_eq!(all[1].destination(), Some(Ipv4Addr::UNSPECIFIED.into()));
        assert_eq!((all[1].interface(), all[2].interface()), (Some(0), None));
        assert_eq!(all[2].traffic_class(), Some(0xFE));
        assert_eq!(all[3].traffic_class(), Some(2));
        assert_eq!(all[3].segment_bytes(), None);
        for cut in 0..messages.len() {
            assert!(ControlMessages(&messages[..cut]).count() <= 4);
        }
        assert_eq!(ControlMessages(&messages[..HEADER + 3]).count(), 0);
        assert_eq!(ControlMessages(&[0; 64]).count(), 0);
        assert_eq!(ControlMessages(&[1; 64]).count(), 0);
    }

    #[test]
    fn an_address_of_ipv6_has_its_interface() {
        let mut messages = Vec::new();
        push_source(&mut messages, "[fe80::1%3]:9".parse().expect("an address"));
        let all: Vec<_> = ControlMessages(&messages).collect();
        assert_eq!(all[0].destination(), "fe80::1".parse().ok());
        assert_eq!(all[0].contents[16..], 3_u32.to_ne_bytes());
        assert_eq!(all[0].interface(), Some(3));
    }

    #[test]
    fn a_time_has_fields_of_32_or_64_bits() {
        let long = [3_i64.to_ne_bytes(), 7_i64.to_ne_bytes()].concat();
        let short = [3_i32.to_ne_bytes(), 9_i32.to_ne_bytes()].concat();
        for (kind, contents, expected) in [
            (64, &long[..], Some(3_000_000_007)),
            (35, &short[..], Some(3_000_000_009)),
            (35, &short[..7], None),
            (36, &short[..], None),
        ] {
            let messages = message(libc::SOL_SOCKET, kind, contents);
            let read = ControlMessages(&messages).find_map(|it| it.arrived_ns());
            assert_eq!(read, expected);
        }
    }
}
