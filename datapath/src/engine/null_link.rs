//! What stands in for the kernel between a `null` sender and its receiver: a number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many datagrams one sender has put on its link. Padded, so that senders do not disturb each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct NullQueue(AtomicU64);

impl NullQueue {
    /// Says that `total` datagrams have been put on it so far. One sender only.
    #[inline]
    pub fn put(&self, total: u64) {
        self.0.store(total, Ordering::Relaxed);
    }

    /// How many datagrams have been put on it so far.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The two directions of a link without a socket.
#[derive(Debug, Default)]
pub struct NullLink {
    /// Where its own datagrams go.
    pub out: Arc<NullQueue>,
    /// The queues of the senders whose datagrams end here.
    pub incoming: Vec<Arc<NullQueue>>,
}
