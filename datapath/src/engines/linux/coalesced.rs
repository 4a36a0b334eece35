//! Receives GRO aggregates: one buffer and one control message for recvmsg(2), with raw headers as in
//! [`super::receive_batch`].

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;

use libc::{c_int, c_void, iovec, mmsghdr, msghdr};

use super::FixedBuffer;
use super::ReceiveMany;
use crate::engine::payload::{Check, Origin};
use crate::engine::{BatchCount, ControlMemory, ControlReader, IoOptions};
use crate::sys::messages::{self, SourceMemory};

/// A buffer for one GRO aggregate and for the control message with its segment size.
pub struct CoalescedReceive {
    /// The header points into the buffers below.
    header: mmsghdr,
    buffer: FixedBuffer<u8>,
    /// Memory for that message, and for others.
    controls: FixedBuffer<ControlMemory>,
    /// Length of that memory, in bytes.
    control_bytes: usize,
    reader: Option<ControlReader>,
    /// Kept alive for the header.
    _iovec: FixedBuffer<iovec>,
    /// Source address. `None`: the socket is connected.
    source: Option<FixedBuffer<SourceMemory>>,
}

#[expect(unsafe_code, reason = "a raw header holds pointers")]
// SAFETY: the pointers lead to memory that `self` owns.
unsafe impl Send for CoalescedReceive {}

/// The control message of UDP_GRO, an `int` (udp(7)).
#[repr(C)]
struct SegmentSizeMessage {
    header: libc::cmsghdr,
    segment_bytes: c_int,
    /// Makes the memory as long and as aligned as CMSG_SPACE requires: the kernel pads to the size of a `long`, and
    /// the `cmsghdr` of musl on 64 bits is aligned to 4 bytes only.
    _padding: [usize; 1],
}

/// Maximum size of a GRO aggregate in bytes: one IP packet.
const MOST_BYTES: usize = 65_535;

impl CoalescedReceive {
    /// Creates the buffer. On unconnected sockets it also receives the source address.
    ///
    /// # Errors
    /// Fails if the socket has no such control messages.
    pub fn new(options: &IoOptions, socket: &impl AsFd) -> io::Result<Self> {
        let reader = options.control_reader(socket)?;
        Ok(Self::with_reader(reader, options.is_connected()))
    }

    fn with_reader(reader: Option<ControlReader>, is_connected: bool) -> Self {
        let buffer = FixedBuffer::new(vec![0; MOST_BYTES]);
        let iovec = FixedBuffer::new([iovec {
            iov_base: buffer.at(0).cast::<c_void>(),
            iov_len: buffer.len(),
        }]);
        let source = (!is_connected).then(|| FixedBuffer::new([SourceMemory::EMPTY]));
        let mut header = messages::zeroed();
        header.msg_hdr.msg_iov = iovec.at(0);
        header.msg_hdr.msg_iovlen = 1;
        let controls = FixedBuffer::new([ControlMemory::EMPTY]);
        header.msg_hdr.msg_control = controls.at(0).cast::<c_void>();
        if let Some(source) = &source {
            header.msg_hdr.msg_name = source.at(0).cast::<c_void>();
            header.msg_hdr.msg_namelen = SourceMemory::BYTES;
        }
        Self {
            header,
            buffer,
            controls,
            control_bytes: match reader {
                None => size_of::<SegmentSizeMessage>(),
                Some(_) => ControlMemory::BYTES,
            },
            reader,
            _iovec: iovec,
            source,
        }
    }

    /// Checks and counts the datagrams in the first `bytes` of the buffer.
    #[inline]
    fn check_and_count<C: Check>(&mut self, bytes: usize, check: &mut C) -> BatchCount {
        let segment_bytes = match &mut self.reader {
            None => self.segment_bytes(),
            Some(reader) => read(reader, &self.header.msg_hdr, &self.controls[0]),
        };
        let segment_bytes = segment_bytes.unwrap_or(bytes.max(1));
        if C::READS_PAYLOAD {
            // All segments but the last have that size (udp(7)).
            let datagrams = self.buffer[..bytes].chunks(segment_bytes);
            let source = self.source.as_ref().and_then(|source| source[0].address());
            datagrams.for_each(|datagram| check.check(datagram, Origin::of(source)));
        }
        // An empty datagram counts as one.
        let packets = bytes.div_ceil(segment_bytes).max(1);
        BatchCount::of(packets as u64, bytes as u64)
    }

