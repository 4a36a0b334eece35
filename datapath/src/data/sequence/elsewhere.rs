//! Runs of numbers elsewhere in the series, of which it is not clear at once what they are.

use super::judgement::SequenceCounts;
use super::ring::Half;

/// Datagrams in order after which a run is clear.
pub(super) const IN_ORDER: u32 = 4;
/// Numbers that a run may cover.
const COVERED: u64 = 64;
/// Largest step within a run, and longest jump that is a loss at once.
pub(super) const NEAR: u64 = 16;

/// Numbers that would have gone by in a pause of the sender.
const PAUSE: f64 = 16.0;

/// Numbers near each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// First number.
    pub(super) start: u64,
    /// Bit `n`: number `n` from the first one on came.
    pub(super) came: u64,
}

/// Numbers that are not above the highest one. Single ones are late or came twice; four of them in order are a sender
/// that begins again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elsewhere {
    pub(super) run: Run,
    /// Numbers in it that do not fill a gap.
    pub(super) in_order: u32,
    /// Datagrams whose number was in it already.
    pub(super) again: u64,
    /// Drops of the socket before it, since the last higher number.
    pub(super) dropped_before: u64,
    /// Time before it since the last higher number, in nanoseconds.
    pub(super) after_ns: u64,
    /// It came after a pause, in which copies would not come.
    is_after_pause: bool,
    /// It begins where a series may begin: not in the second half of the numbers so far.
    is_beginning: bool,
    /// Counts, if it is no new part.
    pub(super) counts: SequenceCounts,
}

/// Meanings of numbers elsewhere after one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Too few to tell.
    Unclear,
    /// The series has begun again.
    Restart,
    /// Datagrams were sent or delivered again, in order.
    Copies,
    /// One of both.
    Either,
}

/// Distance from the last higher number to a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    /// Drops of the socket.
    pub(super) dropped: u64,
    /// Time in nanoseconds.
    pub(super) ns: u64,
    /// Numbers that would have gone by on average.
    pub(super) numbers: f64,
}

/// Numbers after a jump forward. They are late ones of the part before if the numbers before the jump go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// It may be a sender that began again at 0.
    pub(super) is_to_zero: bool,
    pub(super) run: Run,
    /// Its numbers in the order of arrival, and the drops of the socket before each.
    pub(super) dropped: [(u64, u64); IN_ORDER as usize],
    /// Datagrams whose number was in it already.
    pub(super) again: u64,
    /// Arrivals of the first and the last one since 1970, in nanoseconds.
    pub(super) arrived_ns: (u64, u64),
}

impl Run {
    pub(super) fn new(start: u64) -> Self {
        Self { start, came: 1 }
    }

    /// Returns whether a number came in the run.
    pub(super) fn has(&self, number: u64, mask: u64) -> bool {
        let offset = number.wrapping_sub(self.start) & mask;
        offset < COVERED && self.came >> offset & 1 == 1
    }

    /// Returns the numbers between its first and its last one that did not come.
    pub(super) fn missing(&self) -> u64 {
        u64::from(self.came.ilog2() + 1 - self.came.count_ones())
    }

    /// Adds a number near the last ones.
    pub(super) fn add(&mut self, number: u64, mask: u64) -> bool {
        let last = u64::from(self.came.ilog2());
        let below = self.start.wrapping_sub(number) & mask;
        if (1..=NEAR).contains(&below) && below + last <= NEAR {
            self.start = number;
            self.came = self.came << below | 1;
            return true;
        }
        let offset = number.wrapping_sub(self.start) & mask;
        let is_near = offset < COVERED && offset.abs_diff(last) <= NEAR;
        if is_near {
            self.came |= 1 << offset;
        }
        is_near
    }
}

impl Elsewhere {
    /// Begins a run with a number that fills no gap.
    pub(super) fn new(start: u64, half: Half, since: Since, counts: SequenceCounts) -> Self {
        Self {
            run: Run::new(start),
            in_order: 1,
            again: 0,
            dropped_before: since.dropped,
            after_ns: since.ns,
            is_after_pause: since.numbers >= PAUSE,
            is_beginning: half == Half::First,
            counts,
        }
    }

    /// Begins a run with a number that fills a gap.
    pub(super) fn filling(start: u64, half: Half, since: Since, counts: SequenceCounts) -> Self {
        Self {
            in_order: 0,
            ..Self::new(start, half, since, counts)
        }
    }

    /// Adds a number that fills no gap, if it continues the run.
    pub(super) fn add(
        &mut self,
        number: u64,
        mask: u64,
        counts: SequenceCounts,
    ) -> Option<Meaning> {
        if self.run.has(number, mask) {
            self.counts += counts;
            self.again += 1;
            return Some(Meaning::Unclear);
        }
        if !self.fill(number, mask, counts) {
            return None;
        }
        self.in_order += 1;
        Some(match (self.in_order, self.is_beginning) {
            (IN_ORDER, true) => Meaning::Restart,
            (IN_ORDER, false) if self.is_after_pause => Meaning::Either,
            (IN_ORDER, false) => Meaning::Copies,
            _ => Meaning::Unclear,
        })
    }

    /// Adds a number that fills a gap, if it continues the run.
    pub(super) fn fill(&mut self, number: u64, mask: u64, counts: SequenceCounts) -> bool {
        let continues = self.run.add(number, mask);
        if continues {
            self.counts += counts;
        }
        continues
    }

    /// Returns whether it may be the beginning of a new part that the end of the run cut off.
    pub(super) fn is_open(&self) -> bool {
        self.is_beginning && (self.in_order > 1 || self.counts.missing > 0)
    }
}
