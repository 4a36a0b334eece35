//! Multishot receives, one for each socket, into a ring of provided buffers.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;

use io_uring::types::{Fixed, RecvMsgOut, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use libc::msghdr;

use super::pool::{BUFFERS, Pool};
use super::{cancel_all, enter, register, ring};
use crate::engine::payload::{Check, Origin};
use crate::engine::{BatchOutcome, Endpoint, IoOptions};
use crate::engines::linux::FixedBuffer;
use crate::sys::busy_poll;
use crate::sys::messages::{self, SourceMemory};

/// Multishot receives, with buffers of which the kernel takes one per datagram.
pub struct ReceiveRing {
    // Dropped first: the kernel releases buffers and header when the ring is gone.
    ring: IoUring,
    /// Receive requests, one for each socket.
    requests: Box<[squeue::Entry]>,
    /// Sockets whose request the kernel does not have, oldest first, so that each gets its turn.
    idle: VecDeque<usize>,
    pool: Pool,
    header: Option<FixedBuffer<msghdr>>,
    /// True if receives never wait.
    spins: bool,
}

#[expect(unsafe_code, reason = "a raw header holds pointers")]
// SAFETY: the pointers in its header are null.
unsafe impl Send for ReceiveRing {}

impl ReceiveRing {
    /// Creates a ring for the sockets of the endpoints. Unconnected sockets receive source addresses.
    ///
    /// # Errors
    /// Fails if the kernel gives no ring, or no memory for its buffers.
    pub fn new(endpoints: &[Endpoint], options: &IoOptions) -> io::Result<Self> {
        let with_sources = !options.is_connected();
        let header = with_sources.then(|| {
            let mut header = messages::zeroed().msg_hdr;
            header.msg_namelen = SourceMemory::BYTES;
            FixedBuffer::new([header])
        });
        // The address and the lengths (io_uring_recvmsg_out) precede the payload.
        let besides = if with_sources {
            LENGTHS_BYTES + size_of::<SourceMemory>()
        } else {
            0
        };
        // The kernel takes no buffers of length 0.
        let pool = Pool::new(endpoints.len(), options.buffer_bytes.max(1) + besides)?;
        let ring = ring(8, 2 * usize::from(pool.count))?;
        register(&ring, endpoints)?;
        if let Some(poll) = options.busy_poll {
            busy_poll::of_ring(&ring, poll.us)?;
        }
        pool.register(&ring)?;
        let request = |endpoint: u32| {
            let request = match &header {
                None => opcode::RecvMulti::new(Fixed(endpoint), BUFFERS).build(),
                Some(header) => {
                    opcode::RecvMsgMulti::new(Fixed(endpoint), header.at(0), BUFFERS).build()
                }
            };
            request.user_data(endpoint.into())
        };
        Ok(Self {
            ring,
            requests: (0..).map(request).take(endpoints.len()).collect(),
            idle: (0..endpoints.len()).collect(),
            pool,
            header,
            spins: options.spins,
        })
    }

    /// Waits for a datagram and takes all that are there.
    ///
    /// # Errors
    /// Fails with `WouldBlock` if nothing is there and receives must not wait, and with `Interrupted` after a signal.
    /// Otherwise returns the error of the kernel.
    #[inline]
    pub fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchOutcome> {
        if !self.idle.is_empty() {
            self.arm()?;
        }
        self.wait()?;
        let mut outcome = BatchOutcome::default();
        for completion in self.ring.completion() {
            #[expect(clippy::cast_possible_truncation, reason = "it was a usize")]
            let endpoint = completion.user_data() as usize;
            // The request ends for lack of a buffer, and after an empty datagram. It is then submitted again.
            if !cqueue::more(completion.flags()) {
                self.idle.push_back(endpoint);
            }
            let length = completion.result();
            if let Ok(length) = usize::try_from(length) {
                let buffer = cqueue::buffer_select(completion.flags());
                outcome.moved.packets += 1;
                // An empty datagram without an address takes no buffer.
                let Some(id) = buffer else {
                    let source = None;
                    check.check_received(0, &[], || Origin { endpoint, source });
                    continue;
                };
                let content = &self.pool.buffer(id)[..length];
                let datagram = match &self.header {
                    None => content,
                    Some(header) => payload(content, &header[0]),
                };
                if C::READS_PAYLOAD {
                    let source = self.header.as_ref().and_then(|_| source(content));
                    check.check(datagram, Origin { endpoint, source });
                }
                outcome.moved.bytes += datagram.len() as u64;
                self.pool.give_back(id);
            } else if length != -libc::ENOBUFS {
                enter(&mut outcome, length);
            }
        }
        self.pool.publish();
        Ok(outcome)
    }

    /// Submits the requests that the kernel does not have.
    #[inline]
    fn arm(&mut self) -> io::Result<()> {
        while let Some(&endpoint) = self.idle.front() {
            #[expect(unsafe_code, reason = "the kernel follows the request's pointers")]
            // SAFETY: the header and the buffers are memory that `self` owns, that does not move, and that outlives
            // the ring.
            let pushed = unsafe { self.ring.submission().push(&self.requests[endpoint]) };
            if pushed.is_ok() {
                self.idle.pop_front();
            } else {
                // The queue is full.
                self.ring.submit()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn wait(&mut self) -> io::Result<()> {
        if !self.spins {
            return self.ring.submit_and_wait(1).map(drop);
        }
        // Completions are processed during the call, so a call is needed even without a wait.
        let at_once = Timespec::new();
        let arguments = SubmitArgs::new().timespec(&at_once);
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
    /// Cancels the receives. The kernel tears down a closed ring later; until then, a receive could still write to a
    /// buffer.
    fn drop(&mut self) {
        cancel_all(&self.ring);
    }
}

fn payload<'a>(buffer: &'a [u8], header: &msghdr) -> &'a [u8] {
    // The payload comes last.
    let length =
        RecvMsgOut::parse(buffer, header).map_or(0, |message| message.payload_data().len());
    &buffer[buffer.len() - length..]
}

fn source(buffer: &[u8]) -> Option<SocketAddr> {
    messages::read_address(buffer.get(LENGTHS_BYTES..)?)
}

/// Size of struct io_uring_recvmsg_out in bytes. The address follows it.
const LENGTHS_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_comes_after_lengths_and_address() {
        let mut header = messages::zeroed().msg_hdr;
        header.msg_namelen = SourceMemory::BYTES;
        // Fields of struct io_uring_recvmsg_out: the lengths of name, control message and payload, and flags.
        let lengths = [16_u32, 0, 3, 0].map(u32::to_ne_bytes).concat();
        let mut name = vec![0; size_of::<SourceMemory>()];
        name[..8].copy_from_slice(&[libc::AF_INET.to_ne_bytes()[0], 0, 0, 7, 127, 0, 0, 1]);
        let buffer = [lengths, name, b"abc".to_vec()].concat();
        assert_eq!(payload(&buffer, &header), b"abc");
        assert_eq!(source(&buffer), "127.0.0.1:7".parse().ok());
        assert_eq!(payload(&buffer[..7], &header), b"");
        assert_eq!(source(&buffer[..7]), None);
    }
}
