//! The rows that follow from what is known.

use super::progress::{Measured, Stage};
use super::{Replay, runnable};
use crate::data::{self, Sample};
use crate::plan::{Planned, Verdict};
use crate::row::{EndedBy, Outcome, Row, RowInput};

impl Replay {
    /// The rows of what does not run: they are final from the beginning.
    pub fn skipped(&self) -> Vec<Row> {
        let row = |(case, reason): (&_, &str)| {
            let input = RowInput {
                case,
                engines: self.header.plan.pair(case),
                pin: String::new(),
                warnings: Vec::new(),
                outcome: Outcome::Skipped(reason.to_owned()),
                samples: &[],
                repeated: 0,
                verified: None,
                reference: &[],
                until_pct: None,
            };
            Row::new(&input, &self.header.environment)
        };
        self.header.plan.skipped().map(row).collect()
    }

    /// The rows of the blocks that were begun and have not ended: what an interruption leaves.
    pub fn unfinished(&self) -> Vec<Row> {
        let begun =
            (0..self.blocks.len()).filter(|&block| self.blocks[block].stage == Stage::Begun);
        begun.flat_map(|block| self.rows(block, None)).collect()
    }

    /// The rows of a block, as they are now: not yet final.
    pub fn preview(&self, block: usize) -> Vec<Row> {
        self.rows(block, Some(EndedBy::Rounds))
    }

    pub(super) fn rows(&self, block: usize, ended: Option<EndedBy>) -> Vec<Row> {
        let progress = &self.blocks[block];
        let planned = || runnable(&self.header.plan.blocks[block]).zip(&progress.cases);
        let reference = planned().find(|(planned, _)| planned.case.is_reference());
        // One that broke, starved, or whose books do not close is no measure for others.
        let is_sound = |measured: &Measured| {
            measured.failure.is_none() && measured.samples.iter().all(Sample::is_sound)
        };
        let reference = reference.filter(|(_, measured)| is_sound(measured));
        let reference = reference.map_or(&[][..], |(_, measured)| &measured.samples);
        let row = |(planned, measured): (&Planned, &Measured)| {
            self.row(planned, measured, &progress.warnings, reference, ended)
        };
        planned().map(row).collect()
    }

    fn row(
        &self,
        planned: &Planned,
        measured: &Measured,
        of_block: &[String],
        reference: &[Sample],
        ended: Option<EndedBy>,
    ) -> Row {
        let schedule = &self.header.schedule;
        let (pin, mut warnings) = match &planned.verdict {
            Verdict::Run(placement, warnings) => (placement.to_string(), warnings.clone()),
            Verdict::Skip(_) => (String::new(), Vec::new()),
        };
        warnings.extend_from_slice(of_block);
        #[cfg(feature = "calibration")]
        if schedule.settings.delay.is_some() {
            warnings.push("one engine was slowed down on purpose (--delay)".to_owned());
        }
        let engines = self.header.plan.pair(&planned.case);
        let unverified = data::refusal(planned.case.payload, engines.sender);
        let unverified = unverified.filter(|_| schedule.verify);
        warnings.extend(unverified.map(|reason| format!("not verified: {reason}")));
        let input = RowInput {
            case: &planned.case,
            engines,
            pin,
            warnings,
            outcome: match (&measured.failure, ended) {
                (Some(reason), _) => Outcome::Failed(reason.clone()),
                (None, None) => Outcome::Interrupted,
                (None, Some(by)) => Outcome::Complete(by),
            },
            samples: &measured.samples,
            repeated: measured.repeated.len(),
            verified: measured.verified,
            reference,
            until_pct: schedule.until.map(|until| until.half_width_pct),
        };
        Row::new(&input, &self.header.environment)
    }
}
