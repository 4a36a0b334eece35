//! Task of a program, and its counters.

use std::time::Duration;

/// Task of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Role {
    Send = 1,
    Receive = 2,
    Client = 3,
    Server = 4,
}

impl Role {
    /// Returns whether the program ends by itself once `stop` is set.
    pub(super) fn initiates(self) -> bool {
        matches!(self, Self::Send | Self::Client)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_go_back_or_that_no_cpu_is_fast_enough_for_cannot_follow() {
        let counts = |packets| Published {
            packets,
            bytes: 300 * packets,
            ..Published::default()
        };
        let can_follow = |now, then, elapsed| {
            counts(now).can_follow(&counts(then), Duration::from_millis(elapsed))
        };
        assert!(can_follow(1024, 0, 0), "a batch between two looks");
        assert!(can_follow(10_000_000, 0, 100), "100 Mpps");
        assert!(!can_follow(5, 100, 100));
        assert!(!can_follow(0xf000_0000, 0, 100));
    }
}
