//! Counters of one bench thread, which it writes and the coordinator thread reads.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

use super::{BatchCount, Wakeups, lock};

/// Datagrams and their payload bytes since the threads started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Datagrams.
    pub packets: u64,
    /// UDP payload in bytes.
    pub bytes: u64,
}

impl Tally {
    /// Adds a batch and returns the new total.
    #[inline]
    pub fn add(&mut self, moved: BatchCount) -> Self {
        self.packets += moved.packets;
        self.bytes += moved.bytes;
        *self
    }
}

/// A counter that one bench thread increases and others read.
///
/// The bench thread stores a machine word: to store 64 bits at once, a 32-bit CPU needs a loop (ARMv7) or a system
/// call (ARMv6). The reader adds up the increases, so the word may wrap. It must be read at least once in 2^32
/// datagrams; the coordinator thread reads it every second.
#[derive(Debug, Default)]
pub struct SharedCount {
    word: AtomicUsize,
    /// The word at the last reading, and the total then.
    read: Mutex<(usize, u64)>,
}

impl SharedCount {
    /// Publishes a new total. The store is relaxed: a counter orders nothing.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the reader widens it")]
    pub fn publish(&self, total: u64) {
        self.word.store(total as usize, Ordering::Relaxed);
    }

    /// Increases the counter, for its only writer when that keeps no total of its own.
    #[inline]
    pub fn add(&self, more: u64) {
        #[expect(clippy::cast_possible_truncation, reason = "the reader widens it")]
        let total = self
            .word
            .load(Ordering::Relaxed)
            .wrapping_add(more as usize);
        self.word.store(total, Ordering::Relaxed);
    }

    /// Returns the count so far.
    pub fn read(&self) -> u64 {
        let mut read = lock(&self.read);
        let (before, total) = *read;
        let word = self.word.load(Ordering::Relaxed);
        *read = (word, total + word.wrapping_sub(before) as u64);
        read.1
    }
}

/// A [`Tally`] that one bench thread writes and the coordinator thread reads.
///
/// It stores no bytes, but by how many they are off the usual payload times the datagrams: nothing, as a rule. Two
/// stores are never one, and either thread may lose its CPU between its two: a datagram whose bytes are in another
/// word would be read without them, and with it all others of its batch.
#[derive(Debug, Default)]
pub struct SharedTally {
    packets: SharedCount,
    /// Payload bytes beyond `payload_bytes` for each datagram, as a machine word like that of [`SharedCount`].
    bytes_off: AtomicUsize,
    payload_bytes: u64,
}

impl SharedTally {
    /// Creates a tally for datagrams that mostly hold `payload_bytes` each.
    pub fn new(payload_bytes: usize) -> Self {
        Self {
            payload_bytes: payload_bytes as u64,
            ..Self::default()
        }
    }

    /// Publishes a new total: see [`SharedCount::publish`].
    #[inline]
    pub fn publish(&self, tally: Tally) {
        self.packets.publish(tally.packets);
        let off = self.off(tally.packets, tally.bytes);
        self.bytes_off.store(off, Ordering::Relaxed);
    }

    /// Adds a batch: see [`SharedCount::add`].
    #[inline]
    pub fn add(&self, moved: BatchCount) {
        self.packets.add(moved.packets);
        let more = self.off(moved.packets, moved.bytes);
        let off = self.bytes_off.load(Ordering::Relaxed).wrapping_add(more);
        self.bytes_off.store(off, Ordering::Relaxed);
    }

    /// Returns the total so far. Packets and bytes belong to the same moment, but for datagrams of another length in
    /// the batch that arrives meanwhile.
    pub fn read(&self) -> Tally {
        let packets = self.packets.read();
        #[expect(clippy::cast_possible_wrap, reason = "a difference: 2 GiB at most")]
        let off = self.bytes_off.load(Ordering::Relaxed) as isize;
        let bytes = packets.wrapping_mul(self.payload_bytes);
        Tally {
            packets,
            bytes: bytes.saturating_add_signed(off as i64),
        }
    }

    /// Returns the lower half of a difference that fits into a word.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the reader widens it")]
    fn off(&self, packets: u64, bytes: u64) -> usize {
        bytes.wrapping_sub(packets.wrapping_mul(self.payload_bytes)) as usize
    }
}

