//! Rows from the state of a replay.

use super::Replay;
use super::progress::{Measured, Stage};
use crate::data::{self, Case, Sample};
use crate::plan::{Decision, LinkEnd, Meter, Planned};
use crate::results::row::{
    BlockWarning, CaseWarning, EndedBy, NicText, Outcome, Row, RowInput, Warning,
};

/// Data that a case needs from other cases of its block.
#[derive(Clone, Copy)]
struct Beside<'a> {
    /// Windows of the reference case.
    reference: &'a [Sample],
    /// Windows of the same case in half duplex, if this case is in full duplex.
    half: &'a [Sample],
    /// Windows of each case with another engine.
    others: &'a [&'a [Sample]],
    warnings: &'a [BlockWarning],
}

impl Replay {
    /// Returns the rows of the blocks that have not ended, and then the rows of the cases that do not run.
    pub fn rest(&self) -> Vec<Row> {
        [self.unfinished(), self.skipped()].concat()
    }

    /// Returns the rows of the cases that do not run. They follow from the plan alone.
    pub fn skipped(&self) -> Vec<Row> {
        let row = |(case, reason): (&_, &str)| {
            let input = RowInput {
                engines: self.header.plan.pair(case),
                schedule: Some(&self.header.schedule),
                wire: self.header.wire.as_ref(),
                nics: self.nics(case),
                ..RowInput::skipped(case, reason.to_owned())
            };
            Row::new(&input, &self.header.environment)
        };
        self.header.plan.skipped().map(row).collect()
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
            let engines = |case: &Case| (case.sender, case.receiver);
            let others = sound
                .iter()
                .filter(|(case, _)| engines(case) != engines(&planned.case));
            let others: Vec<&[Sample]> = others.map(|(_, samples)| *samples).collect();
            let half = planned.case.half_duplex();
            let half = sound.iter().find(|(case, _)| Some(**case) == half);
            let beside = Beside {
                reference,
                half: half.map_or(&[][..], |(_, samples)| samples),
                others: &others,
                warnings: &progress.warnings,
            };
            self.row(planned, measured, beside, ended)
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

    fn row(
        &self,
        planned: &Planned,
        measured: &Measured,
        beside: Beside,
        ended: Option<EndedBy>,
    ) -> Row {
        let schedule = &self.header.schedule;
        let (pin, of_plan) = match &planned.verdict {
            Decision::Run(placement, warnings) => (Some(placement), &warnings[..]),
            Decision::Skip(_) => (None, &[][..]),
        };
        let mut warnings: Vec<Warning> = of_plan.iter().cloned().map(Warning::Plan).collect();
        warnings.extend(beside.warnings.iter().cloned().map(Warning::Block));
        #[cfg(feature = "calibration")]
        if schedule.settings.delay.is_some() {
            warnings.push(CaseWarning::Delayed.into());
        }
        let engines = self.header.plan.pair(&planned.case);
        let unverified = data::refusal(planned.case.payload, engines.sender);
        let unverified = unverified.filter(|_| schedule.verify);
        warnings.extend(unverified.map(|reason| CaseWarning::NotVerified { reason }.into()));
        let input = RowInput {
            case: &planned.case,
            engines,
            pin,
            schedule: Some(schedule),
            wire: self.header.wire.as_ref(),
            nics: self.nics(&planned.case),
            warnings,
            outcome: match (&measured.failure, ended) {
                (Some(failure), _) => Outcome::Failed(failure.clone()),
                (None, None) => Outcome::Interrupted(self.interruption.clone()),
                (None, Some(by)) => Outcome::Complete(by),
            },
            samples: &measured.samples,
            repeated: &measured.repeated,
            verified: measured.verified,
            reference: beside.reference,
            half: beside.half,
            others: beside.others,
            earlier_pps: self.header.earlier_pps(&planned.case),
            settles_after: self.settles_after,
            idle_powers: &self.idle_powers,
            meter: schedule.settings.meter.as_ref().map(Meter::to_string),
            until_pct: schedule.until.map(|until| until.half_width_pct),
        };
        Row::new(&input, &self.header.environment)
    }
}
