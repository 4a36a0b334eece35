//! Pace of a series: jumps that are too large for their time are no losses.

/// Length of the pieces of time in which numbers are counted.
const PIECE_NS: u64 = 100_000_000;
/// Jumps up to this length need no proof.
const SHORT: u64 = 1024;
/// Factor by which a sender may be faster than it was.
const FASTER: f64 = 4.0;

/// Numbers over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// First and last arrival of a higher number since 1970, in nanoseconds.
    seen: Option<(u64, u64)>,
    /// Beginning of the current piece of time, and its numbers.
    piece: (u64, u64),
    /// Most numbers of a piece.
    most: u64,
    /// Numbers that came or were lost in short jumps.
    numbers: u64,
    /// The jump that is largest for its time: numbers and nanoseconds.
    worst: Option<(u64, u64)>,
    /// Longest time before a jump, in nanoseconds.
    longest_ns: u64,
    /// Most drops of the socket before a jump.
    most_dropped: u64,
}

impl Pace {
    /// Enters a number that is `ahead` of the one before, with the drops of the socket in between.
    pub(super) fn next(&mut self, ahead: u64, arrived_ns: u64, dropped: u64) {
        let (first, last) = self.seen.unwrap_or((arrived_ns, arrived_ns));
        self.seen = Some((first, arrived_ns.max(last)));
        let ns = arrived_ns.saturating_sub(last);
        if ahead > 1 {
            self.longest_ns = self.longest_ns.max(ns);
            self.most_dropped = self.most_dropped.max(dropped);
        }
        let is_unproven = ahead > SHORT && ahead - 1 > dropped;
        if is_unproven {
            let jump = (ahead, ns);
            if self
                .worst
                .is_none_or(|worst| per_piece(jump) > per_piece(worst))
            {
                self.worst = Some(jump);
            }
        }
        let numbers = if is_unproven { 1 } else { ahead };
        self.numbers += numbers;
        if arrived_ns.saturating_sub(self.piece.0) >= PIECE_NS {
            self.piece = (arrived_ns, 0);
        }
        self.piece.1 += numbers;
        self.most = self.most.max(self.piece.1);
    }

    /// Enters that the numbers began again.
    pub(super) fn restart(&mut self, arrived_ns: u64) {
        if let Some((_, last)) = &mut self.seen {
            *last = arrived_ns;
        }
    }

    /// Returns the jump, in numbers and nanoseconds, that is too large for its time.
    pub(super) fn too_large(&self) -> Option<(u64, u64)> {
        let is_too_large = |jump: &(u64, u64)| per_piece(*jump) > FASTER * self.most as f64;
        self.worst.filter(is_too_large)
    }

    /// Returns whether this many numbers may have gone by before a jump, or were dropped by the socket.
    pub(super) fn is_too_long(&self, numbers: u64) -> bool {
        let Some((first, last)) = self.seen else {
            return false;
        };
        let length = last.saturating_sub(first).max(1) as f64;
        let gone = self.longest_ns as f64 * self.numbers as f64 / length;
        self.most_dropped >= numbers || gone >= numbers as f64
    }
}

/// Returns the numbers of a jump beyond a short one, per piece of its time.
fn per_piece((numbers, ns): (u64, u64)) -> f64 {
    (numbers - SHORT) as f64 / (ns as f64 / PIECE_NS as f64 + 1.0)
}
