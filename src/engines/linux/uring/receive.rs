//! A multishot receive, into a ring of provided buffers.

use std::io;
use std::mem;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::Duration;

use io_uring::types::{RecvMsgOut, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use libc::{msghdr, sockaddr_storage};

use super::pool::{BUFFERS, Pool};
use super::{SOCKET, cancel_all, enter, ring};
use crate::engine::Batched;
use crate::engine::payload::Check;
use crate::engines::linux::stable::Stable;

/// A receive that goes on by itself, into buffers of which the kernel takes one per datagram.
pub(crate) struct ReceiveRing {
    // First: the kernel lets go of buffers and header when the ring is gone.
    ring: IoUring,
    request: squeue::Entry,
    armed: bool,
    pool: Pool,
    header: Option<Stable<msghdr>>,
    recv_timeout: Option<Timespec>,
    _socket: UdpSocket,
}

#[expect(unsafe_code, reason = "a raw header holds pointers")]
// SAFETY: those of its header are null.
unsafe impl Send for ReceiveRing {}

impl ReceiveRing {
    /// With the address of each sender, if `with_sources`. Waits no longer than `recv_timeout`, if there is one.
    ///
    /// # Errors
    /// When no ring can be made, or there is no memory for its buffers.
    pub(crate) fn new(
        socket: UdpSocket,
        payload_bytes: usize,
        with_sources: bool,
        recv_timeout: Option<Duration>,
    ) -> io::Result<Self> {
        let header = with_sources.then(|| {
            let mut header = empty_header();
            header.msg_namelen = NAME_BYTES;
            Stable::one(header)
        });
        // Before the payload stand the address and the lengths (io_uring_recvmsg_out).
        let besides = if with_sources {
            16 + size_of::<sockaddr_storage>()
        } else {
            0
        };
        // A buffer of no length would be none.
        let pool = Pool::new(payload_bytes.max(1) + besides)?;
        let ring = ring(8, 2 * usize::from(pool.count))?;
        ring.submitter().register_files(&[socket.as_raw_fd()])?;
        pool.register(&ring)?;
        let request = match &header {
            None => opcode::RecvMulti::new(SOCKET, BUFFERS).build(),
            Some(header) => opcode::RecvMsgMulti::new(SOCKET, header.at(0), BUFFERS).build(),
        };
        Ok(Self {
            ring,
            request,
            armed: false,
            pool,
            header,
            recv_timeout: recv_timeout.map(Timespec::from),
            _socket: socket,
        })
    }

    /// Waits for a datagram and takes all that are there.
    ///
    /// # Errors
    /// `WouldBlock` after `recv_timeout`, `Interrupted` after a signal, else what the kernel said.
    #[inline]
    pub(crate) fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Batched> {
        if !self.armed {
            #[expect(unsafe_code, reason = "the kernel follows the request's pointers")]
            // SAFETY: the header is memory that `self` owns, that does not move, and that outlives the
            // ring; so are the buffers.
            let pushed = unsafe { self.ring.submission().push(&self.request) };
            pushed.map_err(io::Error::other)?;
            self.armed = true;
        }
        self.wait()?;
        let mut batched = Batched::default();
        for completion in self.ring.completion() {
            // It ends for want of a buffer, and after an empty datagram: then it is sent off again.
            self.armed &= cqueue::more(completion.flags());
            let length = completion.result();
            if let Ok(length) = usize::try_from(length) {
                let buffer = cqueue::buffer_select(completion.flags());
                batched.moved.packets += 1;
                // An empty datagram without an address takes none.
                let Some(id) = buffer else { continue };
                let content = &self.pool.buffer(id)[..length];
                let datagram = match &self.header {
                    None => content,
                    Some(header) => payload(content, &header[0]),
                };
                check.check(datagram);
                batched.moved.bytes += datagram.len() as u64;
                self.pool.give_back(id);
            } else if length != -libc::ENOBUFS {
                enter(&mut batched, length);
            }
        }
        self.pool.publish();
        Ok(batched)
    }

    #[inline]
    fn wait(&mut self) -> io::Result<()> {
        let Some(recv_timeout) = &self.recv_timeout else {
            return self.ring.submit_and_wait(1).map(drop);
        };
        let arguments = SubmitArgs::new().timespec(recv_timeout);
        let waited = self.ring.submitter().submit_with_args(1, &arguments);
        match waited {
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            waited => waited.map(drop),
        }
    }
}

impl Drop for ReceiveRing {
    /// The kernel tears a closed ring down later: until then, the receive could still take a buffer.
    fn drop(&mut self) {
        cancel_all(&self.ring);
    }
}

fn payload<'a>(buffer: &'a [u8], header: &msghdr) -> &'a [u8] {
    // It comes last.
    let length =
        RecvMsgOut::parse(buffer, header).map_or(0, |message| message.payload_data().len());
    &buffer[buffer.len() - length..]
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it is 128 (sockaddr(3type))"
)]
const NAME_BYTES: u32 = size_of::<sockaddr_storage>() as u32;

fn empty_header() -> msghdr {
    #[expect(unsafe_code, reason = "padding differs between C libraries")]
    // SAFETY: the structure holds integers and pointers, for which zeros are valid.
    unsafe {
        mem::zeroed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_comes_after_lengths_and_address() {
        let mut header = empty_header();
        header.msg_namelen = NAME_BYTES;
        // Of struct io_uring_recvmsg_out: the lengths of name, control message and payload, and flags.
        let lengths = [16_u32, 0, 3, 0].map(u32::to_ne_bytes).concat();
        let address = vec![0; size_of::<sockaddr_storage>()];
        let buffer = [lengths, address, b"abc".to_vec()].concat();
        assert_eq!(payload(&buffer, &header), b"abc");
        assert_eq!(payload(&buffer[..7], &header), b"");
    }
}
