//! Pace of a series: numbers of a jump that is too large for its time were not sent.

use super::elsewhere::NEAR;

/// Length of the pieces of time in which numbers are counted.
const PIECE_NS: u64 = 100_000_000;
/// Numbers after which the pace is known.
const KNOWN: u64 = 4;
/// Time for which a sender or the path may hold what it sends at once then.
const HELD_NS: u64 = 1_000_000_000;
/// Factor by which a sender may be faster than it was.
const FASTER: f64 = 4.0;

/// Numbers over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// First and last arrival of a higher number since 1970, in nanoseconds.
    seen: Option<(u64, u64)>,
    /// Beginning of the current piece of time, and the numbers that arrived in it.
    piece: (u64, u64),
    /// Most numbers that arrived in a piece.
    most: u64,
    /// Numbers that came or were lost.
    numbers: u64,
    /// Numbers by which what has come is behind the pace, of the last second: what was held comes at once.
    behind: f64,
    /// Longest time before a jump, in nanoseconds, and the most drops of the socket before one.
    before_jump: (u64, u64),
    /// Most nanoseconds for each number, and most drops for each, that would lie between two parts of the series.
    between_parts: (f64, f64),
}

impl Pace {
    /// Enters a number that is `ahead` of the one before, with the drops of the socket in between.
    pub(super) fn next(&mut self, ahead: u64, arrived_ns: u64, dropped: u64) {
        let (first, last) = self.seen.unwrap_or((arrived_ns, arrived_ns));
        let ns = arrived_ns.saturating_sub(last);
        self.behind = (self.held(ns) - ahead as f64).max(0.0);
        self.seen = Some((first, arrived_ns.max(last)));
        if ahead > 1 {
            let (longest, most) = self.before_jump;
            self.before_jump = (longest.max(ns), most.max(dropped));
        }
        self.numbers += ahead;
        if arrived_ns.saturating_sub(self.piece.0) >= PIECE_NS {
            self.piece = (arrived_ns, 0);
        }
        // The socket dropped what had arrived, too.
        let arrived = 1 + dropped.min(ahead - 1);
        self.piece.1 += arrived / ns.div_ceil(PIECE_NS).max(1);
        self.most = self.most.max(self.piece.1);
    }

    /// Returns the numbers that go by on average in this time.
    pub(super) fn numbers_in(&self, ns: u64) -> f64 {
        let Some((first, last)) = self.seen else {
            return 0.0;
        };
        match last.saturating_sub(first) {
            0 => 0.0,
            length => ns as f64 * (self.numbers - 1) as f64 / length as f64,
        }
    }

    /// Returns the most numbers that can go by in this time, by the busiest piece so far or on average.
    pub(super) fn most_in(&self, ns: u64) -> f64 {
        let busiest = self.most as f64 * (ns as f64 / PIECE_NS as f64);
        busiest.max(self.numbers_in(ns))
    }

    /// Enters the time before a number that was not higher.
    pub(super) fn pause(&mut self, ns: u64) {
        self.before_jump.0 = self.before_jump.0.max(ns);
    }

    /// Returns the nanoseconds from the last higher number until a moment.
    pub(super) fn since_last_ns(&self, now_ns: u64) -> u64 {
        self.seen.map_or(0, |(_, last)| now_ns.saturating_sub(last))
    }

    /// Enters that the numbers began again. They may have gone around instead: then `ahead` numbers went by, some of
    /// which the socket dropped.
    pub(super) fn restart(&mut self, ahead: u64, arrived_ns: u64, dropped: u64) {
        let Some((_, last)) = &mut self.seen else {
            return;
        };
        let ns = arrived_ns.saturating_sub(*last) as f64;
        *last = arrived_ns.max(*last);
        let (longest, most) = self.between_parts;
        let ahead = ahead.max(1) as f64;
        self.between_parts = (longest.max(ns / ahead), most.max(dropped as f64 / ahead));
    }

    /// Returns the most numbers that can have been sent since the last one, if a jump by so many is too large for that.
    pub(super) fn too_few(&self, jump: u64, now_ns: u64) -> Option<u64> {
        let (first, last) = self.seen?;
        if self.numbers < KNOWN || last == first {
            return None;
        }
        let ns = self.since_last_ns(now_ns);
        let most = self.held(ns).max(self.most_in(ns));
        let is_too_large = jump as f64 > NEAR as f64 + FASTER * most;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "fewer than a jump"
        )]
        is_too_large.then(|| most.ceil() as u64)
    }

    /// Returns the numbers that are due after this time, with those that were held before.
    fn held(&self, ns: u64) -> f64 {
        let kept = (1.0 - ns as f64 / HELD_NS as f64).max(0.0);
        self.behind * kept + self.numbers_in(ns.min(HELD_NS))
    }

    /// Returns whether the numbers, of which there are this many, may have gone around without being seen.
    pub(super) fn may_go_around(&self, numbers: u64) -> bool {
        let (ns, dropped) = self.before_jump;
        let gone = self.most_in(ns).max(dropped as f64) / numbers as f64;
        let (ns, dropped) = self.between_parts;
        let between = ns * self.most_in(1);
        gone.max(between).max(dropped) >= 0.5
    }
}
