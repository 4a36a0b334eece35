//! State of the blocks and their cases during a replay.

use std::collections::HashSet;

use crate::data::{Sample, Verified};
use crate::plan::Schedule;
use crate::results::log::counts;
use crate::results::row::{BlockWarning, EndedBy, Failure};

/// State of a block during a replay.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) stage: Stage,
    /// Warnings for all rows of the block.
    pub(super) warnings: Vec<BlockWarning>,
    /// Cases that run, in the order of the plan.
    pub(super) cases: Vec<Measured>,
    /// Round that is being measured. 0: none yet.
    pub(super) round: u32,
    /// Positions of the windows measured so far in this round.
    positions: HashSet<u32>,
}

/// Stage of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Waiting,
    Begun,
    Ended,
}

/// State of a case during a replay.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    pub(super) samples: Vec<Sample>,
    /// Rounds whose window was measured a second time, each with the reason.
    pub(super) repeated: Vec<(u32, String)>,
    /// Sum of all counters of the windows.
    counted: u64,
    pub(super) verified: Option<Verified>,
    pub(super) failure: Option<Failure>,
}

impl Measured {
    /// Returns whether the window of this round was measured a second time.
    pub(super) fn is_repeated(&self, round: u32) -> bool {
        self.repeated.iter().any(|(other, _)| *other == round)
    }

    pub(super) fn repeat(&mut self, case: &str, round: u32, why: &str) -> Result<(), String> {
        let is_over = self.samples.iter().any(|other| other.round == round);
        if is_over || self.is_repeated(round) {
            return Err(format!(
                "round {round} of {case} is repeated twice, or after it was over"
            ));
        }
        self.repeated.push((round, why.to_owned()));
        Ok(())
    }

    pub(super) fn add(&mut self, sample: &Sample) -> Result<(), String> {
        let (case, round) = (&sample.case, sample.round);
        if self.samples.iter().any(|other| other.round == round) {
            return Err(format!("round {round} of {case} twice"));
        }
        let counted = counts::added(self.counted, sample);
        self.counted = counted.ok_or_else(|| {
            format!("the windows of {case} counted more than can be: 2^60 or more in all")
        })?;
        self.samples.push(sample.clone());
        Ok(())
    }
}

/// Checks that the schedule has a round. Rounds count from 1.
pub(super) fn check_round(case: &str, round: u32, most_rounds: u32) -> Result<(), String> {
    if (1..=most_rounds).contains(&round) {
        return Ok(());
    }
    Err(format!(
        "round {round} of {case}, but the schedule has rounds 1 to {most_rounds}"
    ))
}

impl Progress {
    /// Advances to a window. Rounds must follow each other, and each position of a round must occur once.
    pub(super) fn add_window(&mut self, sample: &Sample, most_rounds: u32) -> Result<(), String> {
        let Sample {
            case,
            round,
            position,
            ..
        } = sample;
        check_round(case, *round, most_rounds)?;
        if *round < self.round {
            return Err(format!(
                "round {round} of {case} after a window of round {}",
                self.round
            ));
        }
        if *round > self.round {
            self.round = *round;
            self.positions.clear();
        }
        if *position == 0 || *position as usize > self.cases.len() {
            return Err(format!(
                "position {position} of {case}, but its block has {} cases that run",
                self.cases.len()
            ));
        }
        if !self.positions.insert(*position) {
            return Err(format!(
                "position {position} of round {round} twice, the second time as {case}"
            ));
        }
        Ok(())
    }

    /// Returns whether the current round has windows of some cases and still lacks those of others.
    pub(super) fn is_within_a_round(&self) -> bool {
        let goes_on = self.cases.iter().filter(|case| case.failure.is_none());
        let has_window = |case: &Measured| case.samples.iter().any(|it| it.round == self.round);
        let (measured, missing): (Vec<_>, Vec<_>) = goes_on.partition(|case| has_window(case));
        !measured.is_empty() && !missing.is_empty()
    }

    /// Forgets the positions of the current round. After `--accept-changes` on another machine, the cases may be in
    /// another order.
    pub(super) fn forget_positions(&mut self) {
        self.positions.clear();
    }

    /// Checks that all cases that did not fail have the windows that this end of the block requires.
    pub(super) fn end(&self, by: EndedBy, schedule: &Schedule) -> Result<(), String> {
        let measured = || self.cases.iter().filter(|case| case.failure.is_none());
        let windows = |case: &Measured| case.samples.len();
        let (least, most) = (measured().map(windows).min(), measured().map(windows).max());
        let (Some(least), Some(most)) = (least, most) else {
            return Ok(());
        };
        let rounds = schedule.rounds as usize;
        let is_whole = match by {
            EndedBy::Rounds => schedule.until.is_none() && most == rounds,
            EndedBy::Until | EndedBy::MaxTime => schedule.until.is_some() && least >= rounds,
        };
        if is_whole && least == most {
            return Ok(());
        }
        Err(format!(
            "it ends by {}, but its cases have {least} to {most} windows and the schedule has {rounds} \
             rounds{}",
            by.name(),
            if schedule.until.is_some() {
                " or more"
            } else {
                ""
            }
        ))
    }

    /// Adds a warning. Repeated interruptions give the same one, so it is kept once.
    pub(super) fn warn(&mut self, warning: BlockWarning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}
