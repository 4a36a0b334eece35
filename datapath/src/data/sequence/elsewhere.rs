//! Numbers that may be the beginning of a new part of a series.

use super::counts::SequenceCounts;

/// Datagrams in order after which a series has begun again.
const IN_ORDER: u32 = 4;
/// Numbers that a beginning may cover.
const COVERED: u64 = 64;

/// A run of numbers in order that are not above the highest one. Single ones are late or came twice; four of them are a
/// sender that begins again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elsewhere {
    /// First number.
    pub(super) start: u64,
    /// Bit `n`: number `n` from the first one on came.
    pub(super) came: u64,
    /// Numbers in it that do not fill a gap.
    in_order: u32,
    /// It begins where a series may begin: not in the second half of the numbers so far.
    is_beginning: bool,
    /// Counts, if it is no new part.
    pub(super) counts: SequenceCounts,
}

/// Meanings of a run after one more number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Too short to tell.
    Unclear,
    /// The series has begun again.
    Restart,
    /// Datagrams were sent or delivered again, in order.
    Copies,
}

impl Elsewhere {
    /// Begins a run.
    pub(super) fn new(start: u64, is_beginning: bool, counts: SequenceCounts) -> Self {
        Self {
            start,
            came: 1,
            in_order: 1,
            is_beginning,
            counts,
        }
    }

    /// Returns whether a number continues the run.
    pub(super) fn continues(&self, number: u64, mask: u64) -> bool {
        let offset = number.wrapping_sub(self.start) & mask;
        (1..COVERED).contains(&offset) && self.came >> offset == 0
    }

    /// Adds a number that continues the run and fills a gap.
    pub(super) fn fill(&mut self, number: u64, mask: u64, counts: SequenceCounts) {
        self.came |= 1 << (number.wrapping_sub(self.start) & mask);
        self.counts += counts;
    }

    /// Adds a number that continues the run.
    pub(super) fn add(&mut self, number: u64, mask: u64, counts: SequenceCounts) -> Run {
        self.fill(number, mask, counts);
        self.in_order += 1;
        match (self.in_order, self.is_beginning) {
            (IN_ORDER, true) => Run::Restart,
            (IN_ORDER, false) => Run::Copies,
            _ => Run::Unclear,
        }
    }

    /// Returns whether it may be the beginning of a new part that the end of the run cut off.
    pub(super) fn is_open(&self) -> bool {
        self.is_beginning && (self.in_order > 1 || self.counts.missing > 0)
    }
}