/// Number of requests that other threads than the server's loop serve. One thread counts at a time.
#[derive(Debug, Default)]
pub struct OffloadedRequests {
    in_progress: Mutex<usize>,
    has_room: Condvar,
}

impl OffloadedRequests {
    /// Begins a request, once fewer than `most` are in progress. Further requests wait in the socket, where the
    /// kernel counts drops.
    pub fn begin(&self, most: usize) {
        let is_full = |in_progress: &mut usize| *in_progress >= most;
        let in_progress = self.has_room.wait_while(lock(&self.in_progress), is_full);
        *in_progress.unwrap_or_else(PoisonError::into_inner) += 1;
    }

    /// Ends a request. `count` is called by one thread at a time.
    pub fn end(&self, count: impl FnOnce()) {
        let mut in_progress = lock(&self.in_progress);
        count();
        *in_progress -= 1;
        drop(in_progress);
        self.has_room.notify_one();
    }
}

/// Counters of one bench thread. Aligned to 128 bytes, so that no two bench threads share a cache line: adjacent-line
/// prefetch pairs lines of 64 bytes, and some ARM cores have lines of 128 bytes.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Meter {
    /// Datagrams handed to the kernel, whether or not it refused them.
    pub sent: SharedCount,
    /// Datagrams taken from the kernel.
    pub received: SharedTally,
    /// Calls that returned `EAGAIN`: nothing to receive, or no room to send.
    pub would_blocks: AtomicU64,
    /// Calls that failed otherwise, without refused sends.
    pub errors: AtomicU64,
    /// Datagrams in [`Meter::sent`] that the kernel refused.
    pub refusals: Refusals,
    /// Kernel thread id; 0 before the bench thread has started.
    pub tid: AtomicI32,
    /// True if the bench thread runs on its assigned CPU.
    pub pinned: AtomicBool,
    /// Set when the bench thread has stopped sending.
    pub done_sending: AtomicBool,
    /// Counter that the coordinator thread increases from time to time. At each tick, a client looks for requests that
    /// have timed out.
    pub timeout_tick: AtomicU32,
    /// Requests that other threads than the bench thread serve.
    pub offloaded: OffloadedRequests,
    /// Wakers of the bench thread's futures. See [`Wakeups`].
    pub wakeups: Arc<Wakeups>,
    /// Process that does the bench thread's work, if there is one.
    outside: OnceLock<(i32, Arc<dyn OutsideCounts>)>,
}

/// Counts that another process publishes for a bench thread.
pub trait OutsideCounts: fmt::Debug + Send + Sync {
    /// Copies the counts so far into the meter.
    fn publish(&self, meter: &Meter);
}

impl Meter {
    /// Creates the counters of a bench thread that receives datagrams of `payload_bytes`.
    pub fn new(payload_bytes: usize) -> Self {
        Self {
            received: SharedTally::new(payload_bytes),
            ..Self::default()
        }
    }

    /// Sets the process that does the bench thread's work, once.
    pub fn run_outside(&self, pid: i32, counts: Arc<dyn OutsideCounts>) {
        self.outside.get_or_init(|| (pid, counts));
    }

    /// Returns the ID of the process that does the bench thread's work. `None`: the bench thread does it.
    pub fn outside_pid(&self) -> Option<i32> {
        self.outside.get().map(|(pid, _)| *pid)
    }

    /// Brings the counts up to date, if another process publishes them. To be called before they are read.
    pub fn refresh(&self) {
        if let Some((_, counts)) = self.outside.get() {
            counts.publish(self);
        }
    }
}

/// Datagrams that were handed to the kernel, which refused them: they are lost.
///
/// A call to repeat (`EAGAIN`, `EINTR`) refuses nothing.
#[derive(Debug, Default)]
pub struct Refusals {
    packets: AtomicU64,
    /// Datagrams for which the queue of the network interface had no room (`ENOBUFS`, which the kernel reports only
    /// to sockets with `IP_RECVERR`: ip(7)).
    no_room: AtomicU64,
    /// Datagrams refused for an unknown reason.
    refused_without_error: AtomicU64,
    /// The last `errno` other than `ENOBUFS`. 0: none.
    errno: AtomicI32,
}

