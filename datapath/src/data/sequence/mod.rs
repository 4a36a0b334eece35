//! Order of numbered datagrams: missing, late and repeated numbers of one series, in constant memory.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Numbers behind the highest one that are remembered, to tell late datagrams from repeated ones.
const REMEMBERED: u64 = 64 * WORDS as u64;
/// Words of 64 bits that remember them.
const WORDS: usize = 64;
/// Longest jump forward that is loss, in numbers. A longer one begins a new series.
const LONGEST_LOSS: u64 = 1 << 20;

/// Counts of numbered datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceCounts {
    /// Different numbers that came.
    pub received: u64,
    /// Numbers between the lowest and the highest one that did not come. Below 0 in a part of a run in which more late
    /// numbers came than went missing.
    pub missing: i64,
    /// Places where numbers went missing. Late datagrams may have filled some of them later.
    pub jumps: u64,
    /// Datagrams that came after one with a higher number.
    pub late: u64,
    /// Datagrams whose number had come before.
    pub duplicates: u64,
    /// New series: the sender began again elsewhere, and went on from there.
    pub restarts: u64,
    /// Single datagrams with a number far away from the series: older than the last 4096, or from nowhere.
    pub strays: u64,
}

/// What the arrival of a number changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    kind: Kind,
    /// Change of the number of missing ones.
    missing: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Higher than all before.
    Next,
    Late,
    Duplicate,
    /// The second datagram of a new series. The first one was counted as a stray.
    Restart,
    Stray,
}

/// Tracker of one series of numbers, which begin again at 0 after 2^bits.
#[derive(Clone, Debug)]
pub struct SequenceTracker {
    /// Mask of the number's bits.
    mask: u64,
    /// Longest jump forward that is loss.
    forward: u64,
    /// Numbers back that are remembered.
    back: u64,
    /// Highest number. `None`: nothing has come yet.
    highest: Option<u64>,
    /// Position of the highest number in the series: positions do not begin again at 0.
    position: u64,
    /// Position of the lowest number that came.
    lowest: u64,
    /// Number after a stray datagram: if it comes next, a new series has begun.
    after_stray: Option<u64>,
    /// One bit per position, in a ring.
    came: [u64; WORDS],
}

impl SequenceTracker {
    /// Creates the tracker of a series of numbers of 8 to 64 bits.
    pub fn new(bits: u32) -> Self {
        let half = 1_u64 << (bits - 1);
        Self {
            mask: half | (half - 1),
            forward: LONGEST_LOSS.min(half - 1),
            back: REMEMBERED.min(half / 2) - 1,
            highest: None,
            position: 0,
            lowest: 0,
            after_stray: None,
            came: [0; WORDS],
        }
    }

    /// Enters a number in the order of arrival.
    pub fn enter(&mut self, number: u64) -> Arrival {
        let Some(highest) = self.highest else {
            self.begin(number, 1);
            return Arrival::of(Kind::Next, 0);
        };
        let ahead = number.wrapping_sub(highest) & self.mask;
        let behind = highest.wrapping_sub(number) & self.mask;
        if behind <= self.back {
            self.after_stray = None;
            return self.look_back(behind);
        }
        if ahead <= self.forward {
            self.after_stray = None;
            self.highest = Some(number);
            self.advance(ahead);
            return Arrival::of(Kind::Next, to_signed(ahead - 1));
        }
        if self.after_stray == Some(number) {
            self.begin(number, 2);
            return Arrival::of(Kind::Restart, 0);
        }
        self.after_stray = Some(number.wrapping_add(1) & self.mask);
        Arrival::of(Kind::Stray, 0)
    }

    /// Begins a series that ends with `number`, of which the last `came` have come.
    fn begin(&mut self, number: u64, came: u64) {
        self.highest = Some(number);
        self.after_stray = None;
        self.came.fill(0);
        // Positions before it are for numbers that come late.
        self.position = 2 * REMEMBERED;
        self.lowest = self.position - (came - 1);
        for position in self.lowest..=self.position {
            self.mark(position);
        }
    }

    /// Moves the highest position and forgets those that leave the ring.
    fn advance(&mut self, ahead: u64) {
        for n in 1..=ahead.min(REMEMBERED) {
            let position = self.position + n;
            // With a jump longer than the ring, every bit is cleared once.
            let (word, bit) = place(position);
            self.came[word] &= !bit;
        }
        self.position += ahead;
        self.mark(self.position);
    }

    fn look_back(&mut self, behind: u64) -> Arrival {
        let position = self.position - behind;
        let (word, bit) = place(position);
        if self.came[word] & bit != 0 {
            return Arrival::of(Kind::Duplicate, 0);
        }
        self.mark(position);
        if position < self.lowest {
            let between = self.lowest - position - 1;
            self.lowest = position;
            return Arrival::of(Kind::Late, to_signed(between));
        }
        Arrival::of(Kind::Late, -1)
    }

    fn mark(&mut self, position: u64) {
        let (word, bit) = place(position);
        self.came[word] |= bit;
    }
}

/// Returns the place of a position's bit in the ring.
fn place(position: u64) -> (usize, u64) {
    let at = (position % REMEMBERED) as usize;
    (at / 64, 1 << (at % 64))
}

fn to_signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Arrival {
    fn of(kind: Kind, missing: i64) -> Self {
        Self { kind, missing }
    }
}

impl SequenceCounts {
    /// Adds the counts of another series.
    pub fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.missing += other.missing;
        self.jumps += other.jumps;
        self.late += other.late;
        self.duplicates += other.duplicates;
        self.restarts += other.restarts;
        self.strays += other.strays;
    }
}

impl AddAssign<Arrival> for SequenceCounts {
    fn add_assign(&mut self, arrival: Arrival) {
        self.missing += arrival.missing;
        match arrival.kind {
            Kind::Next => {
                self.received += 1;
                self.jumps += u64::from(arrival.missing > 0);
            }
            Kind::Late => {
                self.received += 1;
                self.late += 1;
            }
            Kind::Duplicate => self.duplicates += 1,
            Kind::Restart => {
                self.received += 2;
                self.restarts += 1;
                // In a part of a run, the first datagram of the series may be in the part before.
                self.strays = self.strays.saturating_sub(1);
            }
            Kind::Stray => self.strays += 1,
        }
    }
}

#[cfg(test)]
mod tests;
