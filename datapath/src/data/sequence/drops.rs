//! Missing numbers that the socket dropped.

/// Numbers within which a datagram may have overtaken another one.
const NEAR: u64 = 64;

/// Drops of the socket, of any source, and missing numbers of the same time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MatchedDrops {
    /// Drops since the last number that was higher than all before.
    pub(super) since_higher: u64,
    /// Missing numbers of the last jumps that have no drop, and the position of the last one.
    open: (u64, u64),
    /// Drops that have no missing number yet, and their position.
    spare: (u64, u64),
    /// Missing numbers with a drop between the same two numbers.
    pub(super) matched: u64,
    /// Missing numbers with a drop nearby, for datagrams that overtook each other.
    nearby: u64,
    /// Most numbers by which a datagram came late.
    latest: u64,
}

impl MatchedDrops {
    /// Enters a higher number before which this many are missing and `dropped` were dropped.
    pub(super) fn next(&mut self, missing: u64, dropped: u64, position: u64) {
        let last = position - missing - 1;
        let near = NEAR + 2 * self.latest;
        for (count, at) in [&mut self.open, &mut self.spare] {
            // Those of many jumps are not all near.
            *count = if last.saturating_sub(*at) > near {
                0
            } else {
                near.min(*count)
            };
        }
        let here = missing.min(dropped);
        self.matched += here;
        // A number that was overtaken may be dropped after the jump, and one behind an overtaken number before it.
        let earlier = self.open.0.min(dropped - here);
        let later = self.spare.0.min(missing - here);
        self.nearby += earlier + later;
        self.open.0 -= earlier;
        self.spare.0 -= later;
        if missing > here + later {
            self.open = (self.open.0 + missing - here - later, position);
        }
        if dropped > here + earlier {
            self.spare = (self.spare.0 + dropped - here - earlier, position);
        }
    }

    /// Enters a missing number that came this late, in numbers.
    pub(super) fn fill(&mut self, behind: u64) {
        self.latest = self.latest.max(behind);
        self.open.0 = self.open.0.saturating_sub(1);
    }

    /// Returns the most missing numbers that may have been dropped. Without late datagrams, none overtook another one.
    pub(super) fn possible(&self) -> u64 {
        self.matched + if self.latest > 0 { self.nearby } else { 0 }
    }

    /// Enters the drops after the last number. What was late then may be among them.
    pub(super) fn finish(&mut self, dropped: u64) {
        self.nearby += self.open.0.min(dropped);
    }

    /// Enters that the numbers began again. This many are missing since then, and the drops before it are `earlier`.
    pub(super) fn restart(&mut self, missing: u64, earlier: u64) {
        let dropped = std::mem::take(&mut self.since_higher);
        self.matched += missing.min(dropped.saturating_sub(earlier));
        self.nearby += self.open.0.min(earlier);
        (self.open, self.spare) = ((0, 0), (0, 0));
    }
}
