//! Missing numbers that the socket dropped.

/// Numbers within which a datagram may have overtaken another one.
const NEAR: u64 = 64;

/// Drops of the socket that have a missing number of the same time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MatchedDrops {
    /// Drops since the last number that was higher than all before.
    pub(super) since_higher: u64,
    /// Missing numbers of the last jump without drops, and its position.
    open: (u64, u64),
    /// Missing numbers that have a drop.
    pub(super) matched: u64,
}

impl MatchedDrops {
    /// Enters a higher number before which this many are missing.
    pub(super) fn next(&mut self, missing: u64, position: u64) {
        let dropped = std::mem::take(&mut self.since_higher);
        let here = missing.min(dropped);
        let (mut open, mut at) = self.open;
        if position - at > NEAR {
            open = 0;
        }
        // A number that was overtaken on the way may be dropped after the jump.
        let overtaken = open.min(dropped - here);
        self.matched += here + overtaken;
        open -= overtaken;
        if missing > here {
            open += missing - here;
            at = position;
        }
        self.open = (open, at);
    }

    /// Enters a missing number that came late.
    pub(super) fn fill(&mut self) {
        self.open.0 = self.open.0.saturating_sub(1);
    }

    /// Enters that the numbers began again.
    pub(super) fn restart(&mut self) {
        self.since_higher = 0;
        self.open = (0, 0);
    }
}
