//! Judgement whether numbers are a series.

use super::counts::SequenceCounts;
use super::doubt::Doubt;
use super::{SequenceTracker, Series};

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
    /// Judges whether these numbers are a series: at least half of them follow one that came or that the socket dropped,
    /// and they do not begin again too often.
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
