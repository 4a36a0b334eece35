//! What a lane has done so far: it writes, the coordinator reads.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
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

/// A [`Tally`] that one lane writes and the coordinator reads.
#[derive(Debug, Default)]
pub struct SharedTally {
    packets: AtomicU64,
    bytes: AtomicU64,
}

impl SharedTally {
    /// Makes a new total visible. Relaxed: a counter orders nothing.
    #[inline]
    pub fn publish(&self, tally: Tally) {
        self.packets.store(tally.packets, Ordering::Relaxed);
        self.bytes.store(tally.bytes, Ordering::Relaxed);
    }

    /// Adds a burst, for the one thread that writes it: without a total of its own.
    #[inline]
    pub fn add(&self, burst: Burst) {
        let add =
            |to: &AtomicU64, more| to.store(to.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        add(&self.packets, burst.packets);
        add(&self.bytes, burst.bytes);
    }

    /// The total so far. Packets and bytes of one moment, to within a burst: who is held up between the two
    /// reads again. A lane that is quicker than that each time moves nothing (`null`).
    pub fn read(&self) -> Tally {
        const TRIES: usize = 16;
        let mut tally = Tally::default();
        for _ in 0..TRIES {
            tally = Tally {
                packets: self.packets.load(Ordering::Relaxed),
                bytes: self.bytes.load(Ordering::Relaxed),
            };
            if self.packets.load(Ordering::Relaxed) == tally.packets {
                break;
            }
        }
        tally
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
    /// Handed to the kernel.
    pub sent: SharedTally,
    /// Taken from the kernel.
    pub received: SharedTally,
    /// Calls that found nothing to do.
    pub would_blocks: AtomicU64,
    /// Calls that failed.
    pub errors: AtomicU64,
    /// Datagrams that the queue of the network interface had no room for (`ENOBUFS`, which only sockets with
    /// `IP_RECVERR` are told: ip(7)).
    pub refused: AtomicU64,
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
