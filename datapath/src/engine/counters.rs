//! What a lane has done so far: it writes, the coordinator reads.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::{Burst, Wakeups};

/// Datagrams and their payload bytes since the threads started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Datagrams.
    pub packets: u64,
    /// UDP payload in them.
    pub bytes: u64,
}

impl Tally {
    /// Adds a burst and returns the new total.
    #[inline]
    pub fn add(&mut self, burst: Burst) -> Self {
        self.packets += burst.packets;
        self.bytes += burst.bytes;
        *self
    }
}

/// A count that one lane raises and others read.
///
/// The lane stores a machine word: to store 64 bits at once, a CPU of 32 bits needs a loop (ARMv7), or a call of the
/// kernel (ARMv6). Whoever reads adds up what is new, so that the word may begin anew, as long as it is read at least
/// once in 2^32 datagrams: the coordinator looks every second.
#[derive(Debug, Default)]
pub struct SharedCount {
    word: AtomicUsize,
    /// The word when it was last read, and the whole count then.
    read: Mutex<(usize, u64)>,
}

impl SharedCount {
    /// Makes a new total visible. Relaxed: a counter orders nothing.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the reader widens it")]
    pub fn publish(&self, total: u64) {
        self.word.store(total as usize, Ordering::Relaxed);
    }

    /// Adds to it, for the one thread that writes it: without a total of its own.
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
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, total) = *read;
        let word = self.word.load(Ordering::Relaxed);
        *read = (word, total + word.wrapping_sub(before) as u64);
        read.1
    }
}

/// A [`Tally`] that one lane writes and the coordinator reads.
#[derive(Debug, Default)]
pub struct SharedTally {
    packets: SharedCount,
    /// A machine word, as in [`SharedCount`].
    bytes: AtomicUsize,
    payload_bytes: u64,
}

impl SharedTally {
    /// Makes a tally of datagrams that mostly hold `payload_bytes` each.
    pub fn new(payload_bytes: usize) -> Self {
        Self {
            payload_bytes: payload_bytes as u64,
            ..Self::default()
        }
    }

    /// Makes a new total visible, as [`SharedCount::publish`].
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the reader widens it")]
    pub fn publish(&self, tally: Tally) {
        self.packets.publish(tally.packets);
        self.bytes.store(tally.bytes as usize, Ordering::Relaxed);
    }

    /// Adds a burst, as [`SharedCount::add`].
    #[inline]
    pub fn add(&self, burst: Burst) {
        self.packets.add(burst.packets);
        #[expect(clippy::cast_possible_truncation, reason = "the reader widens it")]
        let bytes = burst.bytes as usize;
        let total = self.bytes.load(Ordering::Relaxed).wrapping_add(bytes);
        self.bytes.store(total, Ordering::Relaxed);
    }

    /// Returns the total so far. Packets and bytes of one moment, to within a burst: who is held up between the two
    /// reads again. A lane that is quicker than that each time moves nothing (`null`).
    pub fn read(&self) -> Tally {
        const TRIES: usize = 16;
        let (mut packets, mut word) = (self.packets.read(), 0);
        for _ in 0..TRIES {
            word = self.bytes.load(Ordering::Relaxed);
            let again = self.packets.read();
            if again == packets {
                break;
            }
            packets = again;
        }
        // Bytes begin anew after seconds where a word has 32 bits. How many there should be is known, and how far they
        // are from that fits: 2 GiB in datagrams of another length.
        let expected = packets.wrapping_mul(self.payload_bytes);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            reason = "its lower half"
        )]
        let off = word.wrapping_sub(expected as usize) as isize;
        Tally {
            packets,
            bytes: expected.wrapping_add_signed(off as i64),
        }
    }
}

/// The requests that threads beside a server's loop are working on. One of them counts at a time.
#[derive(Debug, Default)]
pub struct Beside {
    under_way: Mutex<usize>,
    has_room: Condvar,
}

impl Beside {
    /// One more, once fewer than `most` are under way: what more there is waits where its drops are counted.
    pub fn begin(&self, most: usize) {
        let under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_full = |under_way: &mut usize| *under_way >= most;
        let under_way = self.has_room.wait_while(under_way, is_full);
        *under_way.unwrap_or_else(PoisonError::into_inner) += 1;
    }

    /// One is done; `count` is called by one thread at a time.
    pub fn end(&self, count: impl FnOnce()) {
        let mut under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        count();
        *under_way -= 1;
        drop(under_way);
        self.has_room.notify_one();
    }
}

