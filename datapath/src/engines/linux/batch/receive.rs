//! Receives many datagrams per call: a buffer for each, and its source address on unconnected sockets.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::ptr;

use libc::{c_void, iovec, mmsghdr};

use super::{empty_header, length};
use crate::engine::payload::{Check, Origin};
use crate::engine::{Addressing, Burst, IoOptions};
use crate::engines::linux::source::Source;
use crate::engines::linux::stable::Stable;

/// Buffers for the datagrams of one call.
pub struct ReceiveBatch {
    headers: Stable<mmsghdr>,
    bytes_each: usize,
    /// Memory that the headers point to.
    buffers: Stable<u8>,
    _slices: Stable<iovec>,
    sources: Stable<Source>,
}

#[expect(unsafe_code, reason = "raw headers hold pointers")]
// SAFETY: the pointers lead to memory that `self` owns.
unsafe impl Send for ReceiveBatch {}

impl ReceiveBatch {
    /// Creates the buffers for one call; none if nothing is received.
    pub fn of<A: Addressing>(options: &IoOptions) -> Self {
        let count = if options.direction.receives() {
            options.batch
        } else {
            0
        };
        Self::new(options.buffer_bytes, count, !A::CONNECTED)
    }

    /// Creates `count` buffers of `bytes_each` bytes, with the source address of each datagram if `with_sources`.
    pub fn new(bytes_each: usize, count: usize, with_sources: bool) -> Self {
        let buffers = Stable::new(vec![0; bytes_each * count]);
        let slice = |n: usize| iovec {
            iov_base: buffers.at(n * bytes_each).cast::<c_void>(),
            iov_len: bytes_each,
        };
        let slices = Stable::new((0..count).map(slice).collect::<Vec<_>>());
        let sources = vec![Source::EMPTY; if with_sources { count } else { 0 }];
        let sources = Stable::new(sources);
        let header = |n: usize| {
            let mut header = empty_header();
            header.msg_hdr.msg_iov = slices.at(n);
            header.msg_hdr.msg_iovlen = 1;
            if with_sources {
                header.msg_hdr.msg_name = sources.at(n).cast::<c_void>();
                header.msg_hdr.msg_namelen = Source::BYTES;
            }
            header
        };
        Self {
            headers: Stable::new((0..count).map(header).collect::<Vec<_>>()),
            bytes_each,
            buffers,
            _slices: slices,
            sources,
        }
    }

    /// Waits for one datagram and takes all others that are there, in one call.
    ///
    /// The length of an address stays as the kernel set it. It is the same the next time, since a socket has
    /// addresses of one family only.
    ///
    /// # Errors
    /// Returns the error of the system call if no datagram was received.
    #[inline]
    pub fn receive<I: Check>(&mut self, socket: &UdpSocket, check: &mut I) -> io::Result<Burst> {
        #[expect(unsafe_code, reason = "the call takes an array of raw headers")]
        // SAFETY: the count is that of the headers. They point to memory that `self` owns, that does not move and
        // that has the stated lengths; any bytes are valid there (recvmmsg(2)).
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.at(0),
                length(&self.headers),
                libc::MSG_WAITFORONE as _,
                ptr::null_mut(),
            )
        };
        let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
        Ok(self.show(received, check))
    }

    /// Shows the datagrams in the first `received` buffers to `check`, and counts them.
    #[inline]
    fn show<I: Check>(&self, received: usize, check: &mut I) -> Burst {
        let headers = &self.headers[..received];
        if I::LOOKS {
            for (n, header) in headers.iter().enumerate() {
                let source = self.sources.get(n).and_then(Source::address);
                let datagram = &self.buffers[n * self.bytes_each..][..header.msg_len as usize];
                check.check(datagram, Origin::of(source));
            }
        }
        let bytes = headers.iter().map(|header| u64::from(header.msg_len)).sum();
        Burst::of(received as u64, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::payload::tests::Collected;

    #[test]
    fn datagrams_without_payload_are_shown() {
        let batch = ReceiveBatch::new(0, 4, false);
        let mut seen = Collected::default();
        assert_eq!(batch.show(2, &mut seen), Burst::of(2, 0));
        assert_eq!(seen.0, [Vec::new(), Vec::new()] as [Vec<u8>; 2]);
    }

    #[test]
    fn what_is_written_through_the_pointers_is_what_is_shown() {
        let batch = Box::new(ReceiveBatch::new(8, 4, true));
        for (n, letter) in (0_u32..3).zip(*b"abc") {
            #[expect(unsafe_code, reason = "the kernel's part")]
            // SAFETY: the batch lives, and each of its buffers has 8 bytes.
            unsafe {
                let header = &mut *batch.headers.at(n as usize);
                let slice = &*header.msg_hdr.msg_iov;
                slice
                    .iov_base
                    .cast::<u8>()
                    .write_bytes(letter, n as usize + 1);
                let source = header.msg_hdr.msg_name.cast::<Source>();
                source.write(Source::EMPTY);
                header.msg_len = n + 1;
            }
        }
        let mut seen = Collected::default();
        assert_eq!(batch.show(3, &mut seen), Burst::of(3, 6));
        assert_eq!(seen.0, [b"a".to_vec(), b"bb".to_vec(), b"ccc".to_vec()]);
    }
}
