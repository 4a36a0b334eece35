//! What is known of the blocks and their cases so far.

use crate::sample::Sample;
use crate::verify::Verified;

pub(super) const IN_TWO_PARTS: &str = "the sweep was interrupted and resumed within this block: one round may have its windows far apart";

/// What is known of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) stage: Stage,
    /// What all its rows should say.
    pub(super) warnings: Vec<String>,
    /// Of those that run, in the order of the plan.
    pub(super) cases: Vec<Measured>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Waiting,
    Begun,
    Ended,
}

/// What is known of a case.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    pub(super) samples: Vec<Sample>,
    /// Rounds whose window was measured a second time.
    pub(super) repeated: Vec<u32>,
    /// What all their counters come to.
    counted: u64,
    pub(super) verified: Option<Verified>,
    pub(super) failure: Option<String>,
}

impl Measured {
    pub(super) fn repeat(&mut self, case: &str, round: u32) -> Result<(), String> {
        let is_over = self.samples.iter().any(|other| other.round == round);
        if round == 0 || is_over || self.repeated.contains(&round) {
            return Err(format!(
                "round {round} of {case} is repeated twice, after it was over, or is round 0"
            ));
        }
        self.repeated.push(round);
        Ok(())
    }

    pub(super) fn add(&mut self, sample: &Sample) -> Result<(), String> {
        let (case, round) = (&sample.case, sample.round);
        if round == 0 || self.samples.iter().any(|other| other.round == round) {
            return Err(format!("round {round} of {case} twice, or round 0"));
        }
        let counted = sample.added_to(self.counted);
        self.counted = counted.ok_or_else(|| {
            format!("the windows of {case} counted more than can be: 2^60 or more in all")
        })?;
        self.samples.push(sample.clone());
        Ok(())
    }
}

impl Progress {
    pub(super) fn warn(&mut self, warning: Option<String>) {
        // Several interruptions say nothing more than one.
        let new = warning.filter(|warning| !self.warnings.contains(warning));
        self.warnings.extend(new);
    }
}