/// What one lane has done so far. Two cache lines of its own (adjacent-line prefetch pairs 64 B lines,
/// and some ARM cores have 128 B ones), so that lanes do not slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Meter {
    /// Datagrams handed to the kernel, whether or not it refused them.
    pub sent: SharedCount,
    /// Taken from the kernel.
    pub received: SharedTally,
    /// Calls that found nothing to do.
    pub would_blocks: AtomicU64,
    /// Calls that failed otherwise than by a refusal.
    pub errors: AtomicU64,
    /// Those of [`Meter::sent`] that the kernel refused.
    pub refusals: Refusals,
    /// Kernel thread id, 0 before the lane has started.
    pub tid: AtomicI32,
    /// Whether the lane runs on the CPU that it was given.
    pub pinned: AtomicBool,
    /// Set when the lane sends no more.
    pub done_sending: AtomicBool,
    /// Counts up now and then while a lane waits for answers: some may be overdue.
    pub overdue: AtomicU32,
    /// Who answers beside the lane's loop.
    pub beside: Beside,
    /// How futures of the lane are woken. See [`Wakeups`].
    pub wakeups: Arc<Wakeups>,
}

impl Meter {
    /// Makes the meter of a lane that receives datagrams of `payload_bytes`.
    pub fn new(payload_bytes: usize) -> Self {
        Self {
            received: SharedTally::new(payload_bytes),
            ..Self::default()
        }
    }
}

/// Datagrams that were handed to the kernel and that it did not take: they are lost.
///
/// A call that is to be made again (`EAGAIN`, `EINTR`) refuses nothing.
#[derive(Debug, Default)]
pub struct Refusals {
    packets: AtomicU64,
    /// Those that the queue of the network interface had no room for (`ENOBUFS`, which only sockets with `IP_RECVERR`
    /// are told: ip(7)).
    no_room: AtomicU64,
    /// Those of which the reason is not known.
    unsaid: AtomicU64,
    /// The `errno` of the last of the others. 0: there is none.
    errno: AtomicI32,
}

impl Refusals {
    /// Counts datagrams that were refused for that reason. 0: it is not known.
    #[cold]
    pub fn add(&self, packets: u64, errno: i32) {
        self.packets.fetch_add(packets, Ordering::Relaxed);
        match errno {
            libc::ENOBUFS => _ = self.no_room.fetch_add(packets, Ordering::Relaxed),
            0 => _ = self.unsaid.fetch_add(packets, Ordering::Relaxed),
            other => self.errno.store(other, Ordering::Relaxed),
        }
    }

    /// Returns how many there are.
    pub fn packets(&self) -> u64 {
        self.packets.load(Ordering::Relaxed)
    }

    /// Returns how many of them the queue of the network interface had no room for.
    pub fn no_room(&self) -> u64 {
        self.no_room.load(Ordering::Relaxed)
    }

    /// Returns of how many of them the reason is not known.
    pub fn unsaid(&self) -> u64 {
        self.unsaid.load(Ordering::Relaxed)
    }

    /// Returns the `errno` of the last one that was refused for another reason. `None`: there is none, or it is not known.
    pub fn errno(&self) -> Option<i32> {
        Some(self.errno.load(Ordering::Relaxed)).filter(|&errno| errno != 0)
    }
}

/// Datagrams of each flow of a lane: it writes, the coordinator reads.
#[derive(Clone, Debug)]
pub struct FlowCounts(Arc<[AtomicU64]>);

impl FlowCounts {
    /// Of so many flows.
    pub fn new(flows: usize) -> Self {
        Self((0..flows).map(|_| AtomicU64::new(0)).collect())
    }

    /// The counts so far.
    pub fn read(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|count| count.load(Ordering::Relaxed))
    }
}

/// Where the flows of one port are counted.
#[derive(Clone, Debug)]
pub struct FlowMeter {
    /// Those of its lane.
    pub counts: FlowCounts,
    /// The flow of its first link.
    pub first: usize,
}

impl FlowMeter {
    /// One more datagram of a link. Only one thread counts.
    #[inline]
    pub fn count(&self, link: usize) {
        let count = &self.counts.0[self.first + link];
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
        tally.add(Burst::of(2, 9));
        assert_eq!(tally.read().bytes, total.bytes + 9);
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
            (refusals.unsaid(), refusals.errno()),
            (1, Some(libc::EPERM))
        );
    }
}
