//! io_uring(7): batched sends on a registered file, and a multishot receive into a ring of provided buffers.
//!
//! Rings are made on the thread that uses them (SINGLE_ISSUER), and completions are only worked off when it
//! asks (DEFER_TASKRUN, Linux 6.1): what a lane costs is on that lane's clock. No SQPOLL: on the two or four
//! CPUs of a board its kernel thread takes a CPU away from a lane. No SEND_ZC: on loopback it is slower.

mod pool;

use std::io;
use std::mem;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fixed, RecvMsgOut, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue};
use libc::{msghdr, sockaddr_storage};

use self::pool::{BUFFERS, Pool};
use super::batch::SendBatch;
use crate::content::{Inspect, Stamp};

/// The one file that is registered with each ring.
const SOCKET: Fixed = Fixed(0);

/// Whether rings are to be had here, with all that is needed.
///
/// # Errors
/// The reason why not: an old kernel, `kernel.io_uring_disabled`, a container's seccomp filter.
pub fn probe() -> Result<(), String> {
    let ring = ring(8, 8).map_err(|error| {
        format!("io_uring_setup: {error} (Linux before 6.1, kernel.io_uring_disabled, or seccomp)")
    })?;
    let mut probe = Probe::new();
    let asked = ring.submitter().register_probe(&mut probe);
    asked.map_err(|error| format!("io_uring_register: {error}"))?;
    // SendZc came with Linux 6.0, as did multishot receives, which have no code of their own.
    let needed = [
        opcode::Send::CODE,
        opcode::SendMsg::CODE,
        opcode::SendZc::CODE,
    ];
    if needed.into_iter().all(|code| probe.is_supported(code)) {
        Ok(())
    } else {
        Err("no multishot receive (Linux 6.0)".to_owned())
    }
}

fn ring(submissions: usize, completions: usize) -> io::Result<IoUring> {
    let size = |count: usize| u32::try_from(count.next_power_of_two()).unwrap_or(u32::MAX);
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_clamp()
        .setup_cqsize(size(completions.max(submissions)))
        .build(size(submissions))
}

/// Many datagrams per io_uring_enter(2).
pub struct SendRing {
    // First: the kernel lets go of what the requests point to when the ring is gone.
    ring: IoUring,
    /// One for each datagram of the batch.
    requests: Box<[squeue::Entry]>,
    batch: SendBatch,
    _socket: UdpSocket,
}

impl SendRing {
    /// All of `batch` per call, to where it says, or to where the socket is connected.
    ///
    /// # Errors
    /// When there is no ring to be had.
    pub fn new(socket: UdpSocket, batch: SendBatch) -> io::Result<Self> {
        let ring = ring(batch.count(), batch.count())?;
        ring.submitter().register_files(&[socket.as_raw_fd()])?;
        let length = u32::try_from(batch.bytes_each()).map_err(io::Error::other)?;
        let request = |(message, payload): (&msghdr, *const u8)| {
            if message.msg_name.is_null() {
                opcode::Send::new(SOCKET, payload, length).build()
            } else {
                opcode::SendMsg::new(SOCKET, message).build()
            }
        };
        Ok(Self {
            ring,
            requests: batch.messages().map(request).collect(),
            batch,
            _socket: socket,
        })
    }

    /// Sends a batch and waits until the kernel has taken all of it: how many went, and their payload.
    ///
    /// Sends do not block on loopback, so a signal is no reason to leave before they are counted.
    ///
    /// # Errors
    /// Of the ring, or, if none was sent, of the first one that was not.
    #[inline]
    pub fn send(&mut self, stamp: &impl Stamp) -> io::Result<(u64, u64)> {
        self.batch.stamp(stamp);
        #[expect(unsafe_code, reason = "the kernel follows the requests' pointers")]
        // SAFETY: they point to memory that `self.batch` owns, that does not move, and that outlives the
        // ring. The queue has room for all of them, and it was empty.
        let pushed = unsafe { self.ring.submission().push_multiple(&self.requests) };
        pushed.map_err(io::Error::other)?;
        let (mut left, mut sent, mut bytes, mut failure) = (self.requests.len(), 0, 0, None);
        while left > 0 {
            match self.ring.submit_and_wait(left) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for completion in self.ring.completion() {
                left -= 1;
                match u64::try_from(completion.result()) {
                    Ok(length) => (sent, bytes) = (sent + 1, bytes + length),
                    Err(_) => failure = Some(completion.result()),
                }
            }
        }
        match failure {
            Some(code) if sent == 0 => Err(io::Error::from_raw_os_error(-code)),
            _ => Ok((sent, bytes)),
        }
    }
}

