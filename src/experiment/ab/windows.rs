//! Windows of a comparison so far, by pair and round.

use std::collections::BTreeMap;

use super::header::{Pair, pairs};
use super::{AbComparison, Side};
use crate::results::log::{Event, Of};
use crate::results::row;
use crate::verdict::judge::Metric;

/// Results of a pair so far.
#[derive(Clone, Debug, Default)]
pub(super) struct PairWindows {
    /// Windows of A and B by round, from 1.
    rounds: BTreeMap<u32, [Option<WindowOutcome>; 2]>,
    /// Windows that were measured twice.
    pub(super) repeated: usize,
    /// Reason why its setting is not tried any more.
    pub(super) given_up: Option<row::Failure>,
}

/// Figures of a window, or why there are none.
pub(super) type WindowOutcome = Result<Figures, WindowFailure>;

/// Failure of a side in a round.
#[derive(Clone, Debug)]
pub(super) struct WindowFailure {
    pub(super) reason: row::Failure,
    /// Other programs that used CPU time when it failed.
    pub(super) other_programs: Option<String>,
}

/// Figures of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    /// Datagrams received per second, and CPU time per datagram in nanoseconds: a value for each [`Metric`].
    pub(super) values: [Option<f64>; 2],
    /// True if other programs took CPU time from it.
    pub(super) is_disturbed: bool,
}

impl AbComparison {
    /// Returns every pair, including pairs that do not run.
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        // `new` has checked that the cases match.
        pairs(&self.header).unwrap_or_default()
    }

    /// Returns the reasons why settings are not tried any more.
    pub fn given_up(&self) -> impl Iterator<Item = &row::Failure> {
        self.pairs.iter().filter_map(|pair| pair.given_up.as_ref())
    }

    /// Returns the number of windows measured, and of those that other programs disturbed.
    pub(super) fn windows(&self) -> (u64, u64) {
        let rounds = self.pairs.iter().flat_map(|pair| pair.rounds.values());
        let windows = rounds.flatten().flatten().flatten();
        windows.fold((0, 0), |(all, disturbed), figures| {
            (all + 1, disturbed + u64::from(figures.is_disturbed))
        })
    }

    /// Returns whether the machine was busy: other programs disturbed 3 of 10 windows or more.
    pub(super) fn is_of_busy_machine(&self) -> bool {
        let (all, disturbed) = self.windows();
        disturbed > 0 && 10 * disturbed >= 3 * all
    }

    /// Returns the number of rounds of the pair that has the most.
    pub fn rounds(&self) -> u32 {
        let rounds = self.pairs.iter().flat_map(|pair| &pair.rounds);
        let both = rounds.filter(|(_, sides)| matches!(sides, [Some(Ok(_)), Some(Ok(_))]));
        both.map(|(round, _)| *round).max().unwrap_or_default()
    }

    /// Returns the record as it was after this many rounds.
    pub(super) fn up_to(&self, round: u32) -> Self {
        let mut record = self.clone();
        for pair in &mut record.pairs {
            pair.rounds.retain(|of, _| *of <= round);
        }
        record
    }

    /// Returns whether a side of a pair has its window of a round, or failed in it.
    pub(super) fn has_outcome(&self, pair: usize, round: u32, side: Side) -> bool {
        let sides = self.pairs[pair].rounds.get(&round);
        sides.is_some_and(|sides| sides[side as usize].is_some())
    }

    /// Adds an event of the log.
    ///
    /// # Errors
    /// Returns an error if the event is impossible, and says why.
    pub(super) fn add(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Window(window) => {
                let sample = &window.sample;
                let (side, pair) = self.place(window.side, &sample.case, window.tuning)?;
                let figures = Figures {
                    values: [row::received_pps(sample), row::cpu_ns_per_packet(sample)],
                    is_disturbed: row::disturbs(row::share_of_one(sample), sample),
                };
                self.put_outcome(side, pair, sample.round, Ok(figures));
            }
            Event::Repeated { of, .. } => {
                let (_, pair) = self.place(of.side, &of.case, of.tuning)?;
                self.pairs[pair].repeated += 1;
            }
            Event::Failed {
                of,
                round,
                reason,
                other_programs,
            } => {
                let failure = WindowFailure {
                    reason: reason.clone(),
                    other_programs: other_programs.clone(),
                };
                let (side, pair) = self.place(of.side, &of.case, of.tuning)?;
                if reason.is_of_setting() {
                    self.pairs[pair].given_up = Some(reason.clone());
                }
                self.put_outcome(side, pair, *round, Err(failure));
            }
            Event::Interrupted { .. } => self.is_interrupted = true,
            Event::Resumed { .. } => {
                self.is_interrupted = false;
                for pair in &mut self.pairs {
                    pair.rounds
                        .retain(|_, sides| sides.iter().all(Option::is_some));
                }
            }
            _ => return Err("it is of a sweep".to_owned()),
        }
        Ok(())
    }

    /// Returns the side and the pair of a window.
    fn place(
        &self,
        side: Option<Side>,
        case: &str,
        tuning: Option<usize>,
    ) -> Result<(Side, usize), String> {
        let side = side.ok_or_else(|| format!("{case}: of no side"))?;
        let mut cases = self.header.setup(side).plan.cases();
        let case_number = cases.position(|planned| planned.case.key() == case);
        let case_number = case_number.ok_or_else(|| format!("{side} has no case {case}"))?;
        let pair = tuning.unwrap_or(0).checked_mul(self.cases());
        let pair = pair.and_then(|first| first.checked_add(case_number));
        let pair = pair.filter(|&pair| pair < self.pairs.len());
        Ok((side, pair.ok_or("there is no such setting")?))
    }

    /// Returns the number of cases of a side, which is the number of pairs of a setting.
    fn cases(&self) -> usize {
        self.header.a.plan.cases().count()
    }

    /// Returns the name of a window in the log.
    pub(super) fn name(&self, side: Side, pair: usize) -> Of {
        let pairs = self.pairs();
        Of {
            case: pairs[pair].side(side).case.key(),
            side: Some(side),
            tuning: pairs[pair].tuning.map(|_| pair / self.cases()),
        }
    }

    pub(super) fn put_outcome(
        &mut self,
        side: Side,
        pair: usize,
        round: u32,
        outcome: WindowOutcome,
    ) {
        let sides = self.pairs[pair].rounds.entry(round).or_default();
        sides[side as usize] = Some(outcome);
    }
}

