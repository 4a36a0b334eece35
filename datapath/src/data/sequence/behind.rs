//! Numbers that are not above the highest one: late, repeated, or the beginning of a new part.

use super::elsewhere::{Elsewhere, Meaning, NEAR, Since};
use super::jumps::RESTART_NS;
use super::ring::{Behind, Half};
use super::{Arrival, SequenceCounts, SequenceTracker};
use crate::data::accounting::signed;

/// Numbers that would have gone by in a pause within which no run goes on.
const PAUSE: f64 = 64.0;

impl SequenceTracker {
    pub(super) fn look_back(&mut self, arrival: Arrival, behind: u64) {
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
                    missing: signed(between),
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
    pub(super) fn end_run_by_pause(&mut self, now_ns: u64) {
        let before = std::mem::replace(&mut self.elsewhere_ns, now_ns);
        if self.pace.numbers_in(now_ns.saturating_sub(before)) > PAUSE {
            self.settle();
        }
    }

    pub(super) fn fill(&mut self, arrival: Arrival, half: Half, neighbours: u8) {
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
    pub(super) fn since(&self, now_ns: u64) -> Since {
        let ns = self.pace.since_last_ns(now_ns);
        Since {
            dropped: self.drops.since_higher,
            ns,
            numbers: self.pace.numbers_in(ns),
        }
    }

    pub(super) fn stray(&mut self, arrival: Arrival) {
        let counts = SequenceCounts {
            strays: 1,
            ..SequenceCounts::default()
        };
        self.again(arrival, Half::First, counts);
    }

    /// Enters a number that may be of a new part of the series.
    pub(super) fn again(&mut self, arrival: Arrival, half: Half, counts: SequenceCounts) {
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
    pub(super) fn restart(&mut self, arrived_ns: u64) {
        let Some(elsewhere) = self.elsewhere.take() else {
            return;
        };
        self.settle_ahead();
        let (ahead, _) = self.distances(elsewhere.run.start);
        self.pace
            .restart(ahead, arrived_ns, self.drops.since_higher);
        self.counts.restarts += 1;
        self.first_restart_ns.get_or_insert(arrived_ns);
        self.counts.duplicates += elsewhere.again;
        self.repeated_parts += u64::from(elsewhere.counts.duplicates > elsewhere.again);
        let run = elsewhere.run;
        self.drops.restart(run.missing(), elsewhere.dropped_before);
        self.end_part();
        self.begin(run);
    }

    /// Adds the counts of numbers that did not begin a new part.
    pub(super) fn settle(&mut self) {
        if let Some(run) = self.elsewhere.take() {
            self.counts += run.counts;
            self.pace.pause(run.after_ns);
        }
    }
}
