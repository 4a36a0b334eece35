//! What the numbers of a source are judged to be: counts, or a reason not to believe them.

use std::fmt;
use std::ops::{AddAssign, Sub};

use serde::{Deserialize, Serialize};

use super::{SequenceTracker, Series};

/// Counts of the numbered datagrams of a source. A number is missing if it did not come, and lies between the first and
/// the last one that came of its part of the series. A part ends where the numbers begin again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceCounts {
    /// Different numbers that came.
    pub received: u64,
    /// Missing numbers. Below 0 in a window in which more late numbers came than went missing.
    pub missing: i64,
    /// Places where numbers are missing: gaps in the numbers.
    pub places: i64,
    /// Datagrams that came after one with a higher number.
    pub late: u64,
    /// Datagrams whose number had come before.
    pub duplicates: u64,
    /// Places where the numbers began again elsewhere and went on from there. Losses at such a place are not known.
    pub restarts: u64,
    /// Datagrams with a number far away from the series: older than the last 4094, or from nowhere.
    pub strays: u64,
    /// Numbers that follow one that came. Where the socket dropped as many datagrams as are missing, they follow, too.
    pub following: u64,
}

impl AddAssign for SequenceCounts {
    fn add_assign(&mut self, other: Self) {
        self.received += other.received;
        self.missing += other.missing;
        self.places += other.places;
        self.late += other.late;
        self.duplicates += other.duplicates;
        self.restarts += other.restarts;
        self.strays += other.strays;
        self.following += other.following;
    }
}

impl Sub for SequenceCounts {
    type Output = Self;

    /// Returns what was counted since an earlier moment.
    fn sub(self, earlier: Self) -> Self {
        Self {
            received: self.received - earlier.received,
            missing: self.missing - earlier.missing,
            places: self.places - earlier.places,
            late: self.late - earlier.late,
            duplicates: self.duplicates - earlier.duplicates,
            restarts: self.restarts - earlier.restarts,
            strays: self.strays - earlier.strays,
            following: self.following - earlier.following,
        }
    }
}

/// Reason for which the losses of a source cannot be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// All numbers are the same.
    Constant,
    /// Numbers go in steps other than 1.
    Steps {
        /// Length of a step.
        step: u64,
        /// It is 1 in the other byte order.
        is_swapped: bool,
    },
    /// Most numbers do not follow each other.
    Unordered,
    /// Several series are mixed.
    Mixed,
    /// Parts of the series have fewer than eight numbers.
    ShortParts,
    /// Numbers begin again and come in copies: which of both is not known.
    Copies,
    /// Numbers jumped to 0 or a little more: a loss over the end of the numbers, or a new beginning.
    ToZero,
    /// The numbers may have gone around unseen.
    Around {
        /// Numbers until they begin again.
        numbers: u64,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("the number is always the same"),
            Self::Steps { step, is_swapped } => {
                let order = if *is_swapped {
                    ": try the other byte order"
                } else {
                    ""
                };
                write!(f, "the numbers go in steps of {step}{order}")
            }
            Self::Unordered => f.write_str("the numbers do not follow each other"),
            Self::Mixed => f.write_str("the numbers are those of several series"),
            Self::ShortParts => f.write_str("the numbers begin again after a few"),
            Self::Copies => f.write_str("the numbers repeat, as copies or as new series"),
            Self::ToZero => f.write_str("the numbers jumped to 0, by a loss or by a new beginning"),
            Self::Around { numbers } => write!(
                f,
                "{numbers} numbers may have gone by in a gap, after which they begin again"
            ),
        }
    }
}

/// Most times that a number comes again, by several ways.
const MOST_AGAIN: u64 = 3;

/// Steps from one datagram to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    pub(super) last_number: u64,
    last_step: u64,
    /// Steps that are equal to the one before, and the last one of these.
    equal: u64,
    usual: u64,
}

impl SequenceTracker {
    /// Judges whether these numbers are a series: at least half of them follow one that came or that the socket
    /// dropped, and they do not begin again too often.
    ///
    /// # Errors
    /// Returns the reason for which losses cannot be known.
    pub fn series(&self) -> Result<Series, Doubt> {
        let counts = self.counts;
        let SequenceCounts {
            received, strays, ..
        } = counts;
        if received == 1 && counts.duplicates > 1 {
            return Err(Doubt::Constant);
        }
        let parts = counts.restarts + 1;
        let follow = 2 * counts.following >= received.saturating_sub(parts);
        let is_mixed = 8 * strays > received;
        if !follow || is_mixed || counts.duplicates > 2 * received {
            return Err(self.steps.doubt(
                self.bits,
                received + strays,
                counts.following > 0 && follow && is_mixed,
            ));
        }
        if counts.restarts > 0 && 8 * parts > received {
            return Err(Doubt::ShortParts);
        }
        // A constant number may be mixed in.
        if self.most_again > MOST_AGAIN || self.resumed > 1 || counts.restarts > 0 && strays > 0 {
            return Err(Doubt::Mixed);
        }
        let has_copies = self.copies > 0 || counts.duplicates > 0;
        if self.repeated_parts > 0 && has_copies || self.hidden_parts > 0 {
            return Err(Doubt::Copies);
        }
        if self.jumps_to_zero > 0 {
            return Err(Doubt::ToZero);
        }
        let numbers = match self.longest_part.max(self.ring.span() + 1) {
            longest if self.repeated_parts > 0 => longest.min(self.mask),
            _ => self.mask,
        };
        if self.pace.may_go_around(numbers) {
            return Err(Doubt::Around { numbers });
        }
        let missing = u64::try_from(counts.missing).unwrap_or(0);
        Ok(Series {
            counts,
            matched_drops: self.drops.matched.min(missing),
            possible_drops: self.drops.possible().min(missing),
            jumps: self.jumps,
            first_restart_ns: self.first_restart_ns,
            first_jump: self.first_jump,
        })
    }
}

impl Steps {
    pub(super) fn enter(&mut self, number: u64, mask: u64) {
        let step = number.wrapping_sub(self.last_number) & mask;
        if step == self.last_step {
            self.equal += 1;
            self.usual = step;
        }
        self.last_number = number;
        self.last_step = step;
    }

    /// Returns the reason for which so many different numbers are no series.
    pub(super) fn doubt(&self, bits: u32, numbers: u64, is_mixed: bool) -> Doubt {
        match self.usual {
            0 | 1 => {}
            step if 2 * self.equal >= numbers => {
                let is_swapped = bits > 8 && step == 1 << (bits - 8);
                return Doubt::Steps { step, is_swapped };
            }
            _ => {}
        }
        if is_mixed {
            Doubt::Mixed
        } else {
            Doubt::Unordered
        }
    }
}
