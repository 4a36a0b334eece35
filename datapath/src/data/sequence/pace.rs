//! Pace of a series: jumps that are too large for their time are no losses.

/// Length of the pieces of time in which numbers are counted.
const PIECE_NS: u64 = 100_000_000;
/// Jumps up to this length need no proof.
const SHORT: u64 = 1024;
/// Factor by which a sender may be faster than it was.
const FASTER: f64 = 4.0;

/// Jump that is too long to be believed without a proof.
#[derive(Clone, Copy, Debug)]
struct Jump {
    numbers: u64,
    /// Those of them that the socket did not drop.
    not_dropped: u64,
    ns: u64,
}

/// Numbers over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// First and last arrival of a higher number since 1970, in nanoseconds.
    seen: Option<(u64, u64)>,
    /// Beginning of the current piece of time, and the numbers that arrived in it.
    piece: (u64, u64),
    /// Most numbers that arrived in a piece.
    most: u64,
    /// Numbers that came or were lost in short jumps.
    numbers: u64,
    /// The jump that is largest for its time.
    worst: Option<Jump>,
    /// Longest time before a jump, in nanoseconds, and the most drops of the socket before one.
    before_jump: (u64, u64),
    /// Most nanoseconds for each number, and most drops for each, that would lie between two parts of the series.
    between_parts: (f64, f64),
}

impl Pace {
    /// Enters a number that is `ahead` of the one before, with the drops of the socket in between.
    pub(super) fn next(&mut self, ahead: u64, arrived_ns: u64, dropped: u64) {
        let (first, last) = self.seen.unwrap_or((arrived_ns, arrived_ns));
        self.seen = Some((first, arrived_ns.max(last)));
        let ns = arrived_ns.saturating_sub(last);
        if ahead > 1 {
            let (longest, most) = self.before_jump;
            self.before_jump = (longest.max(ns), most.max(dropped));
        }
        let not_dropped = ahead - dropped.min(ahead - 1);
        let is_unproven = not_dropped > SHORT;
        if is_unproven {
            let jump = Jump {
                numbers: ahead,
                not_dropped,
                ns,
            };
            let is_worse = |worst: Jump| jump.per_piece() > worst.per_piece();
            if self.worst.is_none_or(is_worse) {
                self.worst = Some(jump);
            }
        }
        let numbers = if is_unproven { 1 } else { ahead };
        self.numbers += numbers;
        if arrived_ns.saturating_sub(self.piece.0) >= PIECE_NS {
            self.piece = (arrived_ns, 0);
        }
        // The socket dropped what had arrived, too.
        let arrived = 1 + dropped.min(ahead - 1);
        self.piece.1 += arrived.saturating_mul(PIECE_NS) / ns.max(PIECE_NS);
        self.most = self.most.max(self.piece.1);
    }

    /// Returns the numbers that go by on average in this time.
    pub(super) fn numbers_in(&self, ns: u64) -> f64 {
        let Some((first, last)) = self.seen else {
            return 0.0;
        };
        match last.saturating_sub(first) {
            0 => 0.0,
            length => ns as f64 * self.numbers as f64 / length as f64,
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

    /// Returns the jump, in numbers and nanoseconds, that is too large for its time.
    pub(super) fn too_large(&self) -> Option<(u64, u64)> {
        let is_too_large = |jump: &Jump| jump.per_piece() > FASTER * self.most as f64;
        let worst = self.worst.filter(is_too_large)?;
        Some((worst.numbers, worst.ns))
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

impl Jump {
    /// Returns the numbers beyond a short jump that the socket did not drop, per piece of its time.
    fn per_piece(self) -> f64 {
        (self.not_dropped - SHORT) as f64 / (self.ns as f64 / PIECE_NS as f64 + 1.0)
    }
}