impl PairWindows {
    /// Returns the logarithm of B over A, by round.
    pub(super) fn differences(&self, by: Metric) -> BTreeMap<u32, f64> {
        let value = |outcome: &Option<WindowOutcome>| {
            let value = outcome.as_ref()?.as_ref().ok()?.values[by as usize];
            value.filter(|&value| value > 0.0)
        };
        let rounds = self.rounds.iter();
        let difference = |(round, [a, b]): (&u32, &[Option<WindowOutcome>; 2])| {
            Some((*round, (value(b)? / value(a)?).ln()))
        };
        rounds.filter_map(difference).collect()
    }

    /// Returns the middle of the values of a side.
    pub(super) fn middle(&self, side: Side, by: Metric) -> Option<f64> {
        let outcomes = self.outcomes(side);
        let values = outcomes.filter_map(|outcome| outcome.as_ref().ok()?.values[by as usize]);
        let values: Vec<f64> = values.collect();
        crate::stats::estimate(&values).map(|estimate| estimate.middle)
    }

    /// Returns for each round in which both sides were tried whether one failed.
    pub(super) fn whole_rounds(&self) -> impl Iterator<Item = bool> {
        let rounds = self.rounds.values();
        rounds.filter_map(|sides| match sides {
            [Some(a), Some(b)] => Some(a.is_err() || b.is_err()),
            _ => None,
        })
    }

    /// Returns the windows and failures of a side, by round.
    pub(super) fn outcomes(&self, side: Side) -> impl Iterator<Item = &WindowOutcome> {
        let rounds = self.rounds.values();
        rounds.filter_map(move |sides| sides[side as usize].as_ref())
    }
}
