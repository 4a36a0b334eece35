//! Windows in which something happened that says nothing of the case: they are marked, counted, and kept.
//!
//! Estimates bear some disturbed windows, and to leave marked ones out has improved no result. Where the rest would
//! say something else, the row says so.

use super::numbers::{self, Speeds};
use super::{Environment, climate, lost};
use crate::data::Sample;
use crate::stats::Estimate;

/// A window is disturbed if a thread lost more than this part of it: about as much as windows differ by where
/// nothing disturbs them (`cv_pct` of 1 to 7 on an x86-64 virtual machine). Less cannot be seen in its rate.
const LOST: f64 = 0.05;
/// Or, where the kernel does not say what was lost, if less than this was used of the CPU of a sender that never
/// slept.
const USED: f64 = 0.97;

/// The windows of a case, the pairs that they make with those of the reference, and which of them are disturbed.
pub(super) struct Windows<'a> {
    samples: &'a [Sample],
    /// Whether each is disturbed.
    disturbed: Vec<bool>,
    /// A window of the case, one of the reference of the same round, and whether neither is disturbed.
    pairs: Vec<(&'a Sample, &'a Sample, bool)>,
    /// How many have some mark.
    pub(super) contaminated: usize,
    /// Time lost, in percent.
    pub(super) lost_cpu_pct: Option<f64>,
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
                || climate::is_throttled(sample)
                || climate::is_slow(sample, &environment.paces)
        };
        Self {
            pairs: samples.iter().zip(&disturbed).filter_map(pair).collect(),
            contaminated: samples.iter().zip(&disturbed).filter(is_marked).count(),
            lost_cpu_pct: lost::pct(samples, &shares),
            samples,
            disturbed,
        }
    }

    /// How many are disturbed.
    pub(super) fn disturbed(&self) -> usize {
        self.disturbed
            .iter()
            .filter(|&&disturbed| disturbed)
            .count()
    }

    /// What all of them say.
    pub(super) fn speeds(&self) -> Speeds {
        let samples: Vec<&Sample> = self.samples.iter().collect();
        let pairs = self
            .pairs
            .iter()
            .map(|(sample, partner, _)| (*sample, *partner));
        Speeds::of(&samples, &pairs.collect::<Vec<_>>())
    }

    /// What those say that are not disturbed.
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

    /// What a row says about it. `speeds`: what all windows say.
    pub(super) fn warnings(&self, speeds: &Speeds) -> Vec<String> {
        let mut warnings = Vec::new();
        if numbers::move_estimates(self.disturbed(), self.samples.len()) {
            warnings.push(
                "benchmark threads lost CPU time in 3 of 10 windows or more (lost_cpu_pct)"
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

/// Whether each window is disturbed, of which so much was lost.
fn disturbed(samples: &[Sample], shares: &[Option<f64>]) -> Vec<bool> {
    let is_disturbed = |(sample, share): (&Sample, &Option<f64>)| match share {
        Some(share) => *share > LOST,
        None => lost::used(sample).is_some_and(|share| share < USED),
    };
    samples.iter().zip(shares).map(is_disturbed).collect()
}

/// Whether two estimates differ by more than half of the first one's interval, which is what the table shows.
fn differ(all: Option<Estimate>, rest: Option<Estimate>) -> bool {
    let Some((all, rest)) = all.zip(rest) else {
        return false;
    };
    let half = all.low.zip(all.high).map(|(low, high)| (high - low) / 2.0);
    half.is_some_and(|half| (all.middle - rest.middle).abs() > half)
}
