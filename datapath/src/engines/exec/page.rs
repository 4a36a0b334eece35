//! The page of memory that a program shares with its bench thread: `include/udpbench.h` describes it.
//!
//! Nothing that the program writes is trusted: offsets and lengths are this side's own, the page keeps its size, and
//! counts that do not add up make the trial fail.

#![expect(unsafe_code, reason = "memory that two processes share")]

use std::ffi::c_void;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::unistd::ftruncate;
use socket2::SockAddr;

/// Version of the page, increased with each change of its fields.
const VERSION: usize = 1;

/// Number of slots: a power of two, and no less than the largest batch.
pub(super) const SLOTS: u64 = 1024;
/// Number of round-trip times that the page has room for.
pub(super) const ROUND_TRIPS: u64 = 65536;

/// Offsets of the fields, in bytes. Fields are in the byte order of the machine.
pub(super) mod at {
    pub(crate) const VERSION: usize = 0;
    pub(crate) const ROLE: usize = 4;
    pub(crate) const PAYLOAD: usize = 8;
    pub(crate) const BUFFER: usize = 12;
    pub(crate) const BATCH: usize = 16;
    pub(crate) const CONNECTED: usize = 20;
    pub(crate) const SPIN: usize = 24;
    pub(crate) const TIMEOUT_MS: usize = 28;
    pub(crate) const SEED: usize = 32;
    pub(crate) const PEER_BYTES: usize = 40;
    pub(crate) const IP: usize = 44;
    pub(crate) const PEER: usize = 48;
    pub(crate) const PEER_TEXT: usize = 176;
    pub(crate) const VERIFY: usize = 240;
    pub(crate) const SLOTS: usize = 244;
    pub(crate) const SLOT_BYTES: usize = 248;
    pub(crate) const SLOTS_AT: usize = 252;
    pub(crate) const GO: usize = 256;
    pub(crate) const STOP: usize = 260;
    pub(crate) const SLOTS_READY: usize = 320;
    pub(crate) const PACKETS: usize = 512;
    pub(crate) const BYTES: usize = 520;
    pub(crate) const ERRORS: usize = 536;
    pub(crate) const REFUSED: usize = 544;
    pub(crate) const ANSWERED: usize = 552;
    pub(crate) const LATE: usize = 560;
    pub(crate) const READY: usize = 568;
    pub(crate) const ROUND_TRIPS: usize = 1024;
    pub(crate) const FIRST_SLOT: usize = ROUND_TRIPS + 4 * 65536;
}

/// Counts that a program has published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) errors: u64,
    pub(super) refused: u64,
    pub(super) answered: u64,
    pub(super) late: u64,
}

impl Published {
    /// Returns whether these counts can come `elapsed` after `before`: none goes back, and none has grown by more than
    /// one a nanosecond, and a batch that was counted at once. No CPU is that fast.
    pub(super) fn can_follow(&self, before: &Self, elapsed: Duration) -> bool {
        const AT_ONCE: u128 = 1 << 16;
        let most = elapsed.as_nanos() + AT_ONCE;
        let fields = |it: &Self| {
            [
                it.packets,
                it.bytes >> 16,
                it.errors,
                it.refused,
                it.answered,
                it.late,
            ]
        };
        let mut grown = fields(self).into_iter().zip(fields(before));
        grown.all(|(now, then)| now >= then && u128::from(now - then) <= most)
    }
}

/// The page, mapped into this process.
#[derive(Debug)]
pub(super) struct Page {
    memory: NonNull<c_void>,
    length: NonZeroUsize,
    slot_bytes: usize,
    file: OwnedFd,
}

// SAFETY: all fields behind the pointer are atomics or slots. One bench thread alone touches the slots.
unsafe impl Send for Page {}
// SAFETY: as above.
unsafe impl Sync for Page {}