impl Refusals {
    /// Counts datagrams refused with `errno`. 0: the reason is unknown.
    #[cold]
    pub fn add(&self, packets: u64, errno: i32) {
        self.packets.fetch_add(packets, Ordering::Relaxed);
        match errno {
            libc::ENOBUFS => _ = self.no_room.fetch_add(packets, Ordering::Relaxed),
            0 => {
                self.refused_without_error
                    .fetch_add(packets, Ordering::Relaxed);
            }
            other => self.errno.store(other, Ordering::Relaxed),
        }
    }

    /// Returns the number of refused datagrams.
    pub fn packets(&self) -> u64 {
        self.packets.load(Ordering::Relaxed)
    }

    /// Returns the number of datagrams for which the queue of the network interface had no room.
    pub fn no_room(&self) -> u64 {
        self.no_room.load(Ordering::Relaxed)
    }

    /// Returns the number of datagrams refused for an unknown reason.
    pub fn refused_without_error(&self) -> u64 {
        self.refused_without_error.load(Ordering::Relaxed)
    }

    /// Returns the last `errno` other than `ENOBUFS`. `None`: there was none, or the reason is unknown.
    pub fn errno(&self) -> Option<i32> {
        Some(self.errno.load(Ordering::Relaxed)).filter(|&errno| errno != 0)
    }
}

/// Datagrams of each flow of a bench thread, which it writes and the coordinator thread reads.
#[derive(Clone, Debug)]
pub struct FlowCounts(Arc<[AtomicU64]>);

impl FlowCounts {
    /// Creates the counters of `flows` flows, all 0.
    pub fn new(flows: usize) -> Self {
        Self((0..flows).map(|_| AtomicU64::new(0)).collect())
    }

    /// Returns the counts so far.
    pub fn read(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|count| count.load(Ordering::Relaxed))
    }
}

/// Counters of the flows of one I/O object.
#[derive(Clone, Debug)]
pub struct FlowMeter {
    /// Counters of all flows of the bench thread.
    pub counts: FlowCounts,
    /// Flow of the first endpoint.
    pub first: usize,
}

impl FlowMeter {
    /// Counts one datagram of an endpoint. Only one thread may count.
    #[inline]
    pub fn count(&self, endpoint: usize) {
        let count = &self.counts.0[self.first + endpoint];
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_goes_on_where_its_word_begins_anew() {
        let full = usize::MAX - 2;
        let count = SharedCount {
            word: AtomicUsize::new(full),
            read: Mutex::new((full, 5)),
        };
        assert_eq!(count.read(), 5);
        count.add(10);
        assert_eq!(count.read(), 15);
        assert_eq!(count.read(), 15);
    }

    #[test]
    fn bytes_go_on_where_their_word_has_begun_anew_many_times() {
        let tally = SharedTally::new(1472);
        let (packets, odd) = (3_000_000_000, 700);
        let total = Tally {
            packets,
            bytes: packets * 1472 - odd,
        };
        tally.publish(total);
        assert_eq!(tally.read(), total);
        tally.add(BatchCount::of(2, 9));
        assert_eq!(tally.read().bytes, total.bytes + 9);
    }

    #[test]
    fn a_tally_that_is_read_between_its_two_stores_has_the_bytes_of_all_its_datagrams() {
        let tally = SharedTally::new(3);
        tally.publish(Tally {
            packets: 10,
            bytes: 30,
        });
        // The first store of a batch whose thread loses its CPU before the second.
        tally.packets.publish(50_010);
        let expected = Tally {
            packets: 50_010,
            bytes: 150_030,
        };
        assert_eq!(tally.read(), expected);
    }

    #[test]
    fn refusals_are_told_apart_by_what_is_known_of_them() {
        let refusals = Refusals::default();
        assert_eq!((refusals.packets(), refusals.errno()), (0, None));
        refusals.add(8, libc::EPERM);
        refusals.add(2, libc::ENOBUFS);
        refusals.add(1, 0);
        assert_eq!((refusals.packets(), refusals.no_room()), (11, 2));
        assert_eq!(
            (refusals.refused_without_error(), refusals.errno()),
            (1, Some(libc::EPERM))
        );
    }
}
