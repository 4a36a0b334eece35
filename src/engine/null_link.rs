//! A null_link: replaces the kernel between a `null` sender and its receiver.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many datagrams one sender has put on it. Padded, so that senders do not disturb each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct NullLink(AtomicU64);

impl NullLink {
    /// Says that `total` datagrams have been put on the null_link so far. One sender only.
    #[inline]
    pub fn put(&self, total: u64) {
        self.0.store(total, Ordering::Relaxed);
    }

    /// How many datagrams have been put on the null_link so far.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
