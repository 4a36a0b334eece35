//! Batched sends without a copy (SEND_ZC): the kernel reads the datagrams from registered memory until a second
//! completion of each, its notification, tells that the memory is free again (io_uring_prep_send_zc(3)).

use std::io;
use std::mem;
use std::slice;
use std::time::Instant;

use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use libc::{iovec, sockaddr};
use socket2::{SockAddr, SockAddrStorage};

use super::{Outgoing, SendRing, cancel_all, complete, locked_memory, register, ring};
use crate::engine::payload::{Fill, NoFill};
use crate::engine::{
    About, BatchOutcome, Direction, Endpoint, Group, IoOptions, ManyEndpoints, Partner, Remark,
};
use crate::engines::linux::FixedBuffer;
use crate::engines::linux::loopback_socket;
use crate::engines::linux::zero_copy::{
    Completed, MOST_BUFFERS, MOST_BYTES, PAGE_BYTES, PATIENCE, stride,
};

/// `IORING_SEND_ZC_REPORT_USAGE` (include/uapi/linux/io_uring.h, Linux 6.2): a notification tells whether the kernel
/// copied.
const REPORT_USAGE: u16 = 1 << 3;
/// `IORING_NOTIF_USAGE_ZC_COPIED` (include/uapi/linux/io_uring.h): it copied, or it used nothing, as after a failure.
const COPIED: i32 = 1 << 31;
/// Minimum number of batches in the memory: one is filled while the kernel reads the other.
const FEWEST_BATCHES: usize = 2;

/// Sends many datagrams per io_uring_enter(2), each from memory of its own.
///
/// The memory holds several batches, which are used one after the other, each again only after all its notifications.
pub struct ZeroCopySendRing {
    // Dropped first, after its notifications.
    ring: IoUring,
    /// Sends whose result was not yet seen.
    under_way: usize,
    batches: Batches,
    /// Batch that is sent next.
    next: usize,
    /// Datagrams per batch.
    count: usize,
    memory: FixedBuffer<u8>,
    /// Bytes before the first batch, from one batch to the next, and of those that are filled.
    start: usize,
    batch_stride: usize,
    filled_bytes: usize,
    /// One request for each datagram of each batch.
    requests: Box<[squeue::Entry]>,
    /// The destination, to which the requests point unless the socket is connected.
    _peer: FixedBuffer<SockAddrStorage>,
}

impl Outgoing for ZeroCopySendRing {
    const ABOUT: About = About {
        name: "uring-zerocopy",
        group: Group::Offload,
        sends_without_copy: true,
        summary: "sender: io_uring, --batch sends per call from registered memory; uring receives",
        many_endpoints: ManyEndpoints::No,
        can_serve_requests: Err("gains by many sends on the way, and a request is one: use uring"),
        partner: Partner::ReceivedBy("uring"),
        ..SendRing::ABOUT
    };

    /// Creates a ring over one endpoint, with memory that the kernel locks.
    fn open(endpoints: &[Endpoint], options: &IoOptions) -> io::Result<Self> {
        let [endpoint] = endpoints else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let (count, payload) = (options.batch, options.payload());
        // What differs is filled as a whole, and so lies one after the other.
        let (stride, filled) = if options.own_payloads {
            (payload.len(), count)
        } else {
            (stride(payload.len()), 1)
        };
        let batch_stride = (count * stride).max(1);
        let most = (MOST_BUFFERS / count).max(FEWEST_BATCHES);
        let batches = (MOST_BYTES / batch_stride).clamp(FEWEST_BATCHES, most);
        let bytes = batches * batch_stride;
        let content = payload.first().copied().unwrap_or_default();
        let memory = FixedBuffer::new(vec![content; bytes + PAGE_BYTES]);
        let start = memory.at(0).align_offset(PAGE_BYTES).min(PAGE_BYTES);
        let ring = ring(count, 2 * batches * count)?;
        register(&ring, endpoints)?;
        lock(&ring, &memory, start, bytes)?;
        let peer = SockAddr::from(endpoint.peer_or_unspecified());
        let peer_bytes = peer.len();
        let peer = FixedBuffer::new([peer.as_storage()]);
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        let request = |n: usize| {
            let datagram = memory.at(start + n / count * batch_stride + n % count * stride);
            let request = opcode::SendZc::new(Fixed(0), datagram, length)
                .buf_index(Some(0))
                .zc_flags(REPORT_USAGE);
            let request = if options.is_connected() {
                request
            } else {
                let peer = peer.at(0).cast::<sockaddr>();
                request.dest_addr(peer).dest_addr_len(peer_bytes)
            };
            request.build().user_data(n as u64)
        };
        Ok(Self {
            requests: (0..batches * count).map(request).collect(),
            ring,
            under_way: 0,
            batches: Batches::new(batches, count),
            next: 0,
            count,
            memory,
            start,
            batch_stride,
            filled_bytes: filled * payload.len(),
            _peer: peer,
        })
    }

