//! Many datagrams per system call: arrays of `mmsghdr` for sendmmsg(2) and recvmmsg(2), and of one for
//! recvmsg(2) with its control messages.
//!
//! nix has these calls, too, but its `MultiHeaders` loses its control messages for ever after a message
//! that came without one, cannot be kept with its receive slices over a loop, and costs twice as many
//! instructions per datagram. This is the one place that keeps raw headers.

use std::io;
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;

use libc::{c_int, c_uint, c_void, iovec, mmsghdr, sockaddr_storage};
use socket2::SockAddr;

/// Datagrams of one content, to be sent many at a time.
pub struct SendBatch {
    headers: Vec<mmsghdr>,
    bytes_each: u64,
    /// What the headers point to: the boxes below never move, and nobody else has them.
    _payload: Box<[u8]>,
    _slice: Box<iovec>,
    _peer: Option<Box<SockAddr>>,
}

impl SendBatch {
    /// `count` times `payload`, to `peer`, or to where the socket is connected.
    pub fn new(payload: Vec<u8>, count: usize, peer: Option<SocketAddr>) -> Self {
        let mut payload = payload.into_boxed_slice();
        let mut slice = Box::new(iovec {
            iov_base: payload.as_mut_ptr().cast::<c_void>(),
            iov_len: payload.len(),
        });
        let peer = peer.map(|peer| Box::new(SockAddr::from(peer)));
        let mut header = empty_header();
        header.msg_hdr.msg_iov = &raw mut *slice;
        header.msg_hdr.msg_iovlen = 1;
        if let Some(peer) = &peer {
            // The kernel only reads it (sendmsg(2)).
            header.msg_hdr.msg_name = peer.as_ptr().cast_mut().cast::<c_void>();
            header.msg_hdr.msg_namelen = peer.len();
        }
        Self {
            headers: vec![header; count],
            bytes_each: payload.len() as u64,
            _payload: payload,
            _slice: slice,
            _peer: peer,
        }
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
    _slices: Box<[iovec]>,
    _buffers: Box<[u8]>,
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
            _slices: slices,
            _buffers: buffers,
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
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<(u64, u64)> {
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
        let lengths = self.headers[..received].iter();
        let bytes = lengths.map(|header| u64::from(header.msg_len)).sum();
        Ok((received as u64, bytes))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it is 128 (sockaddr(3type))"
)]
const ADDRESS_BYTES: u32 = size_of::<sockaddr_storage>() as u32;

/// The kernel takes no more than 1024 anyway (UIO_MAXIOV).
#[inline]
fn length(headers: &[mmsghdr]) -> c_uint {
    c_uint::try_from(headers.len()).unwrap_or(c_uint::MAX)
}

/// musl's has fields of padding that no literal can name.
fn empty_header() -> mmsghdr {
    #[expect(unsafe_code, reason = "padding differs between C libraries")]
    // SAFETY: the structure holds integers and pointers, for which zeros are valid.
    unsafe {
        mem::zeroed()
    }
}

fn empty_address() -> sockaddr_storage {
    #[expect(unsafe_code, reason = "padding differs between C libraries")]
    // SAFETY: the structure holds integers only.
    unsafe {
        mem::zeroed()
    }
}

/// One buffer for everything that UDP_GRO joined, with the control message that says how.
pub struct CoalescedReceive {
    header: mmsghdr,
    _slice: Box<iovec>,
    _buffer: Box<[u8]>,
    control: Box<Control>,
    _source: Option<Box<sockaddr_storage>>,
}

/// Space for the one control message that UDP_GRO sends, an `int` (udp(7)).
#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    segment_bytes: c_int,
    /// CMSG_SPACE rounds up.
    _padding: [usize; 1],
}

/// What UDP_GRO joins is at most one IP packet long.
const MOST_BYTES: usize = 65_535;

impl CoalescedReceive {
    /// One buffer; with the address of the sender, if `with_source`.
    pub fn new(with_source: bool) -> Self {
        let mut buffer = vec![0; MOST_BYTES].into_boxed_slice();
        let mut slice = Box::new(iovec {
            iov_base: buffer.as_mut_ptr().cast::<c_void>(),
            iov_len: buffer.len(),
        });
        #[expect(unsafe_code, reason = "padding differs between C libraries")]
        // SAFETY: the structure holds integers only.
        let mut control: Box<Control> = Box::new(unsafe { mem::zeroed() });
        let mut source = with_source.then(|| Box::new(empty_address()));
        let mut header = empty_header();
        header.msg_hdr.msg_iov = &raw mut *slice;
        header.msg_hdr.msg_iovlen = 1;
        header.msg_hdr.msg_control = (&raw mut *control).cast::<c_void>();
        if let Some(source) = &mut source {
            header.msg_hdr.msg_name = (&raw mut **source).cast::<c_void>();
            header.msg_hdr.msg_namelen = ADDRESS_BYTES;
        }
        Self {
            header,
            _slice: slice,
            _buffer: buffer,
            control,
            _source: source,
        }
    }

    /// Takes one buffer full of datagrams: how many, and their payload.
    ///
    /// # Errors
    /// What the system said.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "musl counts these few bytes in 32 bits"
    )]
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<(u64, u64)> {
        let header = &mut self.header.msg_hdr;
        // The kernel wrote how long the message was, and 0 if there was none.
        header.msg_controllen = size_of::<Control>() as _;
        #[expect(unsafe_code, reason = "the call takes a raw header")]
        // SAFETY: the header points to memory that `self` owns, that does not move, and that is as long
        // as it says; any bytes are valid there (recvmsg(2)).
        let received = unsafe { libc::recvmsg(socket.as_raw_fd(), header, 0) };
        let bytes = u64::try_from(received).map_err(|_| io::Error::last_os_error())?;
        Ok((self.segments(bytes), bytes))
    }

    fn segments(&self, bytes: u64) -> u64 {
        let control = &*self.control;
        let is_ours = self.header.msg_hdr.msg_controllen > 0
            && control.header.cmsg_level == libc::SOL_UDP
            && control.header.cmsg_type == libc::UDP_GRO;
        match u64::try_from(control.segment_bytes) {
            Ok(segment @ 1..) if is_ours => bytes.div_ceil(segment),
            _ => 1,
        }
    }
}
