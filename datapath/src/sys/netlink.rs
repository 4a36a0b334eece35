//! Requests to the kernel by netlink (netlink(7)) and the attributes of the responses: only the parts that counters
//! need.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send,
    socket,
};

use super::messages::field;

/// Connection to tables of the kernel, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    buffer: Vec<u8>,
    sequence: u32,
}

/// Scope of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The single object that the request names.
    One,
    /// The whole table.
    All,
    /// A change, which the kernel acknowledges.
    Change,
}

/// `struct nlmsghdr`.
const HEADER_BYTES: usize = 16;
/// Size of the receive buffer. The kernel fills messages of a dump up to this size (netlink_recvmsg).
const BUFFER_BYTES: usize = 32 << 10;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;

impl Netlink {
    /// Opens a connection to the tables of links and queueing disciplines (rtnetlink(7)).
    ///
    /// # Errors
    /// Returns the error of the system call: a sandbox may forbid such sockets.
    pub(super) fn route() -> io::Result<Self> {
        Self::open(SockProtocol::NetlinkRoute)
    }

    /// Opens a connection on which the kernel tells of each change of a link: see [`Netlink::hear`].
    ///
    /// # Errors
    /// Returns the error of the system call: a sandbox may forbid such sockets.
    pub(super) fn news_of_links() -> io::Result<Self> {
        /// `RTMGRP_LINK` (linux/rtnetlink.h).
        const LINKS: u32 = 1;
        let news = Self::route()?;
        bind(news.socket.as_raw_fd(), &NetlinkAddr::new(0, LINKS))?;
        Ok(news)
    }