    /// Fills the next batch, sends it, and waits until the kernel has taken all of it. Waits for its
    /// notifications before, if the kernel still reads it.
    #[inline]
    fn send(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchOutcome> {
        if self.under_way == 0 {
            while self.batches.in_use[self.next] > 0 {
                self.wait()?;
            }
            self.fill(fill);
            self.push()?;
        }
        let batches = &mut self.batches;
        complete(&mut self.ring, &mut self.under_way, |completion| {
            batches.is_result(completion)
        })
    }

    fn remark(&self) -> Remark {
        self.batches.completed.remark()
    }

    /// Sends a datagram over loopback and takes its notification.
    fn probe() -> Result<(), String> {
        super::probe()?;
        completes().map_err(|error| format!("no zero copy of io_uring (Linux 6.2): {error}"))
    }
}

impl ZeroCopySendRing {
    #[inline]
    fn fill(&mut self, fill: &impl Fill) {
        let start = self.start + self.next * self.batch_stride;
        assert!(start + self.filled_bytes <= self.memory.len());
        #[expect(unsafe_code, reason = "the kernel may read the other batches")]
        // SAFETY: the range is within the memory, and all notifications of the batch came, so the kernel no longer
        // reads it.
        let datagrams =
            unsafe { slice::from_raw_parts_mut(self.memory.at(start), self.filled_bytes) };
        fill.fill(datagrams);
    }

    #[inline]
    fn push(&mut self) -> io::Result<()> {
        let first = self.next * self.count;
        let requests = &self.requests[first..first + self.count];
        #[expect(unsafe_code, reason = "the kernel follows the requests' pointers")]
        // SAFETY: the requests point to memory that `self` owns, that does not move, and that outlives the ring or is
        // left behind. The queue has room for all of them, and it was empty.
        let pushed = unsafe { self.ring.submission().push_multiple(requests) };
        pushed.map_err(io::Error::other)?;
        self.under_way = self.count;
        self.batches.in_use[self.next] = self.count;
        self.next = (self.next + 1) % self.batches.in_use.len();
        Ok(())
    }

    /// Waits until there is a notification, and reads all.
    #[cold]
    fn wait(&mut self) -> io::Result<()> {
        let waited = self.ring.submit_and_wait(1);
        for notification in self.ring.completion() {
            self.batches.is_result(&notification);
        }
        waited.map(drop)
    }

    /// Waits up to a second until the kernel reads nothing anymore. Returns whether that is so.
    fn settle(&mut self) -> bool {
        if self.under_way > 0 {
            cancel_all(&self.ring);
        }
        let until = Instant::now() + PATIENCE;
        let pause = Timespec::new().nsec(10_000_000);
        while self.batches.in_use.iter().any(|it| *it > 0) {
            let arguments = SubmitArgs::new().timespec(&pause);
            let waited = self.ring.submitter().submit_with_args(1, &arguments);
            for completion in self.ring.completion() {
                self.batches.is_result(&completion);
            }
            let goes_on = [libc::ETIME, libc::EINTR];
            let fails = |error: io::Error| !goes_on.map(Some).contains(&error.raw_os_error());
            if Instant::now() > until || waited.is_err_and(fails) {
                return false;
            }
        }
        true
    }
}

/// Datagrams that are still on their way must not change: waits for their notifications, and if they do not come,
/// leaves the memory behind.
impl Drop for ZeroCopySendRing {
    fn drop(&mut self) {
        if !self.settle() {
            mem::forget(mem::replace(&mut self.memory, FixedBuffer::new([])));
        }
    }
}

/// Notifications that are due, and those that came.
struct Batches {
    /// Datagrams of each batch that the kernel may still read.
    in_use: Box<[usize]>,
    /// Datagrams of all batches whose send failed. Their notifications always say that the kernel copied.
    failed: Box<[bool]>,
    /// Datagrams per batch.
    count: usize,
    completed: Completed,
}

impl Batches {
    fn new(batches: usize, count: usize) -> Self {
        Self {
            in_use: vec![0; batches].into(),
            failed: vec![false; batches * count].into(),
            count,
            completed: Completed::default(),
        }
    }

    /// Takes a completion, whose data are the index of its datagram among those of all batches. Returns whether it is
    /// the result of a send, and not a notification.
    #[inline]
    fn is_result(&mut self, completion: &cqueue::Entry) -> bool {
        let (result, flags) = (completion.result(), completion.flags());
        #[expect(clippy::cast_possible_truncation, reason = "it was a usize")]
        let datagram = completion.user_data() as usize;
        let is_result = !cqueue::notif(flags);
        if is_result {
            self.failed[datagram] = result <= 0;
        } else if !self.failed[datagram] {
            self.completed.calls += 1;
            self.completed.copied += u64::from(result & COPIED != 0);
        }
        if !cqueue::more(flags) {
            self.in_use[datagram / self.count] -= 1;
        }
        is_result
    }
}

/// Registers the memory of all batches as buffer 0.
fn lock(ring: &IoUring, memory: &FixedBuffer<u8>, start: usize, bytes: usize) -> io::Result<()> {
    let buffer = iovec {
        iov_base: memory.at(start).cast(),
        iov_len: bytes,
    };
    #[expect(unsafe_code, reason = "the kernel keeps the address")]
    // SAFETY: the range is within the memory, which outlives the ring or is left behind.
    let registered = unsafe { ring.submitter().register_buffers(&[buffer]) };
    let what = || format!("{} kB of buffers", bytes.div_ceil(1024));
    registered.map_err(|error| locked_memory(error, &what()))
}

fn completes() -> io::Result<()> {
    let (socket, receiver) = (loopback_socket()?, loopback_socket()?);
    let endpoint = Endpoint::of(socket, Some(receiver.local_addr()?));
    let options = IoOptions::of(Vec::new(), Direction::Sends, 64);
    let mut ring = ZeroCopySendRing::open(&[endpoint], &options)?;
    let sent = ring.send(0, &NoFill)?;
    if sent.failed > 0 {
        Err(io::Error::from_raw_os_error(sent.errno))
    } else if ring.settle() {
        Ok(())
    } else {
        Err(io::Error::other("a send was never notified"))
    }
}

#[cfg(test)]
mod tests;
