//! What a lane has done so far: it writes, the coordinator reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

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
    /// Kernel thread id, 0 before the lane has started.
    pub tid: AtomicI32,
    /// Whether the lane runs on the CPU that it was given.
    pub pinned: AtomicBool,
    /// Set when the lane sends no more.
    pub done_sending: AtomicBool,
    /// Set now and then while a lane waits for answers: some may be overdue.
    pub overdue: AtomicBool,
    /// How futures of the lane are woken. See [`Wakeups`].
    pub wakeups: Arc<Wakeups>,
}
