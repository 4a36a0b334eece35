//! Which case of A is held against which of B.

use super::log::Setup;
use crate::data::{Case, Pair as Engines};
use crate::host::placement::Placement;
use crate::plan::{Planned, Verdict};

/// A case of A, and what it is in B. Where both sides have the same options they are the same.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// In A.
    pub a: &'a Planned,
    /// In B.
    pub b: &'a Planned,
}

/// The n-th case of A belongs to the n-th of B: plans list their cases in the order of the options.
///
/// # Errors
/// When one has more cases than the other.
pub fn pairs<'a>(a: &'a Setup, b: &'a Setup) -> Result<Vec<Pair<'a>>, String> {
    let (of_a, of_b) = (a.plan.cases().count(), b.plan.cases().count());
    if of_a != of_b {
        return Err(format!(
            "A has {of_a} cases and B has {of_b}: give both as many values of each option"
        ));
    }
    let mut cases = a.plan.cases().chain(b.plan.cases());
    if let Some(rate) = cases.find_map(|planned| planned.case.rate) {
        return Err(format!(
            "--rate {rate}: at a rate the speed is what was asked for, and so the same on both sides: leave out --rate, \
             or compare round trips of two runs"
        ));
    }
    let pairs = a.plan.cases().zip(b.plan.cases());
    Ok(pairs.map(|(a, b)| Pair { a, b }).collect())
}

impl Pair<'_> {
    /// Why it does not run, if it does not.
    pub fn refusal(&self) -> Option<&str> {
        [self.a, self.b]
            .into_iter()
            .find_map(|planned| match &planned.verdict {
                Verdict::Run(..) => None,
                Verdict::Skip(reason) => Some(reason.as_str()),
            })
    }

    /// What tables call its engines.
    pub fn label(&self) -> String {
        both(self.a.case.label(), &self.b.case.label())
    }

    /// Its key, or both.
    pub fn key(&self) -> String {
        both(self.a.case.key(), &self.b.case.key())
    }
}

/// One text where they are the same.
fn both(a: String, b: &str) -> String {
    if a == b { a } else { format!("{a} | {b}") }
}

/// The case of a side, where it runs.
pub(super) fn runnable<'a>(
    setup: &'a Setup,
    planned: &'a Planned,
) -> Option<(&'a Case, Engines<'a>, &'a Placement)> {
    match &planned.verdict {
        Verdict::Run(placement, _) => {
            Some((&planned.case, setup.plan.pair(&planned.case), placement))
        }
        Verdict::Skip(_) => None,
    }
}
