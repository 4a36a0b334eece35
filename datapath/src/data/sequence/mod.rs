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
use self::elsewhere::{Ahead, Elsewhere, IN_ORDER, Meaning, NEAR, Run, Since};
use self::pace::Pace;
use self::ring::{Behind, Half, Ring};

/// Longest jump forward that is loss, in numbers. A longer one begins a new series.
const LONGEST_LOSS: u64 = 1 << 20;
/// First numbers of a sender that began again, below this.
const FIRST_NUMBERS: u64 = 16;
/// Most times that a number comes again, by several ways.
const MOST_AGAIN: u64 = 3;
/// Numbers that would have gone by in a pause within which no run goes on.
const PAUSE: f64 = 64.0;
/// Shortest time in which a sender begins again, in nanoseconds.
const RESTART_NS: u64 = 250_000_000;

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
    /// Number after the last one of the part before, until this part reaches it.
    part_before: Option<u64>,
    /// Numbers that continued the part before.
    resumed: u64,
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
            elsewhere_ns: 0,
            ahead: None,
            counts: SequenceCounts::default(),
            copies: 0,
            again: (0, 0),
            most_again: 0,
            repeated_parts: 0,
            longest_part: 0,
            hidden_parts: 0,
            jumps_to_zero: 0,
            part_before: None,
            resumed: 0,
            drops: MatchedDrops::default(),
            pace: Pace::default(),
            steps: Steps::default(),
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
        } else if ahead <= self.forward {
            self.jumps_to_zero += u64::from(self.is_to_zero(arrival, ahead));
            let dropped_before = self.drops.since_higher;
            if ahead <= NEAR || ahead - 1 <= dropped_before {
                self.advance(arrival, ahead);
                return;
            }
            self.ahead = Some(Ahead {
                run: Run::new(number),
                dropped_before,
                again: 0,
                arrived_ns: (arrival.arrived_ns, arrival.arrived_ns),
            });
        } else {
            self.stray(arrival);
        }
    }

    /// Returns whether a jump may be a sender that began again at 0: over the end of the numbers to one of the first, or
    /// after a pause to one that can have been reached since.
    fn is_to_zero(&self, arrival: Arrival, ahead: u64) -> bool {
        let Arrival {
            number, arrived_ns, ..
        } = arrival;
        let is_over_the_end = ahead > NEAR && self.highest > Some(number);
        if number < FIRST_NUMBERS && is_over_the_end && ahead > self.drops.since_higher {
            return true;
        }
        let since = self.since(arrived_ns);
        let can_be_reached = number as f64 <= since.numbers + NEAR as f64;
        ahead > 1 && since.ns >= RESTART_NS && can_be_reached
    }

    /// Returns the distances of a number above and below the highest one.
    fn distances(&self, number: u64) -> (u64, u64) {
        let highest = self.highest.unwrap_or(number);
        let ahead = number.wrapping_sub(highest) & self.mask;
        let behind = highest.wrapping_sub(number) & self.mask;
        (ahead, behind)
    }

    /// Enters a number after a jump forward. Returns whether it belongs to those after the jump.
    fn continue_ahead(&mut self, arrival: Arrival) -> bool {
        let Some(mut jumped) = self.ahead else {
            return false;
        };
        let (ahead, behind) = self.distances(arrival.number);
        let (jump, _) = self.distances(jumped.run.start);
        if (1..=NEAR).contains(&ahead) && ahead <= jump / 2 {
            // The numbers before the jump go on.
            self.counts.strays += u64::from(jumped.run.came.count_ones()) + jumped.again;
            self.ahead = None;
            return false;
        }
        if behind <= self.back {
            return false;
        }
        let has = jumped.run.has(arrival.number, self.mask);
        let is_of_run = has || jumped.run.add(arrival.number, self.mask);
        jumped.again += u64::from(has);
        jumped.arrived_ns.1 = arrival.arrived_ns;
        let is_clear = jumped.run.came.count_ones() >= IN_ORDER;
        self.ahead = Some(jumped);
        if is_clear || !is_of_run {
            self.settle_ahead();
        }
        is_of_run
    }

    /// Enters numbers after a jump as such.
    fn settle_ahead(&mut self) {
        let Some(jumped) = self.ahead.take() else {
            return;
        };
        let all = std::mem::replace(&mut self.drops.since_higher, jumped.dropped_before);
        let after = all - jumped.dropped_before;
        self.counts.duplicates += jumped.again;
        let mut last = 0;
        for n in (0..u64::from(u64::BITS)).filter(|n| jumped.run.came & 1 << n != 0) {
            let (ahead, arrived_ns) = match n {
                0 => (self.distances(jumped.run.start).0, jumped.arrived_ns.0),
                _ => (n - last, jumped.arrived_ns.1),
            };
            let number = jumped.run.start.wrapping_add(n) & self.mask;
            let arrival = Arrival {
                number,
                arrived_ns,
                dropped: 0,
            };
            let rest = self.advance(arrival, ahead);
            self.drops.since_higher = if n == 0 { rest + after } else { rest };
            last = n;
        }
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
            missing: to_signed(span + 1 - received),
            places: to_signed(pieces - 1),
            following: received - pieces,
            ..SequenceCounts::default()
        };
    }

    /// Enters a number above the highest one. Returns the drops before it that have no missing number.
    fn advance(&mut self, arrival: Arrival, ahead: u64) -> u64 {
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
        let rest = self.drops.next(missing, dropped, self.ring.position());
        self.counts += SequenceCounts {
            received: 1,
            missing: to_signed(missing),
            places: i64::from(missing > 0),
            following: u64::from(missing <= dropped),
            ..SequenceCounts::default()
        };
        rest
    }

    fn look_back(&mut self, arrival: Arrival, behind: u64) {
        self.end_run_by_pause(arrival.arrived_ns);
        let one = SequenceCounts::default();
        match self.ring.look_back(behind) {
            Behind::Repeated { half } => {
                let duplicates = 1;
                let before = match self.again {
                    (number, times) if number == arrival.number => times,
                    _ => 0,
                };
                self.again = (arrival.number, before + 1);
                self.most_again = self.most_again.max(before + 1);
                let counts = SequenceCounts { duplicates, ..one };
                self.again(arrival, half, counts);
            }
            Behind::Filled { half, neighbours } => self.fill(arrival, half, neighbours),
            Behind::Early { between } => {
                let counts = SequenceCounts {
                    received: 1,
                    late: 1,
                    missing: to_signed(between),
                    places: i64::from(between > 0),
                    following: u64::from(between == 0),
                    ..one
                };
                self.again(arrival, Half::First, counts);
            }
            Behind::FarBelow => self.stray(arrival),
        }
    }

    /// Settles numbers elsewhere if what follows them comes after a pause.
    fn end_run_by_pause(&mut self, now_ns: u64) {
        let before = std::mem::replace(&mut self.elsewhere_ns, now_ns);
        if self.pace.numbers_in(now_ns.saturating_sub(before)) > PAUSE {
            self.settle();
        }
    }

    fn fill(&mut self, arrival: Arrival, half: Half, neighbours: u8) {
        let number = arrival.number;
        self.drops.fill(self.distances(number).1);
        let counts = SequenceCounts {
            received: 1,
            missing: -1,
            places: 1 - i64::from(neighbours),
            late: 1,
            following: neighbours.into(),
            ..SequenceCounts::default()
        };
        let (_, behind) = self.distances(number);
        if behind as f64 > self.pace.most_in(RESTART_NS) {
            // No datagram is that late: four in order are of a new part.
            self.again(arrival, half, counts);
            return;
        }
        match self.elsewhere.as_mut() {
            Some(elsewhere) if elsewhere.in_order > 0 => {
                if !elsewhere.fill(number, self.mask, counts) {
                    self.counts += counts;
                }
            }
            elsewhere => {
                let continues = elsewhere.is_some_and(|it| it.fill(number, self.mask, counts));
                if !continues {
                    self.settle();
                    let since = self.since(arrival.arrived_ns);
                    self.elsewhere = Some(Elsewhere::filling(number, half, since, counts));
                }
            }
        }
    }

    /// Returns what lies between the last higher number and a moment.
    fn since(&self, now_ns: u64) -> Since {
        let ns = self.pace.since_last_ns(now_ns);
        Since {
            dropped: self.drops.since_higher,
            ns,
            numbers: self.pace.numbers_in(ns),
        }
    }

    fn stray(&mut self, arrival: Arrival) {
        let counts = SequenceCounts {
            strays: 1,
            ..SequenceCounts::default()
        };
        self.again(arrival, Half::First, counts);
    }

    /// Enters a number that may be of a new part of the series.
    fn again(&mut self, arrival: Arrival, half: Half, counts: SequenceCounts) {
        let (number, mask) = (arrival.number, self.mask);
        if let Some(before) = self.part_before {
            if number.wrapping_sub(before) & mask < NEAR {
                self.resumed += 1;
                self.part_before = Some(number.wrapping_add(1) & mask);
            }
        }
        let elsewhere = self.elsewhere.as_mut();
        match elsewhere.and_then(|it| it.add(number, mask, counts)) {
            None => {
                self.settle();
                let since = self.since(arrival.arrived_ns);
                self.elsewhere = Some(Elsewhere::new(number, half, since, counts));
            }
            Some(Meaning::Unclear) => {}
            Some(Meaning::Copies) => self.copies += 1,
            Some(Meaning::Either) => self.hidden_parts += 1,
            Some(Meaning::Restart) => self.restart(arrival.arrived_ns),
        }
    }

    /// Begins a new part with the numbers elsewhere.
    fn restart(&mut self, arrived_ns: u64) {
        let Some(elsewhere) = self.elsewhere.take() else {
            return;
        };
        self.settle_ahead();
        let (ahead, _) = self.distances(elsewhere.run.start);
        self.pace
            .restart(ahead, arrived_ns, self.drops.since_higher);
        self.counts.restarts += 1;
        self.counts.duplicates += elsewhere.again;
        self.repeated_parts += u64::from(elsewhere.counts.duplicates > elsewhere.again);
        let run = elsewhere.run;
        let missing = u64::from(run.came.ilog2() + 1 - run.came.count_ones());
        self.drops.restart(missing, elsewhere.dropped_before);
        self.longest_part = self.longest_part.max(self.ring.span() + 1);
        self.part_before = self.highest.map(|it| it.wrapping_add(1) & self.mask);
        self.begin(run);
    }

    /// Adds the counts of numbers that did not begin a new part.
    fn settle(&mut self) {
        if let Some(run) = self.elsewhere.take() {
            self.counts += run.counts;
            self.pace.pause(run.after_ns);
        }
    }

    /// Enters the end of the run, and the drops of the socket after the last datagram of this source. A few numbers that
    /// may have begun a new part are counted nowhere.
    pub fn finish(&mut self, dropped_after: u64) {
        self.settle_ahead();
        self.elsewhere.take_if(|run| run.is_open());
        self.settle();
        self.drops.finish(dropped_after);
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
        if let Some((numbers, ns)) = self.pace.too_large() {
            let time = Duration::from_nanos(ns);
            return Err(Doubt::Jump { numbers, time });
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
            possible_drops: (self.drops.matched + self.drops.nearby).min(missing),
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
