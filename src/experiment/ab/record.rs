//! What of a comparison counts: its windows, pair by pair and round by round.

use std::collections::BTreeMap;

use super::log::Header;
use super::pairs::{pairs, runnable};
use super::{Pair, Side};
use crate::data::Sample;
use crate::results::log::{Event, Expected, Of};
use crate::results::row;
use crate::verdict::compare::By;

/// All that is known so far.
#[derive(Clone, Debug)]
pub struct Record {
    header: Header,
    pairs: Vec<Measured>,
}

/// What is known of a pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// By round, from 1: A's and B's.
    rounds: BTreeMap<u32, [Option<Figures>; 2]>,
    /// Windows that were measured twice.
    pub(super) repeated: usize,
    /// Why A's and B's case failed.
    pub(super) failures: [Option<String>; 2],
}

/// What a window says.
#[derive(Clone, Copy, Debug)]
struct Figures {
    received_pps: Option<f64>,
    cpu_ns_per_packet: Option<f64>,
}

impl Record {
    /// Nothing has happened yet.
    ///
    /// # Errors
    /// When the cases of A and B do not belong together.
    pub fn new(header: Header) -> Result<Self, String> {
        let count = pairs(&header.a, &header.b)?.len();
        Ok(Self {
            header,
            pairs: vec![Measured::default(); count],
        })
    }

    /// Of a pair in a round, as if A had been worth 1.
    #[cfg(test)]
    pub(super) fn put(&mut self, pair: usize, round: u32, of_b: f64) {
        let figures = |value| Figures {
            received_pps: Some(value),
            cpu_ns_per_packet: Some(value.recip()),
        };
        let sides = [Some(figures(1.0)), Some(figures(of_b))];
        self.pairs[pair].rounds.insert(round, sides);
    }

    /// What is to be done.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Every pair, also of cases that do not run.
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        // They belonged together when this was made.
        pairs(&self.header.a, &self.header.b).unwrap_or_default()
    }

    pub(super) fn measured(&self) -> &[Measured] {
        &self.pairs
    }

    /// How many windows are measured.
    pub fn windows(&self) -> u64 {
        let rounds = self.pairs.iter().flat_map(|pair| pair.rounds.values());
        rounds.flatten().flatten().count() as u64
    }

    /// How many rounds are over: all pairs that run and have not failed have both their windows.
    pub fn rounds(&self) -> u32 {
        let pairs = self.pairs();
        let runs = (0..pairs.len()).filter(|&pair| pairs[pair].refusal().is_none());
        let runs: Vec<usize> = runs.filter(|&pair| !self.has_failed(pair)).collect();
        let is_over = |round: &u32| {
            let has_both = |&pair: &usize| {
                Side::BOTH
                    .iter()
                    .all(|&side| self.has_window(pair, *round, side))
            };
            runs.iter().all(has_both)
        };
        let rounds = 1..=self.header.most_rounds();
        rounds.take_while(is_over).last().unwrap_or_default()
    }

    /// Whether a pair has its window of that round.
    fn has_window(&self, pair: usize, round: u32, side: Side) -> bool {
        let rounds = &self.pairs[pair].rounds;
        rounds
            .get(&round)
            .is_some_and(|sides| sides[side as usize].is_some())
    }

    /// Whether one of a pair failed.
    pub(super) fn has_failed(&self, pair: usize) -> bool {
        self.pairs[pair].failures.iter().any(Option::is_some)
    }

    /// Whether a window is wanted. Where the other one of the pair failed, one tells whether both do.
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

    /// Takes what happened.
    ///
    /// # Errors
    /// Why that cannot have happened.
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

    /// Of which side a window is, and of which pair.
    fn place(&self, side: Option<Side>, case: &str) -> Result<(Side, usize), String> {
        let side = side.ok_or_else(|| format!("{case}: of no side"))?;
        let mut cases = self.header.setup(side).plan.cases();
        let pair = cases.position(|planned| planned.case.key() == case);
        let pair = pair.ok_or_else(|| format!("{side} has no case {case}"))?;
        Ok((side, pair))
    }

    /// What the log calls a window of a pair.
    pub(super) fn name(&self, side: Side, pair: usize) -> Of {
        let planned = self.header.setup(side).plan.cases().nth(pair);
        Of {
            case: planned.map_or_else(String::new, |planned| planned.case.key()),
            side: Some(side),
            knob: None,
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

    /// What about the counts of an event cannot be, if anything.
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
    /// By round: the logarithm of B over A.
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

    /// The middle of a side's values.
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
