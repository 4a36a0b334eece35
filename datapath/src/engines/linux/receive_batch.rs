//! Receives with recvmmsg(2): many datagrams per call into preallocated buffers, on unconnected sockets with their
//! source addresses, with `--cmsg` also with their control messages.
//!
//! nix also has these calls. But its `MultiHeaders` permanently loses its control messages after a message that came
//! without one, cannot be kept with its receive slices over a loop, costs twice the instructions per datagram, and
//! calls the C library, which [does something else](crate::sys::messages). Raw headers are used only here and in
//! [`super::coalesced`], [`super::send_batch`].

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;

use libc::{c_void, iovec, mmsghdr};

use crate::engine::payload::{Check, Origin};
use crate::engine::{BatchCount, ControlMemory, ControlReader, IoOptions};
use crate::engines::linux::FixedBuffer;
use crate::engines::linux::ReceiveMany;
use crate::sys::messages::{self, SourceMemory};

/// Buffers for the datagrams of one recvmmsg(2).
pub struct ReceiveBatch {
    /// The headers point into the buffers below.
    headers: FixedBuffer<mmsghdr>,
    bytes_each: usize,
    /// Payloads, one after the other.
    buffers: FixedBuffer<u8>,
    /// Kept alive for the headers.
    _iovecs: FixedBuffer<iovec>,
    /// Source addresses. Empty on connected sockets.
    sources: FixedBuffer<SourceMemory>,
    /// Memory for control messages. Empty if there are none.
    controls: FixedBuffer<ControlMemory>,
    reader: Option<ControlReader>,
}

#[expect(unsafe_code, reason = "raw headers hold pointers")]
// SAFETY: the pointers lead to memory that `self` owns.
unsafe impl Send for ReceiveBatch {}

impl ReceiveBatch {
    /// Creates the buffers for one call; none if nothing is received.
    ///
    /// # Errors
    /// Fails if the socket has no such control messages.
    pub fn from_options(options: &IoOptions, socket: &impl AsFd) -> io::Result<Self> {
        let count = if options.direction.receives() {
            options.batch
        } else {
            0
        };
        let source_count = if options.is_connected() { 0 } else { count };
        let reader = options.control_reader(socket)?;
        Ok(Self::with_buffers(
            options.buffer_bytes,
            count,
            source_count,
            reader,
        ))
    }

    /// Creates `count` buffers of `bytes_each` bytes, the first `source_count` of them with a source address.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "musl counts these few bytes in 32 bits"
    )]
    fn with_buffers(
        bytes_each: usize,
        count: usize,
        source_count: usize,
        reader: Option<ControlReader>,
    ) -> Self {
        let buffers = FixedBuffer::new(vec![0; bytes_each * count]);
        let iovec = |n: usize| iovec {
            iov_base: buffers.at(n * bytes_each).cast::<c_void>(),
            iov_len: bytes_each,
        };
        let iovecs = FixedBuffer::new((0..count).map(iovec).collect::<Vec<_>>());
        let sources = FixedBuffer::new(vec![SourceMemory::EMPTY; source_count]);
        let controls = vec![ControlMemory::EMPTY; if reader.is_some() { count } else { 0 }];
        let controls = FixedBuffer::new(controls);
        let header = |n: usize| {
            let mut header = messages::zeroed();
            header.msg_hdr.msg_iov = iovecs.at(n);
            header.msg_hdr.msg_iovlen = 1;
            if n < source_count {
                header.msg_hdr.msg_name = sources.at(n).cast::<c_void>();
                header.msg_hdr.msg_namelen = SourceMemory::BYTES;
            }
            if reader.is_some() {
                header.msg_hdr.msg_control = controls.at(n).cast::<c_void>();
                header.msg_hdr.msg_controllen = ControlMemory::BYTES as _;
            }
            header
        };
        Self {
            headers: FixedBuffer::new((0..count).map(header).collect::<Vec<_>>()),
            bytes_each,
            buffers,
            _iovecs: iovecs,
            sources,
            controls,
            reader,
        }
    }

    /// Checks and counts the datagrams in the first `received` buffers.
    #[inline]
    fn check_and_count<C: Check>(&mut self, received: usize, check: &mut C) -> BatchCount {
        if self.reader.is_some() {
            self.read_controls(received);
        }
        let headers = &self.headers[..received];
        if C::READS_PAYLOAD {
            for (n, header) in headers.iter().enumerate() {
                let source = self.sources.get(n).and_then(SourceMemory::address);
                let datagram = &self.buffers[n * self.bytes_each..][..header.msg_len as usize];
                check.check(datagram, Origin::of(source));
            }
        }
        let bytes = headers.iter().map(|header| u64::from(header.msg_len)).sum();
        BatchCount::of(received as u64, bytes)
    }

    /// Reads the control messages of the first `received` datagrams, and prepares their headers for the next call.
    #[inline(never)]
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_possible_truncation,
        reason = "musl counts these few bytes in 32 bits"
    )]
    fn read_controls(&mut self, received: usize) {
        let Some(reader) = &mut self.reader else {
            return;
        };
        let headers = &mut self.headers[..received];
        for (header, memory) in headers.iter_mut().zip(self.controls.iter()) {
            let header = &mut header.msg_hdr;
            let length = (header.msg_controllen as usize).min(ControlMemory::BYTES);
            reader.read(header.msg_flags, &memory.0[..length]);
            header.msg_controllen = ControlMemory::BYTES as _;
        }
    }
}

