//! Trials that were made again, and the doubt that they raise.

use std::collections::BTreeMap;

use super::load_search::Doubt;
use crate::text::digits::counted_with_verb;

/// One in this many trials that other programs disturbed is enough for a doubt.
const ONE_IN: u64 = 4;
/// Fewer of them say nothing.
const FEWEST: u64 = 3;

/// Trials that were made again, by reason.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    reasons: BTreeMap<String, u64>,
    /// Number of trials that lost while other programs took the CPUs of their threads.
    disturbed: u64,
}

impl Repeats {
    /// Adds a trial.
    pub(super) fn add(&mut self, reason: &str, is_disturbed: bool) {
        *self.reasons.entry(reason.to_owned()).or_default() += 1;
        self.disturbed += u64::from(is_disturbed);
    }

    /// Returns the number of trials that were made again.
    pub(super) fn count(&self) -> u64 {
        self.reasons.values().sum()
    }

    /// Returns a doubt if other programs spoiled a quarter of all trials or more. `kept`: number of trials that were
    /// not made again.
    pub(super) fn doubt(&self, kept: u64) -> Option<Doubt> {
        let (disturbed, all) = (self.disturbed, self.count() + kept);
        let is_often = disturbed >= FEWEST && ONE_IN * disturbed >= all;
        is_often.then_some(Doubt::Repeated { disturbed, all })
    }

    /// Returns a sentence with the most frequent reason. `None`: no trial was made again.
    pub(super) fn told<'r>(of_cases: impl Iterator<Item = &'r Self>) -> Option<String> {
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (reason, count) in of_cases.flat_map(|it| &it.reasons) {
            *reasons.entry(reason).or_default() += count;
        }
        let all: u64 = reasons.values().sum();
        let (reason, most) = reasons.into_iter().max_by_key(|(_, count)| *count)?;
        let again = counted_with_verb(all, "trial");
        Some(if most == all {
            format!("{again} made again: {reason}")
        } else {
            format!("{again} made again, {most} of them: {reason}; the log has all reasons")
        })
    }
}
