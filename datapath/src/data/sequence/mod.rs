//! Order of numbered datagrams: missing, late and repeated numbers of one source, in constant memory, and whether they
//! can be believed.

mod counts;
mod doubt;
mod drops;
mod elsewhere;
mod pace;
mod ring;

use std::time::Duration;

pub use self::counts::SequenceCounts;
pub use self::doubt::Doubt;
use self::drops::MatchedDrops;
use self::elsewhere::{Elsewhere, Run};
use self::pace::Pace;
use self::ring::{Behind, Ring};

/// Longest jump forward that is loss, in numbers. A longer one begins a new series.
const LONGEST_LOSS: u64 = 1 << 20;
/// Jumps forward up to this length are losses even if they end at the first numbers.
const SHORT_JUMP: u64 = 64;
/// First numbers of a sender that began again, below this.
const FIRST_NUMBERS: u64 = 16;

/// Numbered datagram in the order of arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its number.
    pub number: u64,
    /// Time since 1970, in nanoseconds.
    pub arrived_ns: u64,
    /// Datagrams of any source that the socket dropped since the one before of this source.
    pub dropped: u64,
}

/// Numbers of a source that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Its counts.
    pub counts: SequenceCounts,
    /// Missing numbers for each of which the socket dropped a datagram of any source at the same time.
    pub matched_drops: u64,
}

/// Tracker of the numbers of one source, which begin again at 0 after 2^bits.
#[derive(Clone, Debug)]
pub struct SequenceTracker {
    bits: u32,
    /// Mask of the number's bits.
    mask: u64,
    /// Longest jump forward that is loss.
    forward: u64,
    /// Numbers back that are remembered.
    back: u64,
    /// Highest number. `None`: nothing has come yet.
    highest: Option<u64>,
    ring: Ring,
    /// Numbers that may begin a new part. Their counts are added once it is clear that they do not.
    elsewhere: Option<Elsewhere>,
    counts: SequenceCounts,
    /// Runs of at least four numbers that came again.
    copies: u64,
    drops: MatchedDrops,
    pace: Pace,
    steps: Steps,
}

/// Steps from one datagram to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    last_number: u64,
    last_step: u64,
    /// Steps that are equal to the one before, and the last one of these.
    equal: u64,
    usual: u64,
}

impl SequenceTracker {
    /// Creates the tracker of a source with numbers of 8 to 64 bits.
    pub fn new(bits: u32) -> Self {
        let half = 1_u64 << (bits - 1);
        Self {
            bits,
            mask: half | (half - 1),
            forward: LONGEST_LOSS.min(half - 1),
            back: Ring::back(bits),
            highest: None,
            ring: Ring::new(),
            elsewhere: None,
            counts: SequenceCounts::default(),
            copies: 0,
            drops: MatchedDrops::default(),
            pace: Pace::default(),
            steps: Steps::default(),
        }
    }

    /// Enters a number in the order of arrival.
    pub fn enter(&mut self, arrival: Arrival) {
        let number = arrival.number;
        let Some(highest) = self.highest else {
            self.steps.last_number = number;
            self.pace.next(1, arrival.arrived_ns, 0);
            self.begin(number, 1);
            return;
        };
        self.steps.enter(number, self.mask);
        self.drops.since_higher += arrival.dropped;
        let ahead = number.wrapping_sub(highest) & self.mask;
        let behind = highest.wrapping_sub(number) & self.mask;
        // A sender that began again at 0 may seem to be ahead of the end of the numbers.
        let is_first = ahead > SHORT_JUMP && number < FIRST_NUMBERS && number < highest;
        if behind <= self.back {
            self.look_back(arrival, behind);
        } else if ahead <= self.forward && !is_first {
            self.settle();
            self.advance(arrival, ahead);
        } else {
            self.stray(arrival);
        }
    }

    /// Begins a part of the series, as [`Ring::begin`] does.
    fn begin(&mut self, start: u64, came: u64) {
        let span = u64::from(came.ilog2());
        self.highest = Some(start.wrapping_add(span) & self.mask);
        self.ring.begin(came);
        self.drops.restart();
        let received = u64::from(came.count_ones());
        // Each gap ends with a number whose predecessor did not come.
        let pieces = u64::from((came & !(came << 1)).count_ones());
        self.counts += SequenceCounts {
            received,
            missing: to_signed(span + 1 - received),
            places: to_signed(pieces - 1),
            following: received - pieces,
            ..SequenceCounts::default()
        };
    }

