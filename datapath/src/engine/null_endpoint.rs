//! Counters by which the `null` engine stands in for a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of datagrams that one sender has sent. Padded, so that senders do not disturb each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct SentCounter(AtomicU64);

impl SentCounter {
    /// Sets the number of datagrams sent so far to `total`. Only one sender may call it.
    #[inline]
    pub fn set(&self, total: u64) {
        self.0.store(total, Ordering::Relaxed);
    }

    /// Returns the number of datagrams sent so far.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counters of one endpoint, in place of its socket's two directions. The socket exists, and stays unused.
#[derive(Debug, Default)]
pub struct NullEndpoint {
    /// Datagrams sent from here.
    pub out: Arc<SentCounter>,
    /// Datagrams sent to here, by sender.
    pub incoming: Vec<Arc<SentCounter>>,
}