impl ReceiveMany for ReceiveBatch {
    /// Waits for one datagram and takes all others that are there, in one call.
    ///
    /// `msg_namelen` is not reset between calls: all addresses of a socket are of one family, so of one length.
    #[inline]
    fn receive<C: Check>(&mut self, socket: &UdpSocket, check: &mut C) -> io::Result<BatchCount> {
        #[expect(unsafe_code, reason = "the call takes an array of raw headers")]
        // SAFETY: the count is that of the headers. They point to memory that `self` owns, that does not move and
        // that has the stated lengths; any bytes are valid there (recvmmsg(2)).
        let received = unsafe {
            let (headers, count) = (self.headers.at(0), self.headers.len());
            messages::receive_many(socket, headers, count, libc::MSG_WAITFORONE)
        }?;
        Ok(self.check_and_count(received, check))
    }

    fn check_controls(&self) -> io::Result<()> {
        self.reader.as_ref().map_or(Ok(()), ControlReader::verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::payload::tests::Collected;

    #[test]
    fn empty_datagrams_are_checked_and_counted() {
        let mut batch = ReceiveBatch::with_buffers(0, 4, 0, None);
        let mut seen = Collected::default();
        assert_eq!(batch.check_and_count(2, &mut seen), BatchCount::of(2, 0));
        assert_eq!(seen.0, [Vec::new(), Vec::new()] as [Vec<u8>; 2]);
    }

    #[test]
    fn datagrams_written_through_the_headers_are_checked() {
        let mut batch = Box::new(ReceiveBatch::with_buffers(8, 4, 4, None));
        for (n, letter) in (0_u32..3).zip(*b"abc") {
            #[expect(unsafe_code, reason = "writes through the pointers, like the kernel")]
            // SAFETY: the batch lives, and each of its buffers has 8 bytes.
            unsafe {
                let header = &mut *batch.headers.at(n as usize);
                let iovec = &*header.msg_hdr.msg_iov;
                iovec
                    .iov_base
                    .cast::<u8>()
                    .write_bytes(letter, n as usize + 1);
                let source = header.msg_hdr.msg_name.cast::<SourceMemory>();
                source.write(SourceMemory::EMPTY);
                header.msg_len = n + 1;
            }
        }
        let mut seen = Collected::default();
        assert_eq!(batch.check_and_count(3, &mut seen), BatchCount::of(3, 6));
        assert_eq!(seen.0, [b"a".to_vec(), b"bb".to_vec(), b"ccc".to_vec()]);
    }
}
