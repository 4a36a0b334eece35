//! Windows of a comparison so far, by pair and round.

use std::collections::BTreeMap;

use super::header::Header;
use super::pairs::{pairs, runnable};
use super::{Pair, Side};
use crate::data::Sample;
use crate::results::log::{Event, Expected, Of};
use crate::results::row;
use crate::verdict::judge::By;

/// Header and results so far of a comparison.
#[derive(Clone, Debug)]
pub struct Record {
    header: Header,
    pairs: Vec<Measured>,
}

/// Results of a pair so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// Figures of A and B by round, from 1.
    rounds: BTreeMap<u32, [Option<Figures>; 2]>,
    /// Windows that were measured twice.
    pub(super) repeated: usize,
    /// Reasons why the case of A and the case of B failed.
    pub(super) failures: [Option<String>; 2],
}

/// Figures of a window.
#[derive(Clone, Copy, Debug)]
struct Figures {
    received_pps: Option<f64>,
    cpu_ns_per_packet: Option<f64>,
}

impl Record {
    /// Creates a record without results.
    ///
    /// # Errors
    /// Returns an error if the cases of A do not match the cases of B.
    pub fn new(header: Header) -> Result<Self, String> {
        let count = pairs(&header.a, &header.b)?.len();
        Ok(Self {
            header,
            pairs: vec![Measured::default(); count],
        })
    }

    /// Adds a round of a pair in which A has the value 1 and B has `of_b`.
    #[cfg(test)]
    pub(super) fn put(&mut self, pair: usize, round: u32, of_b: f64) {
        let figures = |value| Figures {
            received_pps: Some(value),
            cpu_ns_per_packet: Some(value.recip()),
        };
        let sides = [Some(figures(1.0)), Some(figures(of_b))];
        self.pairs[pair].rounds.insert(round, sides);
    }

