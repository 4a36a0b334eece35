//! What the kernel joined: one buffer and its control message for recvmsg(2), with raw headers as in [`super::batch`].

use std::io;
use std::mem;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use libc::{c_int, c_void, iovec, mmsghdr, sockaddr_storage};

use super::batch::{ADDRESS_BYTES, empty_address, empty_header};
use crate::content::Inspect;

/// One buffer for everything that UDP_GRO joined, with the control message that says how.
pub struct CoalescedReceive {
    header: mmsghdr,
    _slice: Box<iovec>,
    buffer: Box<[u8]>,
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
            buffer,
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
    pub fn receive<I: Inspect>(
        &mut self,
        socket: &UdpSocket,
        inspect: &mut I,
    ) -> io::Result<(u64, u64)> {
        let header = &mut self.header.msg_hdr;
        // The kernel wrote how long the message was, and 0 if there was none.
        header.msg_controllen = size_of::<Control>() as _;
        #[expect(unsafe_code, reason = "the call takes a raw header")]
        // SAFETY: the header points to memory that `self` owns, that does not move, and that is as long
        // as it says; any bytes are valid there (recvmsg(2)).
        let received = unsafe { libc::recvmsg(socket.as_raw_fd(), header, 0) };
        let bytes = u64::try_from(received).map_err(|_| io::Error::last_os_error())?;
        let packets = self.segments(bytes);
        if I::LOOKS && bytes > 0 {
            // All but the last are of one size (udp(7)).
            let each = bytes.div_ceil(packets);
            let datagrams = self.buffer[..bytes as usize].chunks(each as usize);
            datagrams.for_each(|datagram| inspect.inspect(datagram));
        }
        Ok((packets, bytes))
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
