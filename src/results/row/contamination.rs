//! Disturbed windows: windows in which something unrelated to the case affected the result. They are marked,
//! counted, and kept.
//!
//! Estimates tolerate some disturbed windows, and leaving out marked windows has improved no result. If the other
//! windows alone would give another result, the row has a warning.

use super::derived::{self, Speeds};
use super::{Environment, lost, sensor_readings};
use crate::data::Sample;
use crate::stats::Estimate;

/// Fraction of a window above which the preempted time of a thread disturbs it. Windows differ by about this much
/// without disturbance (`cv_pct` of 1 to 7 on an x86-64 virtual machine). Smaller losses are invisible in the rate
/// of the window.
const LOST: f64 = 0.05;
/// Fraction of its CPU below which a sender that never slept was disturbed. Used if the kernel does not count
/// preempted time.
const USED: f64 = 0.97;

/// Windows of a case, their pairs with windows of the reference, and marks for the disturbed ones.
pub(super) struct Windows<'a> {
    samples: &'a [Sample],
    /// Mark for each window: true if it is disturbed.
    disturbed: Vec<bool>,
    /// Window of the case, window of the reference in the same round, and whether both are undisturbed.
    pairs: Vec<(&'a Sample, &'a Sample, bool)>,
    /// Number of windows with any mark.
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
        let shares = lost::shares(samples);
        let disturbed = disturbed(samples, &shares);
        let of_reference = self::disturbed(reference, &lost::shares(reference));
        let reference: Vec<(&Sample, bool)> = reference.iter().zip(of_reference).collect();
        let pair = |(sample, disturbed): (&'a Sample, &bool)| {
            let mut partners = reference.iter();
            let (partner, is_disturbed) = partners.find(|(it, _)| it.round == sample.round)?;
            Some((sample, *partner, !disturbed && !is_disturbed))
        };
        let is_marked = |(sample, disturbed): &(&Sample, &bool)| {
            **disturbed
                || sensor_readings::is_throttled(sample)
                || sensor_readings::is_slow(sample, &environment.paces)
        };
        Self {
            pairs: samples.iter().zip(&disturbed).filter_map(pair).collect(),
            contaminated: samples.iter().zip(&disturbed).filter(is_marked).count(),
            preempted_pct: lost::pct(samples, &shares),
            samples,
            disturbed,
        }
    }

    /// Returns the number of disturbed windows.
    pub(super) fn disturbed(&self) -> usize {
        self.disturbed
            .iter()
            .filter(|&&disturbed| disturbed)
            .count()
    }

    /// Returns the estimates from all windows.
    pub(super) fn speeds(&self) -> Speeds {
        let samples: Vec<&Sample> = self.samples.iter().collect();
        let pairs = self
            .pairs
            .iter()
            .map(|(sample, partner, _)| (*sample, *partner));
        Speeds::of(&samples, &pairs.collect::<Vec<_>>())
    }

    /// Returns the estimates from the undisturbed windows.
    fn undisturbed_speeds(&self) -> Speeds {
        let samples = self.samples.iter().zip(&self.disturbed);
        let samples = samples.filter_map(|(sample, disturbed)| (!disturbed).then_some(sample));
        let pairs = self
            .pairs
            .iter()
            .filter(|(_, _, are_undisturbed)| *are_undisturbed);
        let pairs = pairs.map(|(sample, partner, _)| (*sample, *partner));
        Speeds::of(&samples.collect::<Vec<_>>(), &pairs.collect::<Vec<_>>())
    }

    /// Returns the warnings about disturbed windows. `speeds`: the estimates from all windows.
    pub(super) fn warnings(&self, speeds: &Speeds) -> Vec<String> {
        let mut warnings = Vec::new();
        if derived::move_estimates(self.disturbed(), self.samples.len()) {
            warnings.push(
                "benchmark threads lost CPU time in 3 of 10 windows or more (preempted_pct)"
                    .to_owned(),
            );
        }
        let mut pairs = self.pairs.iter();
        if self.disturbed() == 0 && pairs.all(|(_, _, are_undisturbed)| *are_undisturbed) {
            return warnings;
        }
        let without = self.undisturbed_speeds();
        let estimates = [
            (speeds.received_pps, without.received_pps),
            (speeds.cpu_ns_per_packet, without.cpu_ns_per_packet),
            (speeds.ratio, without.ratio),
            (speeds.cpu_ratio, without.cpu_ratio),
        ];
        if estimates.into_iter().any(|(all, rest)| differ(all, rest)) {
            warnings.push(
                "without disturbed windows, results would differ by more than half of their interval \
                 (disturbed_windows)"
                    .to_owned(),
            );
        }
        warnings
    }
}

/// Returns whether each window is disturbed. `shares`: its preempted time as a fraction.
fn disturbed(samples: &[Sample], shares: &[Option<f64>]) -> Vec<bool> {
    let is_disturbed = |(sample, share): (&Sample, &Option<f64>)| match share {
        Some(share) => *share > LOST,
        None => lost::used(sample).is_some_and(|share| share < USED),
    };
    samples.iter().zip(shares).map(is_disturbed).collect()
}

/// Returns whether two estimates differ by more than half of the interval of the first. The table shows that
/// precision.
fn differ(all: Option<Estimate>, rest: Option<Estimate>) -> bool {
    let Some((all, rest)) = all.zip(rest) else {
        return false;
    };
    let half = all.low.zip(all.high).map(|(low, high)| (high - low) / 2.0);
    half.is_some_and(|half| (all.middle - rest.middle).abs() > half)
}
