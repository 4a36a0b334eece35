//! Receives GRO aggregates: one buffer and its control message for recvmsg(2), with raw headers as in
//! [`super::batch`].

use std::io;
use std::mem;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use libc::{c_int, c_void, iovec, mmsghdr};

use super::batch::empty_header;
use super::source::Source;
use super::stable::Stable;
use crate::engine::Burst;
use crate::engine::payload::{Check, Origin};

/// A buffer for one GRO aggregate, with the control message that tells the segment size.
pub struct CoalescedReceive {
    header: mmsghdr,
    /// Memory that the header points to.
    buffer: Stable<u8>,
    control: Stable<Control>,
    _slice: Stable<iovec>,
    source: Option<Stable<Source>>,
}

#[expect(unsafe_code, reason = "a raw header holds pointers")]
// SAFETY: the pointers lead to memory that `self` owns.
unsafe impl Send for CoalescedReceive {}

/// Memory for the only control message of UDP_GRO, an `int` (udp(7)).
#[repr(C)]
struct Control {
    header: libc::cmsghdr,
    segment_bytes: c_int,
    /// Padding, since CMSG_SPACE rounds up.
    _padding: [usize; 1],
}

/// Maximum size of a GRO aggregate in bytes: one IP packet.
const MOST_BYTES: usize = 65_535;

impl CoalescedReceive {
    /// Creates the buffer, with memory for the source address if `with_source`.
    pub fn new(with_source: bool) -> Self {
        let buffer = Stable::new(vec![0; MOST_BYTES]);
        let slice = Stable::one(iovec {
            iov_base: buffer.at(0).cast::<c_void>(),
            iov_len: buffer.len(),
        });
        #[expect(unsafe_code, reason = "padding differs between C libraries")]
        // SAFETY: the structure holds integers only.
        let control: Stable<Control> = Stable::one(unsafe { mem::zeroed() });
        let source = with_source.then(|| Stable::one(Source::EMPTY));
        let mut header = empty_header();
        header.msg_hdr.msg_iov = slice.at(0);
        header.msg_hdr.msg_iovlen = 1;
        header.msg_hdr.msg_control = control.at(0).cast::<c_void>();
        if let Some(source) = &source {
            header.msg_hdr.msg_name = source.at(0).cast::<c_void>();
            header.msg_hdr.msg_namelen = Source::BYTES;
        }
        Self {
            header,
            buffer,
            control,
            _slice: slice,
            source,
        }
    }

    /// Receives one GRO aggregate or a single datagram.
    ///
    /// # Errors
    /// Returns the error of the system call.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "musl counts these few bytes in 32 bits"
    )]
    pub fn receive<I: Check>(&mut self, socket: &UdpSocket, check: &mut I) -> io::Result<Burst> {
        let header = &mut self.header.msg_hdr;
        // The kernel overwrote the length at the last call, with 0 if there was no control message.
        header.msg_controllen = size_of::<Control>() as _;
        #[expect(unsafe_code, reason = "the call takes a raw header")]
        // SAFETY: the header points to memory that `self` owns, that does not move and that has the stated lengths;
        // any bytes are valid there (recvmsg(2)).
        let received = unsafe { libc::recvmsg(socket.as_raw_fd(), header, 0) };
        let bytes = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        Ok(self.show(bytes, check))
    }

    /// Shows the datagrams in the first `bytes` of the buffer to `check`, and counts them.
    #[inline]
    fn show<I: Check>(&self, bytes: usize, check: &mut I) -> Burst {
        let segment_bytes = self.segment_bytes().unwrap_or(bytes.max(1));
        if I::LOOKS {
            // All segments but the last have that size (udp(7)).
            let datagrams = self.buffer[..bytes].chunks(segment_bytes);
            let source = self.source.as_ref().and_then(|source| source[0].address());
            datagrams.for_each(|datagram| check.check(datagram, Origin::of(source)));
        }
        // An empty datagram counts as one.
        let packets = bytes.div_ceil(segment_bytes).max(1);
        Burst::of(packets as u64, bytes as u64)
    }

    /// Returns the segment size in bytes if the kernel joined several datagrams.
    #[inline]
    fn segment_bytes(&self) -> Option<usize> {
        let control = &self.control[0];
        let is_ours = self.header.msg_hdr.msg_controllen > 0
            && control.header.cmsg_level == libc::SOL_UDP
            && control.header.cmsg_type == libc::UDP_GRO;
        let segment_bytes = usize::try_from(control.segment_bytes).ok()?;
        (is_ours && segment_bytes > 0).then_some(segment_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::payload::tests::Collected;
    use crate::engines::linux::gso;

    /// Returns the lengths of the datagrams shown to the check, and the count.
    fn shown(piece: &CoalescedReceive, bytes: usize) -> (Vec<usize>, Burst) {
        let mut seen = Collected::default();
        let burst = piece.show(bytes, &mut seen);
        (seen.0.iter().map(Vec::len).collect(), burst)
    }

    /// Returns a buffer with the kernel's control message for segments of `segment_bytes`.
    fn joined(segment_bytes: c_int) -> CoalescedReceive {
        let mut piece = CoalescedReceive::new(true);
        let header = &mut piece.header.msg_hdr;
        header.msg_controllen = size_of::<Control>() as _;
        let control = header.msg_control.cast::<Control>();
        #[expect(unsafe_code, reason = "the kernel's part")]
        // SAFETY: the buffer lives, and its header points to a control message of this type.
        unsafe {
            (*control).header.cmsg_level = libc::SOL_UDP;
            (*control).header.cmsg_type = libc::UDP_GRO;
            (*control).segment_bytes = segment_bytes;
        }
        piece
    }

    #[test]
    fn the_last_datagram_of_a_piece_may_be_shorter() {
        let piece = Box::new(joined(300));
        assert_eq!(
            shown(&piece, 1000),
            (vec![300, 300, 300, 100], Burst::of(4, 1000))
        );
        assert_eq!(shown(&piece, 600), (vec![300, 300], Burst::of(2, 600)));
        assert_eq!(shown(&piece, 7), (vec![7], Burst::of(1, 7)));
    }

    #[test]
    fn what_was_not_joined_is_one_datagram() {
        let piece = CoalescedReceive::new(false);
        assert_eq!(shown(&piece, 1000), (vec![1000], Burst::of(1, 1000)));
        assert_eq!(shown(&piece, 0).1, Burst::of(1, 0));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no sockets")]
    fn the_kernel_says_how_long_the_datagrams_of_a_train_are() {
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (sender, receiver) = (bind(), bind());
        if gso::cut(&sender, 300)
            .and_then(|()| gso::join(&receiver))
            .is_err()
        {
            eprintln!("SKIPPED: no UDP_SEGMENT or UDP_GRO");
            return;
        }
        let address = receiver.local_addr().expect("bound");
        sender
            .send_to(&[7; 1000], address)
            .expect("loopback takes it");
        let mut seen = Collected::default();
        let mut piece = CoalescedReceive::new(true);
        let burst = piece.receive(&receiver, &mut seen).expect("it is there");
        assert_eq!(burst, Burst::of(4, 1000));
        let sizes: Vec<usize> = seen.0.iter().map(Vec::len).collect();
        assert_eq!(sizes, [300, 300, 300, 100]);
    }
}