    /// Returns the segment size in bytes. `None`: a single datagram was received.
    #[inline]
    fn segment_bytes(&self) -> Option<usize> {
        #[expect(unsafe_code, reason = "the kernel writes the message as its own type")]
        // SAFETY: the memory is longer than the message, aligned to 8 bytes, and any integers are valid in it.
        let control = unsafe { &*self.controls.at(0).cast::<SegmentSizeMessage>() };
        let is_ours = self.header.msg_hdr.msg_controllen > 0
            && control.header.cmsg_level == libc::SOL_UDP
            && control.header.cmsg_type == libc::UDP_GRO;
        let segment_bytes = usize::try_from(control.segment_bytes).ok()?;
        (is_ours && segment_bytes > 0).then_some(segment_bytes)
    }
}

/// Reads all control messages. Returns the segment size in bytes, as [`CoalescedReceive::segment_bytes`].
#[inline(never)]
#[allow(
    clippy::unnecessary_cast,
    reason = "the type of the length differs between C libraries"
)]
fn read(reader: &mut ControlReader, header: &msghdr, memory: &ControlMemory) -> Option<usize> {
    let length = (header.msg_controllen as usize).min(ControlMemory::BYTES);
    let segment_bytes = reader.read(header.msg_flags, &memory.0[..length]);
    segment_bytes.filter(|&bytes| bytes > 0)
}

impl ReceiveMany for CoalescedReceive {
    /// Receives one GRO aggregate or a single datagram.
    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "musl counts these few bytes in 32 bits"
    )]
    fn receive<C: Check>(&mut self, socket: &UdpSocket, check: &mut C) -> io::Result<BatchCount> {
        let header = &mut self.header.msg_hdr;
        // The kernel overwrote the length at the last call, with 0 if there was no control message.
        header.msg_controllen = self.control_bytes as _;
        #[expect(unsafe_code, reason = "the call takes a raw header")]
        // SAFETY: the header points to memory that `self` owns, that does not move and that has the stated lengths;
        // any bytes are valid there (recvmsg(2)).
        let bytes = unsafe { messages::receive_one(socket, header) }?;
        Ok(self.check_and_count(bytes, check))
    }

    fn check_controls(&self) -> io::Result<()> {
        self.reader.as_ref().map_or(Ok(()), ControlReader::verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::payload::tests::Collected;
    use crate::engines::linux::gso;

    /// Returns the lengths of the datagrams shown to the check, and the count.
    fn shown(aggregate: &mut CoalescedReceive, bytes: usize) -> (Vec<usize>, BatchCount) {
        let mut seen = Collected::default();
        let moved = aggregate.check_and_count(bytes, &mut seen);
        (seen.0.iter().map(Vec::len).collect(), moved)
    }

    /// Returns a buffer with the kernel's control message for segments of `segment_bytes`.
    fn aggregate_of(segment_bytes: c_int) -> CoalescedReceive {
        let mut aggregate = CoalescedReceive::with_reader(None, false);
        let header = &mut aggregate.header.msg_hdr;
        header.msg_controllen = size_of::<SegmentSizeMessage>() as _;
        let control = header.msg_control.cast::<SegmentSizeMessage>();
        #[expect(unsafe_code, reason = "writes through the pointers, like the kernel")]
        // SAFETY: the buffer lives, and its header points to a control message of this type.
        unsafe {
            (*control).header.cmsg_level = libc::SOL_UDP;
            (*control).header.cmsg_type = libc::UDP_GRO;
            (*control).segment_bytes = segment_bytes;
        }
        aggregate
    }

    #[test]
    fn the_last_datagram_of_an_aggregate_may_be_shorter() {
        let mut aggregate = Box::new(aggregate_of(300));
        assert_eq!(
            shown(&mut aggregate, 1000),
            (vec![300, 300, 300, 100], BatchCount::of(4, 1000))
        );
        assert_eq!(
            shown(&mut aggregate, 600),
            (vec![300, 300], BatchCount::of(2, 600))
        );
        assert_eq!(shown(&mut aggregate, 7), (vec![7], BatchCount::of(1, 7)));
    }

    #[test]
    fn without_a_control_message_there_is_one_datagram() {
        let mut aggregate = CoalescedReceive::with_reader(None, true);
        assert_eq!(
            shown(&mut aggregate, 1000),
            (vec![1000], BatchCount::of(1, 1000))
        );
        assert_eq!(shown(&mut aggregate, 0).1, BatchCount::of(1, 0));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no sockets")]
    fn the_kernel_tells_the_segment_size_of_an_aggregate() {
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
        let mut aggregate = CoalescedReceive::with_reader(None, false);
        let moved = aggregate
            .receive(&receiver, &mut seen)
            .expect("it is there");
        assert_eq!(moved, BatchCount::of(4, 1000));
        let sizes: Vec<usize> = seen.0.iter().map(Vec::len).collect();
        assert_eq!(sizes, [300, 300, 300, 100]);
    }
}
