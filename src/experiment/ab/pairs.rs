//! Matches each case of A with a case of B, for each setting that is tried.

use super::Side;
use super::header::Header;
use crate::host::tuning::Tuning;
use crate::plan::Planned;

/// A case of A and its counterpart in B. The two are equal if both sides have the same options.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Case of A.
    pub a: &'a Planned,
    /// Case of B.
    pub b: &'a Planned,
    /// Setting of the machine that B changes.
    pub tuning: Option<&'a Tuning>,
}

/// Matches the n-th case of A with the n-th case of B: plans list cases in the order of the options. If settings are
/// tried, all cases come once for each setting.
///
/// # Errors
/// Returns an error if the sides have different numbers of cases, or if a case has a rate.
pub fn pairs(header: &Header) -> Result<Vec<Pair<'_>>, String> {
    let Header { a, b, .. } = header;
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
    let with = |tuning| {
        let pairs = a.plan.cases().zip(b.plan.cases());
        pairs.map(move |(a, b)| Pair { a, b, tuning })
    };
    Ok(match &header.tunings {
        None => with(None).collect(),
        Some(tunings) => tunings.tried.iter().map(Some).flat_map(with).collect(),
    })
}

impl<'a> Pair<'a> {
    /// Returns the case of a side.
    pub(super) fn side(&self, side: Side) -> &'a Planned {
        match side {
            Side::A => self.a,
            Side::B => self.b,
        }
    }

    /// Returns the reason why the pair does not run, or `None`.
    pub fn refusal(&self) -> Option<&str> {
        self.a.refusal().or_else(|| self.b.refusal())
    }

    /// Returns the name of what is judged as one in tables: the engines, or a setting and the workload that it is to help.
    pub fn label(&self) -> String {
        match self.tuning {
            Some(tuning) => {
                let workload = if self.a.case.is_rr() { "rr" } else { "flood" };
                format!("{}, {workload}", tuning.name.text())
            }
            None => both(self.a.case.label(), &self.b.case.label()),
        }
    }

    /// Returns the key of its case, or both keys if they differ. A setting that is tried follows it.
    pub fn key(&self) -> String {
        let key = both(self.a.case.key(), &self.b.case.key());
        match self.tuning {
            Some(tuning) => format!("{key} with {}", tuning.name.text()),
            None => key,
        }
    }
}

/// Returns one text if both are equal, else both.
fn both(a: String, b: &str) -> String {
    if a == b { a } else { format!("{a} | {b}") }
}
