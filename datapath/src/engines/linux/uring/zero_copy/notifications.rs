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
    /// Datagrams per batch.
    count: usize,
    pub(super) completed: Completed,
}

impl Batches {
    pub(super) fn new(batches: usize, count: usize) -> Self {
        Self {
            in_use: vec![0; batches].into(),
            failed: vec![false; batches * count].into(),
            count,
            completed: Completed::default(),
        }
    }

    /// Takes a completion, whose data are the index of its datagram among those of all batches. Returns whether it is the result of a send, and not a notification.
    #[inline]
    pub(super) fn is_result(&mut self, completion: &cqueue::Entry) -> bool {
        let (result, flags) = (completion.result(), completion.flags());
        #[expect(clippy::cast_possible_truncation, reason = "it was a usize")]
        let datagram = completion.user_data() as usize;
        let is_result = !cqueue::notif(flags);
        if is_result {
            self.failed[datagram] = result <= 0;
        } else if !self.failed[datagram] {
            self.completed.calls += 1;
            self.completed.copied += u64::from(result & COPIED != 0);
        }
        if !cqueue::more(flags) {
            self.in_use[datagram / self.count] -= 1;
        }
        is_result
    }
}
