//! Pool of receive buffers, from which the kernel takes one per datagram.

use std::io;
use std::slice;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

use crate::engines::linux::FixedBuffer;

/// Identifier of the only buffer group.
pub(super) const BUFFERS: u16 = 0;

/// Number of buffers, a power of 2. The kernel takes them in turn, so all of them pass through the caches, and there
/// should be few. A call takes up to 32 datagrams from a full queue (`MULTISHOT_MAX_RETRY`, io_uring/net.c). With 32
/// buffers, each call ends the receive for lack of a buffer; with 64, that hardly ever happens.
const COUNT: usize = 64;
/// Limit on the memory of all buffers, in bytes. With many sockets, the pool has a buffer for each of them within
/// this limit.
const MOST_BYTES: usize = 64 << 20;
const MOST: usize = 1 << 14;

/// The provided buffers, and the ring that passes them to the kernel (io_uring_register_buf_ring(3)).
pub(super) struct Pool {
    entries: FixedBuffer<EntryPage>,
    pub(super) count: u16,
    tail: u16,
    bytes_each: usize,
    memory: FixedBuffer<u8>,
}

/// Memory for entries of the ring, with the alignment that the kernel requires: that of its largest pages.
#[derive(Clone)]
#[repr(C, align(65536))]
struct EntryPage([u64; 8192]);

impl Pool {
    /// Creates a pool of [`COUNT`] buffers, or of about one per socket if there are more sockets.
    pub(super) fn new(sockets: usize, bytes_each: usize) -> io::Result<Self> {
        let most = (MOST_BYTES / bytes_each).clamp(COUNT, MOST);
        let count = sockets
            .next_power_of_two()
            .clamp(COUNT, prev_power_of_two(most));
        let count = u16::try_from(count).map_err(io::Error::other)?;
        let bytes = usize::from(count) * size_of::<BufRingEntry>();
        #[expect(clippy::large_stack_arrays, reason = "64 KiB, while a ring is opened")]
        let pages = vec![EntryPage([0; 8192]); bytes.div_ceil(size_of::<EntryPage>())];
        let mut pool = Self {
            entries: FixedBuffer::new(pages),
            count,
            tail: 0,
            bytes_each,
            memory: FixedBuffer::new(vec![0; usize::from(count) * bytes_each]),
        };
        for id in 0..count {
            pool.give_back(id);
        }
        pool.publish();
        Ok(pool)
    }

    pub(super) fn register(&self, ring: &IoUring) -> io::Result<()> {
        let address = self.entries().expose_provenance() as u64;
        #[expect(unsafe_code, reason = "the kernel follows the addresses in the ring")]
        // SAFETY: the buffer ring and the buffers are memory that `self` owns and that does not move. The owner of
        // both drops `ring` first.
        unsafe {
            ring.submitter()
                .register_buf_ring_with_flags(address, self.count, BUFFERS, 0)
        }
    }

    fn entries(&self) -> *mut BufRingEntry {
        self.entries.at(0).cast()
    }

    pub(super) fn buffer(&self, id: u16) -> &[u8] {
        let start = usize::from(id) * self.bytes_each;
        assert!(start + self.bytes_each <= self.memory.len());
        #[expect(unsafe_code, reason = "the kernel may write to the other buffers")]
        // SAFETY: the buffer is within the memory, and the kernel does not access it until it is given back.
        unsafe {
            slice::from_raw_parts(self.memory.at(start), self.bytes_each)
        }
    }

    /// Puts a buffer at the tail of the ring. The kernel sees it after [`Pool::publish`].
    pub(super) fn give_back(&mut self, id: u16) {
        let start = usize::from(id) * self.bytes_each;
        let address = self.memory.at(start).expose_provenance() as u64;
        let slot = usize::from(self.tail & (self.count - 1));
        #[expect(unsafe_code, reason = "the kernel and we share this memory")]
        // SAFETY: `slot` is below `count`, and between the tail and the head the entries are ours.
        let entry = unsafe { &mut *self.entries().add(slot) };
        entry.set_addr(address);
        entry.set_len(u32::try_from(self.bytes_each).unwrap_or(u32::MAX));
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    pub(super) fn publish(&self) {
        #[expect(unsafe_code, reason = "the kernel and we share this memory")]
        // SAFETY: the tail is within the first entry, aligned, and written by us alone.
        let tail = unsafe { &*BufRingEntry::tail(self.entries()).cast::<AtomicU16>() };
        // The kernel must see the entries before it sees the new tail.
        tail.store(self.tail, Ordering::Release);
    }
}

fn prev_power_of_two(number: usize) -> usize {
    1 << number.ilog2()
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn what_is_written_to_the_address_of_a_buffer_is_in_that_buffer() {
        let mut pool = Box::new(Pool::new(1, 16).expect("memory"));
        let count = pool.count;
        for round in 0..2 {
            for id in 0..count {
                let slot = usize::from(id);
                #[expect(unsafe_code, reason = "the kernel's part")]
                // SAFETY: the slot is below `count`. The buffer has 16 bytes and belongs to the kernel until it is
                // given back.
                unsafe {
                    let entry = &*pool.entries().add(slot);
                    assert_eq!((entry.bid(), entry.len()), (id, 16));
                    let address = usize::try_from(entry.addr()).expect("an address");
                    let buffer = ptr::with_exposed_provenance_mut::<u8>(address);
                    buffer.write_bytes(id.to_le_bytes()[0] ^ round, 16);
                }
                assert_eq!(pool.buffer(id), [id.to_le_bytes()[0] ^ round; 16]);
            }
            for id in 0..count {
                pool.give_back(id);
            }
            pool.publish();
        }
    }
}
