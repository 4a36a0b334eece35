//! Many datagrams per system call: arrays of `mmsghdr` for sendmmsg(2) and recvmmsg(2).
//!
//! nix has these calls, too, but its `MultiHeaders` loses its control messages for ever after a message
//! that came without one, cannot be kept with its receive slices over a loop, and costs twice as many
//! instructions per datagram. Only here and in [`super::coalesced`] are raw headers kept.

use std::io;
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;

use libc::{c_uint, c_void, iovec, mmsghdr, msghdr, sockaddr_storage};
use socket2::SockAddr;

use crate::content::{Inspect, Stamp};

/// Datagrams to be sent many at a time.
pub struct SendBatch {
    headers: Vec<mmsghdr>,
    bytes_each: u64,
    /// What the headers point to: the boxes below never move, and nobody else has them.
    payloads: Box<[u8]>,
    slices: Box<[iovec]>,
    _peer: Option<Box<SockAddr>>,
}

impl SendBatch {
    /// `count` datagrams of `bytes_each`, to `peer`, or to where the socket is connected. `payloads` holds
    /// one after the other, or a single one for all of them.
    pub fn new(
        payloads: Vec<u8>,
        bytes_each: usize,
        count: usize,
        peer: Option<SocketAddr>,
    ) -> Self {
        let mut payloads = payloads.into_boxed_slice();
        let last = payloads.len().saturating_sub(bytes_each);
        // Those that share a payload share its description, too: the less memory for the kernel to read.
        let start = payloads.as_mut_ptr();
        let slice = |at: usize| iovec {
            iov_base: start.wrapping_add(at).cast::<c_void>(),
            iov_len: bytes_each,
        };
        let mut slices: Box<[iovec]> = (0..=last).step_by(bytes_each.max(1)).map(slice).collect();
        let peer = peer.map(|peer| Box::new(SockAddr::from(peer)));
        let shared = slices.len() == 1;
        let header = |n: usize| {
            let mut header = empty_header();
            header.msg_hdr.msg_iov = &raw mut slices[if shared { 0 } else { n }];
            header.msg_hdr.msg_iovlen = 1;
            if let Some(peer) = &peer {
                // The kernel only reads it (sendmsg(2)).
                header.msg_hdr.msg_name = peer.as_ptr().cast_mut().cast::<c_void>();
                header.msg_hdr.msg_namelen = peer.len();
            }
            header
        };
        Self {
            headers: (0..count).map(header).collect(),
            bytes_each: bytes_each as u64,
            payloads,
            slices,
            _peer: peer,
        }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.headers.len()
    }

    /// Payload of each, in bytes.
    pub fn bytes_each(&self) -> u64 {
        self.bytes_each
    }

    /// For each, what is handed to sendmsg(2), and where its payload starts: good for as long as `self` lives.
    pub fn messages(&self) -> impl Iterator<Item = (&msghdr, *const u8)> {
        let headers = self.headers.iter().enumerate();
        headers.map(|(n, header)| {
            (
                &header.msg_hdr,
                self.slice(n).iov_base.cast::<u8>().cast_const(),
            )
        })
    }

    fn slice(&self, n: usize) -> &iovec {
        self.slices.get(n).unwrap_or(&self.slices[0])
    }

    /// Prepares what the next burst holds.
    #[inline]
    pub fn stamp(&mut self, stamp: &impl Stamp) {
        stamp.stamp(&mut self.payloads);
    }

    /// Sends as many as the kernel takes in one call, and returns how many that were, and their payload.
    ///
    /// # Errors
    /// When not even the first one could be sent.
    #[inline]
    pub fn send(&mut self, socket: &UdpSocket) -> io::Result<(u64, u64)> {
        #[expect(unsafe_code, reason = "the call takes an array of raw headers")]
        // SAFETY: the headers are as many as it is told, and point to memory that `self` owns and that
        // does not move; the kernel reads it, and writes nothing but `msg_len` of each (sendmmsg(2)).
        let sent = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                length(&self.headers),
                0,
            )
        };
        let sent = u64::try_from(sent).map_err(|_| io::Error::last_os_error())?;
        Ok((sent, sent * self.bytes_each))
    }
}

