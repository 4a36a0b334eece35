//! State of the blocks and their cases during a replay, and the rows that follow from it.

use super::Replay;
use crate::data::{self, Case, Sample, Verified};
use crate::plan::{Decision, LinkEnd, Planned};
use crate::results::log::added;
use crate::results::row::{CaseWarning, EndedBy, Failure, NicText, Reason, Row, RowInput, Warning};

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
    pub(super) fn add(&mut self, sample: &Sample) -> Result<(), String> {
        let (case, round) = (&sample.case, sample.round);
        if self.samples.iter().any(|other| other.round == round) {
            return Err(format!("round {round} of {case} twice"));
        }
        let counted = added(self.counted, sample);
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

impl Replay {
    /// Returns the rows of the blocks that have not ended, and then the rows of the cases that do not run.
    pub fn rest(&self) -> Vec<Row> {
        [self.unfinished(), self.skipped()].concat()
    }

    /// Returns the rows of the cases that do not run. They follow from the plan alone.
    pub fn skipped(&self) -> Vec<Row> {
        let skipped = self.header.plan.skipped();
        let rows = skipped.map(|(case, reason)| self.row(&self.input(case, reason)));
        rows.collect()
    }

    fn row(&self, input: &RowInput) -> Row {
        Row::new(input, &self.header.environment)
    }

    /// Returns what a row has whether or not its case runs. `reason`: why it does not run.
    fn input<'a>(&'a self, case: &'a Case, reason: &str) -> RowInput<'a> {
        RowInput {
            engines: self.header.plan.pair(case),
            schedule: Some(&self.header.schedule),
            wire: self.header.wire.as_ref(),
            nics: self.nics(case),
            ..RowInput::skipped(case, reason.to_owned())
        }
    }

    /// Returns the rows of the blocks that were begun and have not ended, as after an interruption.
    pub fn unfinished(&self) -> Vec<Row> {
        let begun =
            (0..self.blocks.len()).filter(|&block| self.blocks[block].stage == Stage::Begun);
        begun.flat_map(|block| self.rows(block, None)).collect()
    }

    /// Returns the rows of a block as they are now, before they are final.
    pub fn preview(&self, block: usize) -> Vec<Row> {
        self.rows(block, Some(EndedBy::Rounds))
    }

    pub(super) fn rows(&self, block: usize, ended: Option<EndedBy>) -> Vec<Row> {
        let progress = &self.blocks[block];
        let cases = &self.header.plan.blocks[block].cases;
        let planned = || cases.iter().filter(|it| it.runs()).zip(&progress.cases);
        // A case that failed, starved, or has counts that do not add up is no reference for others.
        let is_sound = |(_, measured): &(&Planned, &Measured)| {
            measured.failure.is_none() && measured.samples.iter().all(Sample::is_sound)
        };
        let sound: Vec<(&Case, &[Sample])> = planned()
            .filter(is_sound)
            .map(|(planned, measured)| (&planned.case, &measured.samples[..]))
            .collect();
        let reference = sound.iter().find(|(case, _)| case.is_reference());
        let reference = reference.map_or(&[][..], |(_, samples)| samples);
        let row = |(planned, measured): (&Planned, &Measured)| {
            let case = &planned.case;
            let engines = |case: &Case| (case.sender, case.receiver);
            let others = sound.iter();
            let others = others.filter(|(other, _)| engines(other) != engines(case));
            let others: Vec<&[Sample]> = others.map(|(_, samples)| *samples).collect();
            let half = case.half_duplex();
            let half = sound.iter().find(|(case, _)| Some(**case) == half);
            self.row(&RowInput {
                pin: match &planned.verdict {
                    Decision::Run(placement, _) => Some(placement),
                    Decision::Skip(_) => None,
                },
                warnings: self.warnings(planned, &progress.warnings),
                ended: match (&measured.failure, ended) {
                    (Some(failure), _) => Err(Reason::Failed(failure.clone())),
                    (None, None) => Err(Reason::Interrupted(self.interruption.clone())),
                    (None, Some(by)) => Ok(by),
                },
                samples: &measured.samples,
                repeated: &measured.repeated,
                verified: measured.verified,
                reference,
                half: half.map_or(&[][..], |(_, samples)| samples),
                others: &others,
                earlier_pps: self.header.earlier_pps(case),
                settles_after: self.settles_after,
                idle_powers: &self.idle_powers,
                ..self.input(case, "")
            })
        };
        planned().map(row).collect()
    }

    /// Returns the local and the remote interface of a case between two hosts, in words.
    fn nics(&self, case: &Case) -> (NicText, NicText) {
        let link = self.header.wire.as_ref().and_then(|wire| wire.link(case));
        let words = |end: &LinkEnd| NicText::of(&end.interface);
        link.map(|link| (words(&link.local), words(&link.remote)))
            .unwrap_or_default()
    }

    /// Returns the warnings of the plan and of the block about a case.
    fn warnings(&self, planned: &Planned, of_block: &[CaseWarning]) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = Vec::new();
        if let Decision::Run(_, of_plan) = &planned.verdict {
            warnings.extend(of_plan.iter().cloned().map(Warning::Plan));
        }
        warnings.extend(of_block.iter().cloned().map(Warning::Case));
        #[cfg(feature = "calibration")]
        if self.header.schedule.settings.delay.is_some() {
            warnings.push(CaseWarning::Delayed.into());
        }
        let sender = self.header.plan.pair(&planned.case).sender;
        let unverified = data::refusal(planned.case.payload, sender);
        let unverified = unverified.filter(|_| self.header.schedule.verify);
        warnings.extend(unverified.map(|reason| CaseWarning::NotVerified { reason }.into()));
        warnings
    }
}