/// A receive that goes on by itself, into buffers of which the kernel takes one per datagram.
pub struct ReceiveRing {
    // First: the kernel lets go of buffers and header when the ring is gone.
    ring: IoUring,
    request: squeue::Entry,
    armed: bool,
    pool: Pool,
    header: Option<Box<msghdr>>,
    patience: Option<Timespec>,
    _socket: UdpSocket,
}

impl ReceiveRing {
    /// With the address of each sender, if `with_sources`. Waits no longer than `patience`, if there is one.
    ///
    /// # Errors
    /// When there is no ring, or no memory for its buffers, to be had.
    pub fn new(
        socket: UdpSocket,
        payload_bytes: usize,
        with_sources: bool,
        patience: Option<Duration>,
    ) -> io::Result<Self> {
        let header = with_sources.then(|| {
            let mut header = Box::new(empty_header());
            header.msg_namelen = NAME_BYTES;
            header
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
            Some(header) => opcode::RecvMsgMulti::new(SOCKET, &raw const **header, BUFFERS).build(),
        };
        Ok(Self {
            ring,
            request,
            armed: false,
            pool,
            header,
            patience: patience.map(Timespec::from),
            _socket: socket,
        })
    }

    /// Waits for a datagram and takes all that are there: how many, and their payload.
    ///
    /// # Errors
    /// `WouldBlock` after `patience`, `Interrupted` after a signal, else what the kernel said.
    #[inline]
    pub fn receive<I: Inspect>(&mut self, inspect: &mut I) -> io::Result<(u64, u64)> {
        if !self.armed {
            #[expect(unsafe_code, reason = "the kernel follows the request's pointers")]
            // SAFETY: the header is memory that `self` owns, that does not move, and that outlives the
            // ring; so are the buffers.
            let pushed = unsafe { self.ring.submission().push(&self.request) };
            pushed.map_err(io::Error::other)?;
            self.armed = true;
        }
        self.wait()?;
        let (mut packets, mut bytes, mut failure) = (0, 0, None);
        for completion in self.ring.completion() {
            // It ends for want of a buffer, and after an empty datagram: then it is sent off again.
            self.armed &= cqueue::more(completion.flags());
            let length = completion.result();
            if let Ok(length) = usize::try_from(length) {
                let buffer = cqueue::buffer_select(completion.flags());
                packets += 1;
                // An empty datagram without an address takes none.
                let Some(id) = buffer else { continue };
                let content = &self.pool.buffer(id)[..length];
                let datagram = match &self.header {
                    None => content,
                    Some(header) => payload(content, header),
                };
                inspect.inspect(datagram);
                bytes += datagram.len() as u64;
                self.pool.give_back(id);
            } else if length != -libc::ENOBUFS {
                failure = Some(length);
            }
        }
        self.pool.publish();
        match failure {
            Some(code) if packets == 0 => Err(io::Error::from_raw_os_error(-code)),
            _ => Ok((packets, bytes)),
        }
    }

    #[inline]
    fn wait(&mut self) -> io::Result<()> {
        let Some(patience) = &self.patience else {
            return self.ring.submit_and_wait(1).map(drop);
        };
        let arguments = SubmitArgs::new().timespec(patience);
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
        let everything = CancelBuilder::any();
        let _ = self.ring.submitter().register_sync_cancel(None, everything);
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