/// Buffers for many datagrams at a time.
pub struct ReceiveBatch {
    headers: Vec<mmsghdr>,
    bytes_each: usize,
    _slices: Box<[iovec]>,
    buffers: Box<[u8]>,
    _sources: Box<[sockaddr_storage]>,
}

impl ReceiveBatch {
    /// `count` buffers of `bytes_each`; with the address of each sender, if `with_sources`.
    pub fn new(bytes_each: usize, count: usize, with_sources: bool) -> Self {
        let mut buffers = vec![0; bytes_each * count].into_boxed_slice();
        // Of no length, the buffers still need an address each.
        let start = buffers.as_mut_ptr();
        let slice = |n: usize| iovec {
            iov_base: start.wrapping_add(n * bytes_each).cast::<c_void>(),
            iov_len: bytes_each,
        };
        let mut slices: Box<[iovec]> = (0..count).map(slice).collect();
        let mut sources = vec![empty_address(); if with_sources { count } else { 0 }];
        let header = |n: usize| {
            let mut header = empty_header();
            header.msg_hdr.msg_iov = &raw mut slices[n];
            header.msg_hdr.msg_iovlen = 1;
            if let Some(source) = sources.get_mut(n) {
                header.msg_hdr.msg_name = ptr::from_mut(source).cast::<c_void>();
                header.msg_hdr.msg_namelen = ADDRESS_BYTES;
            }
            header
        };
        Self {
            headers: (0..count).map(header).collect(),
            bytes_each,
            _slices: slices,
            buffers,
            _sources: sources.into_boxed_slice(),
        }
    }

    /// Waits for one datagram and takes those that are there besides, in one call. Returns how many, and
    /// their payload.
    ///
    /// The length of an address is left as the kernel set it: it is the same the next time, since a
    /// socket has addresses of one family only.
    ///
    /// # Errors
    /// When not even one came.
    #[inline]
    pub fn receive<I: Inspect>(
        &mut self,
        socket: &UdpSocket,
        inspect: &mut I,
    ) -> io::Result<(u64, u64)> {
        #[expect(unsafe_code, reason = "the call takes an array of raw headers")]
        // SAFETY: the headers are as many as it is told, and point to memory that `self` owns, that does
        // not move, and that is as long as they say; any bytes are valid there (recvmmsg(2)).
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                length(&self.headers),
                libc::MSG_WAITFORONE as _,
                ptr::null_mut(),
            )
        };
        let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        if I::LOOKS {
            let datagrams = self.buffers.chunks_exact(self.bytes_each);
            for (header, datagram) in self.headers[..received].iter().zip(datagrams) {
                inspect.inspect(&datagram[..header.msg_len as usize]);
            }
        }
        let lengths = self.headers[..received].iter();
        let bytes = lengths.map(|header| u64::from(header.msg_len)).sum();
        Ok((received as u64, bytes))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it is 128 (sockaddr(3type))"
)]
pub(super) const ADDRESS_BYTES: u32 = size_of::<sockaddr_storage>() as u32;

/// The kernel takes no more than 1024 anyway (UIO_MAXIOV).
#[inline]
fn length(headers: &[mmsghdr]) -> c_uint {
    c_uint::try_from(headers.len()).unwrap_or(c_uint::MAX)
}

/// musl's has fields of padding that no literal can name.
pub(super) fn empty_header() -> mmsghdr {
    #[expect(unsafe_code, reason = "padding differs between C libraries")]
    // SAFETY: the structure holds integers and pointers, for which zeros are valid.
    unsafe {
        mem::zeroed()
    }
}

pub(super) fn empty_address() -> sockaddr_storage {
    #[expect(unsafe_code, reason = "padding differs between C libraries")]
    // SAFETY: the structure holds integers only.
    unsafe {
        mem::zeroed()
    }
}
