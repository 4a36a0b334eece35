//! Marks windows in which something unrelated to the case affected the result. Marked windows are counted and kept.
//!
//! A window is *disturbed* if a bench thread was preempted for long. It is *contaminated* if it is disturbed, or if a
//! CPU was throttled or slower than usual.
//!
//! Estimates tolerate some disturbed windows, and leaving out marked windows has improved no result. If the other
//! windows alone would give another result, the row has a warning.

use super::derived::{self, Speeds};
use super::{CaseWarning, Environment, preempted, sensor_readings};
use crate::data::Sample;
use crate::stats::Estimate;

/// Windows of a case, and their pairs with windows of the reference.
pub(super) struct Windows<'a> {
    /// Windows, each with whether it is disturbed.
    all: Vec<(&'a Sample, bool)>,
    /// Windows with that of the reference in the same round, and whether one of the two is disturbed.
    pairs: Vec<((&'a Sample, &'a Sample), bool)>,
    /// Number of contaminated windows.
    pub(super) contaminated: usize,
    /// Preempted time, in percent of the windows.
    pub(super) preempted_pct: Option<f64>,
}

impl<'a> Windows<'a> {
    pub(super) fn new(
        samples: &'a [Sample],
        reference: &'a [Sample],
        environment: &Environment,
    ) -> Self {
        let preempted_shares = preempted::shares(samples);
        let all = mark_disturbed(samples, &preempted_shares);
        let references = mark_disturbed(reference, &preempted::shares(reference));
        let pair = |&(sample, is_disturbed): &(&'a Sample, bool)| {
            let mut references = references.iter();
            let (other, is_other) = references.find(|(other, _)| other.round == sample.round)?;
            Some(((sample, *other), is_disturbed || *is_other))
        };
        let is_contaminated = |(sample, is_disturbed): &&(&Sample, bool)| {
            *is_disturbed
                || sensor_readings::is_throttled(sample)
                || sensor_readings::is_slow(sample, &environment.cpu_speeds)
        };
        Self {
            pairs: all.iter().filter_map(pair).collect(),
            contaminated: all.iter().filter(is_contaminated).count(),
            preempted_pct: preempted::pct(samples, &preempted_shares),
            all,
        }
    }

    /// Returns the number of disturbed windows.
    pub(super) fn disturbed(&self) -> usize {
        self.all
            .iter()
            .filter(|(_, is_disturbed)| *is_disturbed)
            .count()
    }

    /// Returns the estimates from the windows and pairs that `counts` accepts. Its argument is whether a window or a
    /// pair is disturbed.
    pub(super) fn speeds_if(&self, counts: impl Fn(bool) -> bool) -> Speeds {
        Speeds::of(&counted(&self.all, &counts), &counted(&self.pairs, &counts))
    }

    /// Returns the warnings about disturbed windows. `speeds`: the estimates from all windows.
    pub(super) fn warnings(&self, speeds: &Speeds) -> Vec<CaseWarning> {
        let mut warnings = Vec::new();
        if derived::move_estimates(self.disturbed(), self.all.len()) {
            warnings.push(CaseWarning::LostCpuTime);
        }
        if self.disturbed() == 0 && !self.pairs.iter().any(|(_, is_disturbed)| *is_disturbed) {
            return warnings;
        }
        let without = self.speeds_if(|is_disturbed| !is_disturbed);
        let estimates = [
            (speeds.received_pps, without.received_pps),
            (speeds.cpu_ns_per_packet, without.cpu_ns_per_packet),
            (speeds.ratio, without.ratio),
            (speeds.cpu_ratio, without.cpu_ratio),
        ];
        if estimates.into_iter().any(|(all, rest)| differ(all, rest)) {
            warnings.push(CaseWarning::DisturbedWindowsDiffer);
        }
        warnings
    }
}

/// Marks the disturbed windows. `preempted_shares`: the preempted time of each window's most preempted thread, as a
/// fraction of the window.
fn mark_disturbed<'a>(
    samples: &'a [Sample],
    preempted_shares: &[Option<f64>],
) -> Vec<(&'a Sample, bool)> {
    let windows = samples.iter().zip(preempted_shares);
    let marked = windows.map(|(sample, share)| (sample, preempted::disturbs(*share, sample)));
    marked.collect()
}

/// Returns those whose mark is accepted.
fn counted<T: Copy>(marked: &[(T, bool)], counts: &impl Fn(bool) -> bool) -> Vec<T> {
    let counted = marked
        .iter()
        .filter(|(_, is_disturbed)| counts(*is_disturbed));
    counted.map(|(one, _)| *one).collect()
}

/// Returns whether two estimates differ by more than half of the interval of the first.
fn differ(all: Option<Estimate>, rest: Option<Estimate>) -> bool {
    let Some((all, rest)) = all.zip(rest) else {
        return false;
    };
    let half = all.low.zip(all.high).map(|(low, high)| (high - low) / 2.0);
    half.is_some_and(|half| (all.middle - rest.middle).abs() > half)
}
