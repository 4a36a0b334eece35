//! io_uring(7): batched sends on a registered file, and a multishot receive into a ring of provided buffers.
//!
//! Rings are made on the thread that uses them (SINGLE_ISSUER), and completions are only worked off when it
//! asks (DEFER_TASKRUN, Linux 6.1): what a lane costs is on that lane's clock. No SQPOLL: on the two or four
//! CPUs of a board its kernel thread takes a CPU away from a lane. No SEND_ZC: on loopback it is slower.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::mem;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use io_uring::types::{BufRingEntry, CancelBuilder, Fixed, RecvMsgOut, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue};
use libc::{msghdr, sockaddr_storage};

use super::batch::SendBatch;
use crate::content::{Inspect, Stamp};

/// The one file that is registered with each ring.
const SOCKET: Fixed = Fixed(0);
/// The one group of buffers.
const BUFFERS: u16 = 0;

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

/// The provided buffers, and the ring by which they go to the kernel (io_uring_register_buf_ring(3)).
struct Pool {
    entries: NonNull<BufRingEntry>,
    layout: Layout,
    count: u16,
    tail: u16,
    bytes_each: usize,
    memory: Box<[u8]>,
}

impl Pool {
    /// As many as fit 8 MiB, but 16 at least: a receiver that is late has nothing to gain from more.
    fn new(bytes_each: usize) -> io::Result<Self> {
        let fit = (8 << 20) / bytes_each.max(1);
        let count = u16::try_from(fit.clamp(16, 1024)).unwrap_or(1024);
        let count = 1 << count.ilog2();
        let size = usize::from(count) * size_of::<BufRingEntry>();
        // The kernel wants it on a page of its own.
        let layout = Layout::from_size_align(size, 65_536).map_err(io::Error::other)?;
        #[expect(unsafe_code, reason = "the kernel and we share this memory")]
        // SAFETY: the size is not 0, since there are 16 entries or more.
        let memory = unsafe { alloc_zeroed(layout) };
        #[expect(clippy::cast_ptr_alignment, reason = "it is aligned to a page")]
        let Some(entries) = NonNull::new(memory.cast::<BufRingEntry>()) else {
            handle_alloc_error(layout)
        };
        let mut pool = Self {
            entries,
            layout,
            count,
            tail: 0,
            bytes_each,
            memory: vec![0; usize::from(count) * bytes_each].into_boxed_slice(),
        };
        for id in 0..count {
            pool.give_back(id);
        }
        pool.publish();
        Ok(pool)
    }

    fn register(&self, ring: &IoUring) -> io::Result<()> {
        let address = self.entries.as_ptr() as u64;
        #[expect(unsafe_code, reason = "the kernel follows the addresses in the ring")]
        // SAFETY: ring and buffers are memory that `self` owns and that does not move; whoever owns both
        // drops `ring` first.
        unsafe {
            ring.submitter()
                .register_buf_ring_with_flags(address, self.count, BUFFERS, 0)
        }
    }

    fn buffer(&self, id: u16) -> &[u8] {
        let start = usize::from(id) * self.bytes_each;
        &self.memory[start..start + self.bytes_each]
    }

    /// Puts a buffer at the tail; the kernel sees it after [`Pool::publish`].
    fn give_back(&mut self, id: u16) {
        let start = usize::from(id) * self.bytes_each;
        let address = self.memory.as_ptr().wrapping_add(start) as u64;
        let slot = usize::from(self.tail & (self.count - 1));
        #[expect(unsafe_code, reason = "the kernel and we share this memory")]
        // SAFETY: `slot` is below `count`, and between the tail and the head the entries are ours.
        let entry = unsafe { &mut *self.entries.as_ptr().add(slot) };
        entry.set_addr(address);
        entry.set_len(u32::try_from(self.bytes_each).unwrap_or(u32::MAX));
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&self) {
        #[expect(unsafe_code, reason = "the kernel and we share this memory")]
        // SAFETY: the tail is within the first entry, aligned, and written by us alone.
        let tail = unsafe { &*BufRingEntry::tail(self.entries.as_ptr()).cast::<AtomicU16>() };
        // The kernel must see the entries before it sees that they are there.
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "it was allocated by hand")]
        // SAFETY: it was allocated with this layout, and the ring that used it is gone.
        unsafe {
            dealloc(self.entries.as_ptr().cast::<u8>(), self.layout);
        }
    }
}
