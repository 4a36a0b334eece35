//! State of the blocks and their cases during a replay.

use crate::data::{Sample, Verified};
use crate::results::log::counts;
use crate::results::row::{CaseWarning, Failure};

/// State of a block during a replay.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) stage: Stage,
    /// Warnings for all rows of the block.
    pub(super) warnings: Vec<CaseWarning>,
    /// Cases that run, in the order of the plan.
    pub(super) cases: Vec<Measured>,
    /// Round that is being measured. 0: none yet.
    pub(super) round: u32,
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

impl Progress {
    /// Returns whether the current round has windows of some cases and still lacks those of others.
    pub(super) fn is_within_a_round(&self) -> bool {
        let goes_on = self.cases.iter().filter(|case| case.failure.is_none());
        let has_window = |case: &Measured| case.samples.iter().any(|it| it.round == self.round);
        let (measured, missing): (Vec<_>, Vec<_>) = goes_on.partition(|case| has_window(case));
        !measured.is_empty() && !missing.is_empty()
    }

    /// Adds a warning. Repeated interruptions give the same one, so it is kept once.
    pub(super) fn warn(&mut self, warning: CaseWarning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}