impl Page {
    /// Makes a page, with slots for datagrams of this length if they are verified.
    ///
    /// # Errors
    /// Returns the error of the system call.
    pub(super) fn new(datagram_bytes: usize, verifies: bool) -> io::Result<Self> {
        // A slot has room for the longest datagram and its length, and begins at a multiple of a cache line.
        let slot_bytes = (4 + datagram_bytes).next_multiple_of(64);
        let slots = if verifies { SLOTS } else { 0 };
        let length = at::FIRST_SLOT + usize_of(slots) * slot_bytes;
        let length = NonZeroUsize::new(length).ok_or(io::ErrorKind::InvalidInput)?;
        let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
        let file = memfd_create("udpbench", flags)?;
        // 32 bits on some systems.
        let bytes = length.get().try_into().map_err(io::Error::other)?;
        ftruncate(&file, bytes)?;
        // A program that shortened the file would end this process with a SIGBUS.
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
        fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping of a file that keeps its length; nothing else refers to it.
        let memory = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, &file, 0) }?;
        let page = Self {
            memory,
            length,
            slot_bytes,
            file,
        };
        // By which the program numbers its requests.
        page.count(at::SEED)
            .store(fastrand::u64(..), Ordering::Relaxed);
        page.set(at::VERSION, VERSION);
        page.set(at::VERIFY, verifies.into());
        page.set(at::SLOTS, usize_of(slots));
        page.set(at::SLOT_BYTES, slot_bytes);
        page.set(at::SLOTS_AT, at::FIRST_SLOT);
        Ok(page)
    }

    /// Sets a field, after all that was set before.
    pub(super) fn set(&self, at: usize, value: usize) {
        let value = u32::try_from(value).unwrap_or(u32::MAX);
        self.word(at).store(value, Ordering::Release);
    }

    /// Sets the address that the program sends to.
    pub(super) fn set_peer(&self, peer: SocketAddr) {
        let text = peer.to_string();
        self.write(at::PEER_TEXT, &text.as_bytes()[..text.len().min(63)]);
        let address = SockAddr::from(peer);
        let bytes = address.len() as usize;
        self.set(at::PEER_BYTES, bytes);
        // SAFETY: the storage of an address is plain bytes, of which the first `bytes` are set.
        let address = unsafe { std::slice::from_raw_parts(address.as_ptr().cast::<u8>(), bytes) };
        self.write(at::PEER, address);
    }

    /// Returns the file that the program gets.
    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns whether the program is set up.
    pub(super) fn is_ready(&self) -> bool {
        self.word(at::READY).load(Ordering::Acquire) != 0
    }

    /// Returns the counts so far. Packets and bytes belong to the same moment, to within a batch: a reader that is
    /// delayed between the two reads again, up to 16 times.
    pub(super) fn published(&self) -> Published {
        const TRIES: usize = 16;
        let read = |at: usize| self.count(at).load(Ordering::Acquire);
        let packets_and_answered = || (read(at::PACKETS), read(at::ANSWERED));
        let (mut before, mut bytes) = (packets_and_answered(), 0);
        for _ in 0..TRIES {
            bytes = read(at::BYTES);
            let after = packets_and_answered();
            if after == before {
                break;
            }
            before = after;
        }
        let (packets, answered) = before;
        Published {
            packets,
            bytes,
            errors: read(at::ERRORS),
            refused: read(at::REFUSED),
            answered,
            late: read(at::LATE),
        }
    }

    /// Returns the round-trip time of the n-th response, in nanoseconds. `None`: it is overwritten, as `answered` have
    /// arrived by now.
    pub(super) fn round_trip_ns(&self, n: u64, answered: u64) -> Option<u64> {
        let at = at::ROUND_TRIPS + 4 * usize_of(n % ROUND_TRIPS);
        let ns = self.word(at).load(Ordering::Relaxed);
        (answered - n <= ROUND_TRIPS).then_some(ns.into())
    }

    /// Writes the datagram of the n-th slot.
    pub(super) fn fill_slot(&self, n: u64, datagram: &[u8]) {
        let at = self.slot(n);
        let length = u32::try_from(datagram.len()).unwrap_or_default();
        self.word(at).store(length, Ordering::Relaxed);
        self.write(at + 4, &datagram[..datagram.len().min(self.slot_bytes - 4)]);
    }

    /// Reads the datagram of the n-th slot into `datagram`.
    pub(super) fn read_slot(&self, n: u64, datagram: &mut Vec<u8>) {
        let at = self.slot(n);
        let length = self.word(at).load(Ordering::Relaxed) as usize;
        let length = length.min(self.slot_bytes - 4);
        datagram.resize(length, 0);
        // SAFETY: the slot lies within the mapping, and `datagram` elsewhere. The program has counted the datagram, so
        // it writes elsewhere; if it writes here all the same, the bytes are wrong, which is what verification finds.
        unsafe {
            ptr::copy_nonoverlapping(self.pointer(at + 4, length), datagram.as_mut_ptr(), length);
        };
    }

    /// Publishes the number of slots that are filled or read.
    pub(super) fn publish_slots(&self, ready: u64) {
        self.count(at::SLOTS_READY).store(ready, Ordering::Release);
    }

    fn slot(&self, n: u64) -> usize {
        at::FIRST_SLOT + usize_of(n % SLOTS) * self.slot_bytes
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        // SAFETY: the range lies within the mapping, and `bytes` elsewhere.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.pointer(at, bytes.len()), bytes.len());
        };
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: within the mapping, aligned as all fields and slots are, and valid as long as `self`.
        unsafe { AtomicU32::from_ptr(self.pointer(at, mem::size_of::<u32>()).cast()) }
    }

    fn count(&self, at: usize) -> &AtomicU64 {
        // SAFETY: within the mapping, aligned as all counts are, and valid as long as `self`.
        unsafe { AtomicU64::from_ptr(self.pointer(at, mem::size_of::<u64>()).cast()) }
    }

    fn pointer(&self, at: usize, length: usize) -> *mut u8 {
        assert!(at + length <= self.length.get(), "outside of the page");
        // SAFETY: checked above.
        unsafe { self.memory.as_ptr().cast::<u8>().add(at) }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the mapping is this page's own, and no reference to it outlives `self`.
        let _ = unsafe { munmap(self.memory, self.length.get()) };
    }
}

/// Converts a number that fits: of slots or of round trips.
#[expect(clippy::cast_possible_truncation, reason = "65,536 at most")]
fn usize_of(n: u64) -> usize {
    n as usize
}
