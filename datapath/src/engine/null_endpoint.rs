//! Replacement for the kernel between a `null` sender and its receiver: a counter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of datagrams that one sender has sent. Padded, so that senders do not disturb each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct NullQueue(AtomicU64);

impl NullQueue {
    /// Sets the number of datagrams sent so far to `total`. Only one sender may call it.
    #[inline]
    pub fn put(&self, total: u64) {
        self.0.store(total, Ordering::Relaxed);
    }

    /// Returns the number of datagrams sent so far.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The two directions of an endpoint without a socket.
#[derive(Debug, Default)]
pub struct NullEndpoint {
    /// Queue of the sent datagrams.
    pub out: Arc<NullQueue>,
    /// Queues of the senders whose datagrams arrive here.
    pub incoming: Vec<Arc<NullQueue>>,
}
