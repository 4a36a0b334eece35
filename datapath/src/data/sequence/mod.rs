//! Order of numbered datagrams: missing, late and repeated numbers of one source, in constant memory, and whether they
//! can be believed.

mod behind;
mod drops;
mod elsewhere;
mod judgement;
mod jumps;
mod pace;
mod ring;

use self::drops::MatchedDrops;
use self::elsewhere::{Ahead, Elsewhere, NEAR, Run};
use self::judgement::Steps;
pub use self::judgement::{Doubt, SequenceCounts};
use self::pace::Pace;
use self::ring::Ring;
use super::accounting::signed;

/// Longest jump forward that is loss without drops of the socket, in numbers. A longer one begins a new series.
const LONGEST_LOSS: u64 = 1 << 20;

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
    /// Missing numbers for each of which the socket dropped a datagram, of any source, between the same two numbers.
    pub matched_drops: u64,
    /// Most missing numbers that the socket may have dropped: datagrams may have overtaken each other.
    pub possible_drops: u64,
    /// Restarts that are jumps forward too large for their time.
    pub jumps: u64,
    /// Arrival of the first other restart since 1970, in nanoseconds.
    pub first_restart_ns: Option<u64>,
    /// The first jump.
    pub first_jump: Option<Jump>,
}

/// A jump forward that is too large for its time: a sender that began again elsewhere, or losses before a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Arrival of its last number since 1970, in nanoseconds.
    pub at_ns: u64,
    /// Numbers.
    pub numbers: u64,
    /// Time since the number before, in nanoseconds.
    pub ns: u64,
    /// Numbers that can have been sent in it, at the most.
    pub possible: u64,
}

/// Tracker of the numbers of one source, which begin again at 0 after 2^bits.
#[derive(Clone, Debug, Default)]
pub struct SequenceTracker {
    bits: u32,
    /// Mask of the number's bits.
    mask: u64,
    /// Longest jump forward that is loss without drops of the socket.
    forward: u64,
    /// Numbers back that are remembered.
    back: u64,
    /// Highest number. `None`: nothing has come yet.
    highest: Option<u64>,
    ring: Ring,
    /// Numbers that may begin a new part. Their counts are added once it is clear that they do not.
    elsewhere: Option<Elsewhere>,
    /// Arrival of the last of these since 1970, in nanoseconds.
    elsewhere_ns: u64,
    /// Numbers after a jump forward that may be late ones of the part before.
    ahead: Option<Ahead>,
    counts: SequenceCounts,
    /// Runs of at least four numbers that came again.
    copies: u64,
    /// Last number that came again, how often in a row, and the most of these.
    again: (u64, u64),
    most_again: u64,
    /// Parts that began among the last numbers.
    repeated_parts: u64,
    /// Most numbers of a part that is over.
    longest_part: u64,
    /// Runs of such numbers after a pause.
    hidden_parts: u64,
    /// Jumps to one of the first numbers, as of a sender that began again.
    jumps_to_zero: u64,
    /// Restarts that are jumps, the first of these, and the arrival of the first other one.
    jumps: u64,
    first_jump: Option<Jump>,
    first_restart_ns: Option<u64>,
    /// Number after the last one of the part before, until this part reaches it.
    part_before: Option<u64>,
    /// Numbers that continued the part before.
    resumed: u64,
    drops: MatchedDrops,
    pace: Pace,
    steps: Steps,
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
            ..Self::default()
        }
    }

    /// Enters a number in the order of arrival.
    pub fn enter(&mut self, arrival: Arrival) {
        let number = arrival.number;
        if self.highest.is_none() {
            self.steps.last_number = number;
            self.pace.next(1, arrival.arrived_ns, 0);
            self.begin(Run::new(number));
            return;
        }
        self.steps.enter(number, self.mask);
        self.drops.since_higher += arrival.dropped;
        if self.continue_ahead(arrival) {
            return;
        }
        let (ahead, behind) = self.distances(number);
        if behind <= self.back {
            self.look_back(arrival, behind);
        } else if ahead <= self.forward || self.was_mostly_dropped(ahead) {
            let is_to_zero = self.is_to_zero(arrival, ahead);
            if ahead <= NEAR || ahead - 1 <= self.drops.since_higher {
                self.jumps_to_zero += u64::from(is_to_zero);
                self.advance(arrival, ahead);
                return;
            }
            self.ahead = Some(Ahead {
                is_to_zero,
                run: Run::new(number),
                dropped: [(number, std::mem::take(&mut self.drops.since_higher)); 4],
                again: 0,
                arrived_ns: (arrival.arrived_ns, arrival.arrived_ns),
            });
        } else {
            self.stray(arrival);
        }
    }

    /// Returns the distances of a number above and below the highest one.
    fn distances(&self, number: u64) -> (u64, u64) {
        let highest = self.highest.unwrap_or(number);
        let ahead = number.wrapping_sub(highest) & self.mask;
        let behind = highest.wrapping_sub(number) & self.mask;
        (ahead, behind)
    }

    /// Returns whether the socket can have dropped half of the numbers of a jump forward.
    fn was_mostly_dropped(&self, ahead: u64) -> bool {
        ahead <= self.mask / 2 && ahead / 2 <= self.drops.since_higher
    }

    /// Remembers the part before another one begins.
    fn end_part(&mut self) {
        self.longest_part = self.longest_part.max(self.ring.span() + 1);
        self.part_before = self.highest.map(|it| it.wrapping_add(1) & self.mask);
    }

    /// Begins a part of the series, as [`Ring::begin`] does.
    fn begin(&mut self, run: Run) {
        let Run { start, came } = run;
        let span = u64::from(came.ilog2());
        self.highest = Some(start.wrapping_add(span) & self.mask);
        self.ring.begin(came);
        let received = u64::from(came.count_ones());
        // Each gap ends with a number whose predecessor did not come.
        let pieces = u64::from((came & !(came << 1)).count_ones());
        self.counts += SequenceCounts {
            received,
            missing: signed(span + 1 - received),
            places: signed(pieces - 1),
            following: received - pieces,
            ..SequenceCounts::default()
        };
    }

    /// Enters a number above the highest one.
    fn advance(&mut self, arrival: Arrival, ahead: u64) {
        self.settle();
        let reaches = |before: u64| {
            before.wrapping_sub(arrival.number.wrapping_sub(ahead)) & self.mask <= ahead
        };
        self.part_before = self.part_before.filter(|before| !reaches(*before));
        let missing = ahead - 1;
        let dropped = std::mem::take(&mut self.drops.since_higher);
        self.pace.next(ahead, arrival.arrived_ns, dropped);
        self.highest = Some(arrival.number);
        self.ring.advance(ahead);
        self.drops.next(missing, dropped, self.ring.position);
        self.counts += SequenceCounts {
            received: 1,
            missing: signed(missing),
            places: i64::from(missing > 0),
            following: u64::from(missing <= dropped),
            ..SequenceCounts::default()
        };
    }

    /// Enters the end of the run, and the drops of the socket after the last datagram of this source. A few numbers
    /// that may have begun a new part are counted nowhere.
    pub fn finish(&mut self, dropped_after: u64) {
        let is_unclear = |jumped: &mut Ahead| self.impossible(jumped).is_some();
        let mut ahead = self.ahead;
        ahead.take_if(is_unclear);
        self.ahead = ahead;
        self.settle_ahead();
        self.elsewhere.take_if(|run| run.is_open());
        self.settle();
        self.drops.finish(dropped_after);
    }

    /// Returns the counts so far, without numbers that may begin a new part.
    pub fn counts(&self) -> SequenceCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests;