    /// Enters a number above the highest one.
    fn advance(&mut self, arrival: Arrival, ahead: u64) {
        let missing = ahead - 1;
        let dropped = self.drops.since_higher;
        self.pace.next(ahead, arrival.arrived_ns, dropped);
        self.highest = Some(arrival.number);
        self.ring.advance(ahead);
        self.drops.next(missing, self.ring.position());
        self.counts += SequenceCounts {
            received: 1,
            missing: to_signed(missing),
            places: i64::from(missing > 0),
            following: u64::from(missing <= dropped),
            ..SequenceCounts::default()
        };
    }

    fn look_back(&mut self, arrival: Arrival, behind: u64) {
        let one = SequenceCounts::default();
        match self.ring.look_back(behind) {
            Behind::Repeated { is_of_first_half } => {
                let duplicates = 1;
                self.again(
                    arrival,
                    is_of_first_half,
                    SequenceCounts { duplicates, ..one },
                );
            }
            Behind::Filled { neighbours } => self.fill(arrival.number, neighbours),
            Behind::Early { between } => {
                let counts = SequenceCounts {
                    received: 1,
                    late: 1,
                    missing: to_signed(between),
                    places: i64::from(between > 0),
                    following: u64::from(between == 0),
                    ..one
                };
                self.again(arrival, true, counts);
            }
            Behind::FarBelow => self.stray(arrival),
        }
    }

    fn fill(&mut self, number: u64, neighbours: u8) {
        self.drops.fill();
        let counts = SequenceCounts {
            received: 1,
            missing: -1,
            places: 1 - i64::from(neighbours),
            late: 1,
            following: neighbours.into(),
            ..SequenceCounts::default()
        };
        if let Some(run) = &mut self.elsewhere {
            if run.continues(number, self.mask) {
                run.fill(number, self.mask, counts);
                return;
            }
        }
        self.settle();
        self.counts += counts;
    }

    fn stray(&mut self, arrival: Arrival) {
        let counts = SequenceCounts {
            strays: 1,
            ..SequenceCounts::default()
        };
        self.again(arrival, true, counts);
    }

    /// Enters a number that may be of a new part of the series.
    fn again(&mut self, arrival: Arrival, is_beginning: bool, counts: SequenceCounts) {
        let (number, mask) = (arrival.number, self.mask);
        let current = self.elsewhere.as_mut();
        let Some(run) = current.filter(|run| run.continues(number, mask)) else {
            self.settle();
            self.elsewhere = Some(Elsewhere::new(number, is_beginning, counts));
            return;
        };
        match run.add(number, mask, counts) {
            Run::Unclear => {}
            Run::Copies => self.copies += 1,
            Run::Restart => {
                let (start, came) = (run.start, run.came);
                self.elsewhere = None;
                self.counts.restarts += 1;
                self.pace.restart(arrival.arrived_ns);
                self.begin(start, came);
            }
        }
    }

    /// Adds the counts of numbers that did not begin a new part.
    fn settle(&mut self) {
        if let Some(run) = self.elsewhere.take() {
            self.counts += run.counts;
        }
    }

    /// Enters the end of the run. Up to three numbers that may have begun a new part are counted nowhere.
    pub fn finish(&mut self) {
        self.elsewhere.take_if(|run| run.is_open());
        self.settle();
    }

    /// Returns the counts so far, without numbers that may begin a new part.
    pub fn counts(&self) -> SequenceCounts {
        self.counts
    }

    /// Judges whether these numbers are a series: at least half of them follow one that came or that the socket dropped,
    /// and no jump is larger than its time allows.
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
        if !follow || is_mixed || counts.duplicates > 4 * received {
            return Err(self.steps.doubt(
                self.bits,
                received + strays,
                counts.following > 0 && follow && is_mixed,
            ));
        }
        if counts.restarts > 0 && 8 * parts > received {
            return Err(Doubt::ShortParts);
        }
        if counts.restarts > 0 && self.copies > 0 {
            return Err(Doubt::Copies);
        }
        if let Some((numbers, ns)) = self.pace.too_large() {
            let time = Duration::from_nanos(ns);
            return Err(Doubt::Jump { numbers, time });
        }
        if self.pace.is_too_long(1 << (self.bits - 1)) {
            return Err(Doubt::Around { bits: self.bits });
        }
        let missing = u64::try_from(counts.missing).unwrap_or(0);
        Ok(Series {
            counts,
            matched_drops: self.drops.matched.min(missing),
        })
    }
}

impl Steps {
    fn enter(&mut self, number: u64, mask: u64) {
        let step = number.wrapping_sub(self.last_number) & mask;
        if step == self.last_step {
            self.equal += 1;
            self.usual = step;
        }
        self.last_number = number;
        self.last_step = step;
    }

    /// Returns the reason for which so many different numbers are no series.
    fn doubt(&self, bits: u32, numbers: u64, is_mixed: bool) -> Doubt {
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

fn to_signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
