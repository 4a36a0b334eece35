//! Second completions of sends: the kernel no longer reads the memory of a datagram.

use io_uring::cqueue;

use crate::engines::linux::zero_copy::Completed;

/// `IORING_NOTIF_USAGE_ZC_COPIED` (include/uapi/linux/io_uring.h): it copied, or it used nothing, as after a failure.
const COPIED: i32 = 1 << 31;

/// Notifications that are due, and those that came.
pub(super) struct Batches {
    /// Datagrams of each batch that the kernel may still read.
    pub(super) in_use: Box<[usize]>,
    /// Datagrams of all batches whose send failed. Their notifications always say that the kernel copied.
    failed: Box<[bool]>,
    pub(super) completed: Completed,
}

/// The datagram that a completion is about.
pub(super) struct Place {
    pub(super) batch: usize,
    /// Index among the datagrams of all batches.
    pub(super) datagram: usize,
}

impl Batches {
    pub(super) fn new(batches: usize, count: usize) -> Self {
        Self {
            in_use: vec![0; batches].into(),
            failed: vec![false; batches * count].into(),
            completed: Completed::default(),
        }
    }

    /// Takes a completion. Returns whether it is the result of a send, and not a notification.
    #[inline]
    pub(super) fn is_result(&mut self, completion: &cqueue::Entry) -> bool {
        let (result, flags) = (completion.result(), completion.flags());
        let Place { batch, datagram } = Place::unpacked(completion.user_data());
        let is_result = !cqueue::notif(flags);
        if is_result {
            self.failed[datagram] = result <= 0;
        } else if !self.failed[datagram] {
            self.completed.calls += 1;
            self.completed.copied += u64::from(result & COPIED != 0);
        }
        if !cqueue::more(flags) {
            self.in_use[batch] -= 1;
        }
        is_result
    }
}

impl Place {
    pub(super) fn packed(&self) -> u64 {
        (self.batch as u64) << 32 | self.datagram as u64
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "two halves")]
    fn unpacked(data: u64) -> Self {
        Self {
            batch: (data >> 32) as usize,
            datagram: data as u32 as usize,
        }
    }
}
