//! Windows of a comparison so far, by pair and round.

use std::collections::BTreeMap;

use super::header::Header;
use super::pairs::{pairs, runnable};
use super::{Pair, Side};
use crate::results::log::{Event, Expected, Of};
use crate::results::row::{self, preempted};
use crate::verdict::judge::{By, Verdict};

/// Header and results so far of a comparison.
#[derive(Clone, Debug)]
pub struct Record {
    header: Header,
    pairs: Vec<Measured>,
}

/// Results of a pair so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// Windows of A and B by round, from 1.
    rounds: BTreeMap<u32, [Option<Outcome>; 2]>,
    /// Windows that were measured twice.
    pub(super) repeated: usize,
}

/// Figures of a window, or why there are none.
type Outcome = Result<Figures, Failure>;

/// Failure of a side in a round.
#[derive(Clone, Debug)]
struct Failure {
    reason: String,
    other_programs: Option<String>,
}

/// Rounds in which one side has to fail, and the other must not, until the side is the reason and not chance. If every
/// window failed with the same probability, chance would do that in one of a million cases at most (0.25^10). A
/// comparison of fewer rounds needs all of its rounds.
const ROUNDS_TO_BLAME: u32 = 10;

/// Figures of a window.
#[derive(Clone, Copy, Debug)]
struct Figures {
    received_pps: Option<f64>,
    cpu_ns_per_packet: Option<f64>,
    /// True if other programs took CPU time from it.
    is_disturbed: bool,
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
        self.put_side(Side::A, pair, round, 1.0);
        self.put_side(Side::B, pair, round, of_b);
    }

    /// Adds a window of a side of a pair, of this speed.
    #[cfg(test)]
    pub(super) fn put_side(&mut self, side: Side, pair: usize, round: u32, speed: f64) {
        self.put_window((side, pair, round), speed, false);
    }

    #[cfg(test)]
    pub(super) fn put_window(
        &mut self,
        (side, pair, round): (Side, usize, u32),
        speed: f64,
        is_disturbed: bool,
    ) {
        let figures = Figures {
            received_pps: Some(speed),
            cpu_ns_per_packet: Some(speed.recip()),
            is_disturbed,
        };
        let put = self.put_outcome(side, pair, round, Ok(figures));
        put.expect("a round that it has not");
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

    /// Returns the number of rounds after which a side that always fails is to blame.
    pub(super) fn rounds_to_blame(&self) -> usize {
        ROUNDS_TO_BLAME.min(self.header.most_rounds()) as usize
    }

    pub(super) fn measured(&self) -> &[Measured] {
        &self.pairs
    }

    /// Returns the number of windows measured.
    pub fn windows(&self) -> u64 {
        let rounds = self.pairs.iter().flat_map(|pair| pair.rounds.values());
        rounds.flatten().filter(|side| is_measured(side)).count() as u64
    }

    /// Returns the number of windows that other programs disturbed.
    pub(super) fn disturbed_windows(&self) -> u64 {
        let rounds = self.pairs.iter().flat_map(|pair| pair.rounds.values());
        let windows = rounds.flatten().flatten().flatten();
        windows.filter(|figures| figures.is_disturbed).count() as u64
    }

    /// Returns whether the machine was busy: other programs disturbed 3 of 10 windows or more.
    pub(super) fn is_of_busy_machine(&self) -> bool {
        let disturbed = self.disturbed_windows();
        disturbed > 0 && 10 * disturbed >= 3 * self.windows()
    }

    /// Returns the number of rounds of the pair that has the most.
    pub fn rounds(&self) -> u32 {
        let rounds = |pair: &Measured| {
            let both = pair
                .rounds
                .iter()
                .filter(|(_, sides)| sides.iter().all(is_measured));
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

    /// Returns whether a side of a pair has its window of a round, or failed in it.
    pub(super) fn has_outcome(&self, pair: usize, round: u32, side: Side) -> bool {
        let rounds = &self.pairs[pair].rounds;
        rounds
            .get(&round)
            .is_some_and(|sides| sides[side as usize].is_some())
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
                let figures = Figures {
                    received_pps: row::received_pps(sample),
                    cpu_ns_per_packet: row::cpu_ns_per_packet(sample),
                    is_disturbed: preempted::disturbs(preempted::share_of_one(sample), sample),
                };
                self.put_outcome(side, pair, sample.round, Ok(figures))?;
            }
            Event::Repeated { of, .. } => {
                let (_, pair) = self.place(of.side, &of.case)?;
                self.pairs[pair].repeated += 1;
            }
            Event::Failed {
                of,
                round,
                reason,
                other_programs,
            } => {
                let failure = Failure {
                    reason: reason.clone(),
                    other_programs: other_programs.clone(),
                };
                let (side, pair) = self.place(of.side, &of.case)?;
                self.put_outcome(side, pair, *round, Err(failure))?;
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

    fn put_outcome(
        &mut self,
        side: Side,
        number: usize,
        round: u32,
        outcome: Outcome,
    ) -> Result<(), String> {
        let most = self.header.most_rounds();
        if round == 0 || round > most {
            return Err(format!("round {round}, but there are rounds 1 to {most}"));
        }
        let sides = self.pairs[number].rounds.entry(round).or_default();
        match sides[side as usize].replace(outcome) {
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
        let value = |outcome: &Option<Outcome>| {
            let figures = outcome.as_ref()?.as_ref().ok()?;
            let value = match by {
                By::Speed => figures.received_pps,
                By::Cpu => figures.cpu_ns_per_packet,
            };
            value.filter(|&value| value > 0.0)
        };
        let rounds = self.rounds.iter();
        let difference = |(round, [a, b]): (&u32, &[Option<Outcome>; 2])| {
            Some((*round, (value(b)? / value(a)?).ln()))
        };
        rounds.filter_map(difference).collect()
    }

    /// Returns the middle of the values of a side.
    pub(super) fn middle(&self, side: Side, by: By) -> Option<f64> {
        let values = self.outcomes(side).filter_map(|outcome| match by {
            By::Speed => outcome.as_ref().ok()?.received_pps,
            By::Cpu => outcome.as_ref().ok()?.cpu_ns_per_packet,
        });
        let values: Vec<f64> = values.collect();
        crate::stats::estimate(&values).map(|estimate| estimate.middle)
    }

    /// Returns whether more rounds would change nothing about the verdict on failures. `to_blame`: see
    /// [`Record::rounds_to_blame`].
    pub(super) fn is_decided(&self, to_blame: usize) -> bool {
        let is_one_blamed = self.blamed(to_blame).is_some();
        let fails = |side: &Side| self.failures(*side) > 0;
        let fails_now_and_then = |side: &Side| self.fails_now_and_then(*side);
        is_one_blamed || Side::BOTH.iter().all(fails) || Side::BOTH.iter().any(fails_now_and_then)
    }

    /// Returns the verdict on a pair with failures. `None`: there are none.
    ///
    /// On a busy machine, windows of either side fail now and then, and the case is unmeasured.
    pub(super) fn verdict_on_failures(&self, to_blame: usize) -> Option<Verdict> {
        let failed = Side::BOTH.into_iter().find_map(|side| {
            let mut outcomes = self.outcomes(side);
            let failure = outcomes.find_map(|outcome| outcome.as_ref().err())?;
            Some((side, &failure.reason))
        });
        let (side, reason) = failed?;
        match self.blamed(to_blame) {
            Some(Side::B) => return Some(Verdict::Broken(reason.clone())),
            Some(Side::A) => return Some(Verdict::NotComparable(format!("fails in A: {reason}"))),
            None => {}
        }
        let of = self.outcomes(side).count();
        let failed = format!(
            "{side} failed in {} of {of} rounds: {reason}",
            self.failures(side)
        );
        let always_fails =
            |side: &Side| self.failures(*side) > 0 && !self.fails_now_and_then(*side);
        Some(match self.other_programs() {
            Some(programs) => {
                Verdict::Undecided(format!("the machine was too busy: {programs}; {failed}"))
            }
            None if Side::BOTH.iter().all(always_fails) => {
                Verdict::NotComparable(format!("fails in both: {reason}"))
            }
            None => Verdict::Undecided(failed),
        })
    }

    /// Returns the side that failed in so many rounds, and always, while the other never did, that it is the reason.
    fn blamed(&self, to_blame: usize) -> Option<Side> {
        let is_enough = |side: &Side| self.outcomes(*side).count() >= to_blame;
        let is_to_blame = |side: &Side| {
            let always = self.failures(*side) == self.outcomes(*side).count();
            always && self.failures(side.other()) == 0
        };
        let are_enough = Side::BOTH.iter().all(is_enough);
        Side::BOTH
            .into_iter()
            .find(|side| are_enough && is_to_blame(side))
    }

    /// Returns whether a side failed, but not in every round.
    fn fails_now_and_then(&self, side: Side) -> bool {
        let failures = self.failures(side);
        failures > 0 && failures < self.outcomes(side).count()
    }

    /// Returns the number of rounds in which a side failed.
    pub(super) fn failures(&self, side: Side) -> usize {
        self.outcomes(side).filter(|it| it.is_err()).count()
    }

    /// Returns the other programs that used CPU time when a window failed.
    fn other_programs(&self) -> Option<&str> {
        let outcomes = Side::BOTH.into_iter().flat_map(|side| self.outcomes(side));
        let mut failures = outcomes.filter_map(|outcome| outcome.as_ref().err());
        failures.find_map(|failure| failure.other_programs.as_deref())
    }

    fn outcomes(&self, side: Side) -> impl Iterator<Item = &Outcome> {
        let rounds = self.rounds.values();
        rounds.filter_map(move |sides| sides[side as usize].as_ref())
    }
}

fn is_measured(side: &Option<Outcome>) -> bool {
    side.as_ref().is_some_and(Result::is_ok)
}