    /// Opens a connection, such as to the table of sockets (sock_diag(7)), or to what has no protocol of its own
    /// (generic netlink).
    ///
    /// # Errors
    /// Returns the error of the system call: a sandbox may forbid such sockets.
    pub(super) fn open(protocol: SockProtocol) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        Ok(Self {
            socket: socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)?,
            buffer: vec![0; BUFFER_BYTES],
            sequence: 0,
        })
    }

    /// Sends a request, and hands each message of the response to `each`, without its header.
    ///
    /// # Errors
    /// Returns the error of the kernel, such as `ENODEV`.
    pub(super) fn ask(
        &mut self,
        kind: u16,
        scope: Scope,
        body: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(kind, scope, self.sequence, body)?;
        send(self.socket.as_raw_fd(), &request, MsgFlags::empty())?;
        loop {
            // MSG_TRUNC: returns the full length of the message, which may be more than was read (recv(2)).
            let flags = MsgFlags::MSG_TRUNC;
            let length = recv(self.socket.as_raw_fd(), &mut self.buffer, flags)?;
            let answer = self.buffer.get(..length).ok_or_else(too_long)?;
            for message in messages(answer).filter(|message| message.sequence == self.sequence) {
                match message.kind {
                    NLMSG_DONE => return Ok(()),
                    NLMSG_ERROR => return outcome(message.body),
                    _ => each(message.body),
                }
                if scope == Scope::One {
                    return Ok(());
                }
            }
        }
    }

    /// Hands each message that the kernel has sent unasked to `each`, without its header. It does not wait.
    ///
    /// # Errors
    /// Fails if messages did not fit in the buffer of the socket. Later ones can be read.
    pub(super) fn hear(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        loop {
            let flags = MsgFlags::MSG_TRUNC | MsgFlags::MSG_DONTWAIT;
            match recv(self.socket.as_raw_fd(), &mut self.buffer, flags) {
                Ok(length) => {
                    let news = self.buffer.get(..length).ok_or_else(too_long)?;
                    messages(news).for_each(|message| each(message.body));
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

fn request(kind: u16, scope: Scope, sequence: u32, body: &[u8]) -> io::Result<Vec<u8>> {
    let flags = match scope {
        Scope::One => NLM_F_REQUEST,
        Scope::All => NLM_F_REQUEST | NLM_F_DUMP,
        Scope::Change => NLM_F_REQUEST | NLM_F_ACK,
    };
    let length = u32::try_from(HEADER_BYTES + body.len()).map_err(io::Error::other)?;
    let mut request = Vec::with_capacity(HEADER_BYTES + body.len());
    request.extend(length.to_ne_bytes());
    request.extend(kind.to_ne_bytes());
    request.extend(flags.to_ne_bytes());
    request.extend(sequence.to_ne_bytes());
    // The kernel fills in the port.
    request.extend([0; 4]);
    request.extend(body);
    Ok(request)
}

fn too_long() -> io::Error {
    let problem = format!("a netlink message of more than {BUFFER_BYTES} B");
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// Converts the outcome of a request: a negative error number, or 0.
fn outcome(body: &[u8]) -> io::Result<()> {
    let error = body.first_chunk().map(|bytes| i32::from_ne_bytes(*bytes));
    match error {
        Some(0) => Ok(()),
        Some(errno) => Err(io::Error::from_raw_os_error(errno.saturating_neg())),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

struct Message<'a> {
    kind: u16,
    sequence: u32,
    body: &'a [u8],
}

fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let length = read_u32(bytes, 0)? as usize;
        let message = Message {
            kind: read_u16(bytes, 4)?,
            sequence: read_u32(bytes, 8)?,
            body: bytes.get(HEADER_BYTES..length)?,
        };
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// Returns the kind and the value of each attribute (`struct rtattr`), up to the first that is cut off.
pub(super) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    /// Mask of the kind. The two bits above it mean nested, and network byte order.
    const KIND: u16 = 0x3fff;
    std::iter::from_fn(move || {
        let length = usize::from(read_u16(bytes, 0)?);
        let kind = read_u16(bytes, 2)? & KIND;
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// Returns an attribute of at most 64 KiB, with the bytes that align the next one.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = Vec::with_capacity(usize::from(length).next_multiple_of(4));
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Returns the text of an attribute, which ends in a NUL.
pub(super) fn text(value: &[u8]) -> String {
    let end = value.iter().position(|&byte| byte == 0);
    String::from_utf8_lossy(&value[..end.unwrap_or(value.len())]).into_owned()
}

/// Reads the number of 16 bits at byte `at`, in the byte order of this machine. `None`: the message ends before.
pub(super) fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    field(bytes, at).map(u16::from_ne_bytes)
}

/// Reads the number of 32 bits at byte `at`, in the byte order of this machine. `None`: the message ends before.
pub(super) fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    field(bytes, at).map(u32::from_ne_bytes)
}

/// Reads the number of 64 bits at byte `at`, in the byte order of this machine. `None`: the message ends before.
pub(super) fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    field(bytes, at).map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_are_read_beyond_their_end(bytes in prop::collection::vec(0..40_u8, 0..200)) {
            prop_assert!(attributes(&bytes).count() <= bytes.len());
            prop_assert!(messages(&bytes).count() <= bytes.len());
        }
    }

    #[test]
    fn attributes_are_aligned_to_four_bytes() {
        let bytes = [
            attribute(3, b"lo\0"),
            attribute(0x8012, b"\x01\x02\x03\x04"),
        ]
        .concat();
        assert_eq!(bytes.len(), 16);
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!(found, [(3, &b"lo\0"[..]), (0x12, b"\x01\x02\x03\x04")]);
        assert_eq!(text(found[0].1), "lo");
    }

    #[test]
    fn the_kernels_refusal_is_an_error() {
        let mut route = Netlink::route().expect("everybody may");
        // `struct ifinfomsg` of an interface that does not exist.
        let mut body = [0; 16];
        body[4..8].copy_from_slice(&i32::MAX.to_ne_bytes());
        let refused = route.ask(libc::RTM_GETLINK, Scope::One, &body, |_| ());
        let code = refused.expect_err("no such interface").raw_os_error();
        assert_eq!(code, Some(libc::ENODEV));
    }
}
