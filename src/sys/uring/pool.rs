//! The buffers that the kernel takes one of per datagram.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// The one group of buffers.
pub(super) const BUFFERS: u16 = 0;

/// The provided buffers, and the ring by which they go to the kernel (io_uring_register_buf_ring(3)).
pub(super) struct Pool {
    entries: NonNull<BufRingEntry>,
    layout: Layout,
    pub(super) count: u16,
    tail: u16,
    bytes_each: usize,
    memory: Box<[u8]>,
}

impl Pool {
    /// As many as fit 8 MiB, but 16 at least: a receiver that is late has nothing to gain from more.
    pub(super) fn new(bytes_each: usize) -> io::Result<Self> {
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

    pub(super) fn register(&self, ring: &IoUring) -> io::Result<()> {
        let address = self.entries.as_ptr() as u64;
        #[expect(unsafe_code, reason = "the kernel follows the addresses in the ring")]
        // SAFETY: ring and buffers are memory that `self` owns and that does not move; whoever owns both
        // drops `ring` first.
        unsafe {
            ring.submitter()
                .register_buf_ring_with_flags(address, self.count, BUFFERS, 0)
        }
    }

    pub(super) fn buffer(&self, id: u16) -> &[u8] {
        let start = usize::from(id) * self.bytes_each;
        &self.memory[start..start + self.bytes_each]
    }

    /// Puts a buffer at the tail; the kernel sees it after [`Pool::publish`].
    pub(super) fn give_back(&mut self, id: u16) {
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

    pub(super) fn publish(&self) {
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