    /// Returns the header of the log.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns every pair, including pairs that do not run.
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        // `new` has checked that the cases match.
        pairs(&self.header.a, &self.header.b).unwrap_or_default()
    }

    pub(super) fn measured(&self) -> &[Measured] {
        &self.pairs
    }

    /// Returns the number of windows measured.
    pub fn windows(&self) -> u64 {
        let rounds = self.pairs.iter().flat_map(|pair| pair.rounds.values());
        rounds.flatten().flatten().count() as u64
    }

    /// Returns the number of rounds of the pair that has the most.
    pub fn rounds(&self) -> u32 {
        let rounds = |pair: &Measured| {
            let both = pair
                .rounds
                .iter()
                .filter(|(_, sides)| sides.iter().all(Option::is_some));
            both.map(|(round, _)| *round).next_back()
        };
        self.pairs
            .iter()
            .filter_map(rounds)
            .max()
            .unwrap_or_default()
    }

    /// Returns the record as it was after this many rounds.
    pub(super) fn up_to(&self, round: u32) -> Self {
        let mut record = self.clone();
        for pair in &mut record.pairs {
            pair.rounds.retain(|of, _| *of <= round);
        }
        record
    }

    /// Returns whether a side of a pair has its window of a round.
    pub(super) fn has_window(&self, pair: usize, round: u32, side: Side) -> bool {
        let rounds = &self.pairs[pair].rounds;
        rounds
            .get(&round)
            .is_some_and(|sides| sides[side as usize].is_some())
    }

    /// Returns whether a case of a pair failed on either side.
    pub(super) fn has_failed(&self, pair: usize) -> bool {
        self.pairs[pair].failures.iter().any(Option::is_some)
    }

    /// Returns whether a window is still to be measured. If the other side of the pair failed, one window is measured
    /// to learn whether both sides fail.
    pub(super) fn is_wanted(&self, pair: usize, round: u32, side: Side) -> bool {
        let measured = &self.pairs[pair];
        match (
            &measured.failures[side as usize],
            &measured.failures[side.other() as usize],
        ) {
            (Some(_), _) => false,
            (None, Some(_)) => measured
                .rounds
                .values()
                .all(|sides| sides[side as usize].is_none()),
            (None, None) => !self.has_window(pair, round, side),
        }
    }

    /// Adds an event of the log.
    ///
    /// # Errors
    /// Returns an error if the event is impossible, and says why.
    pub fn take(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Window(window) => {
                let sample = &window.sample;
                let (side, pair) = self.place(window.side, &sample.case)?;
                self.window(side, pair, sample)?;
            }
            Event::Repeated { of, .. } => {
                let (_, pair) = self.place(of.side, &of.case)?;
                self.pairs[pair].repeated += 1;
            }
            Event::Failed { of, reason, .. } => {
                let (side, pair) = self.place(of.side, &of.case)?;
                self.pairs[pair].failures[side as usize] = Some(reason.clone());
            }
            Event::Interrupted { .. } => {}
            Event::Settled { .. }
            | Event::IdlePower(_)
            | Event::BlockBegun { .. }
            | Event::Verified(_)
            | Event::BlockEnded { .. } => return Err("it is of a sweep".to_owned()),
            Event::Resumed { .. } => {
                for pair in &mut self.pairs {
                    pair.rounds
                        .retain(|_, sides| sides.iter().all(Option::is_some));
                }
            }
        }
        Ok(())
    }

    /// Returns the side and the pair of a window.
    fn place(&self, side: Option<Side>, case: &str) -> Result<(Side, usize), String> {
        let side = side.ok_or_else(|| format!("{case}: of no side"))?;
        let mut cases = self.header.setup(side).plan.cases();
        let pair = cases.position(|planned| planned.case.key() == case);
        let pair = pair.ok_or_else(|| format!("{side} has no case {case}"))?;
        Ok((side, pair))
    }

    /// Returns the name of a window in the log.
    pub(super) fn name(&self, side: Side, pair: usize) -> Of {
        let planned = self.header.setup(side).plan.cases().nth(pair);
        Of {
            case: planned.map_or_else(String::new, |planned| planned.case.key()),
            side: Some(side),
            tuning: None,
        }
    }

    fn window(&mut self, side: Side, number: usize, sample: &Sample) -> Result<(), String> {
        let (round, most) = (sample.round, self.header.most_rounds());
        if round == 0 || round > most {
            return Err(format!("round {round}, but there are rounds 1 to {most}"));
        }
        let sides = self.pairs[number].rounds.entry(round).or_default();
        let figures = Figures {
            received_pps: row::received_pps(sample),
            cpu_ns_per_packet: row::cpu_ns_per_packet(sample),
        };
        match sides[side as usize].replace(figures) {
            None => Ok(()),
            Some(_) => Err(format!("round {round} of pair {number} twice in {side}")),
        }
    }

    /// Returns the first inconsistency in the window of an event, or `None`.
    pub(super) fn contradiction(&self, event: &Event) -> Option<String> {
        let Event::Window(window) = event else {
            return None;
        };
        let sample = &window.sample;
        let (side, number) = self.place(window.side, &sample.case).ok()?;
        let setup = self.header.setup(side);
        let planned = setup.plan.cases().nth(number)?;
        let problem = match runnable(setup, planned) {
            None => "it does not run".to_owned(),
            Some((case, engines, placement)) => Expected {
                case,
                engines,
                placement,
                window: setup.settings.window,
            }
            .contradiction(sample)?,
        };
        Some(format!("{side}, {}: {problem}", sample.case))
    }
}

impl Measured {
    /// Returns the logarithm of B over A, by round.
    pub(super) fn differences(&self, by: By) -> BTreeMap<u32, f64> {
        let value = |figures: &Option<Figures>| {
            let figures = figures.as_ref()?;
            let value = match by {
                By::Speed => figures.received_pps,
                By::Cpu => figures.cpu_ns_per_packet,
            };
            value.filter(|&value| value > 0.0)
        };
        let rounds = self.rounds.iter();
        let difference = |(round, [a, b]): (&u32, &[Option<Figures>; 2])| {
            Some((*round, (value(b)? / value(a)?).ln()))
        };
        rounds.filter_map(difference).collect()
    }

    /// Returns the middle of the values of a side.
    pub(super) fn middle(&self, side: Side, by: By) -> Option<f64> {
        let sides = self
            .rounds
            .values()
            .filter_map(|sides| sides[side as usize]);
        let values = sides.filter_map(|figures| match by {
            By::Speed => figures.received_pps,
            By::Cpu => figures.cpu_ns_per_packet,
        });
        let values: Vec<f64> = values.collect();
        crate::stats::estimate(&values).map(|estimate| estimate.middle)
    }
}
