//! How much more the cases scatter from run to run than their rounds let expect.
//!
//! Between two runs of the same build more moves than between the rounds of one: where memory lies, what the
//! machine does meanwhile. The many cases of a comparison show by how much, as most of them did not change.

use std::collections::BTreeMap;

use statrs::statistics::{Data, OrderStatistics};

use super::difference::Difference;

/// Fewer cases do not tell.
const FEWEST: usize = 6;
/// Fewer cases of one engine do not tell about it.
const FEWEST_OF_ONE: usize = 8;
/// Labels with fewer cases have no middle of their own: theirs is that of all such labels together.
const FEWEST_FOR_A_MIDDLE: usize = 3;
/// The part of a normal distribution that is within its standard deviation. More of the values count than with a
/// median, half of which tell too little where there are a dozen.
const WITHIN: f64 = 0.6827;

/// By what the standard errors are to be multiplied.
#[derive(Debug, Default)]
pub(super) struct Scales<'a> {
    common: Option<f64>,
    of_one: BTreeMap<&'a str, f64>,
}

impl<'a> Scales<'a> {
    /// From the cases, each with its label.
    pub(super) fn of(cases: &[(&'a str, Difference)]) -> Self {
        let mut by_label: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for (label, case) in cases {
            let cases = by_label.entry(label).or_default();
            cases.push((case.log, case.error));
        }
        let mut small = Vec::new();
        let mut residuals = BTreeMap::new();
        for (label, cases) in by_label {
            if cases.len() < FEWEST_FOR_A_MIDDLE {
                small.extend(cases);
            } else {
                residuals.insert(label, self::residuals(&cases));
            }
        }
        let of_small = self::residuals(&small);
        let all: Vec<f64> = residuals
            .values()
            .flatten()
            .chain(&of_small)
            .copied()
            .collect();
        let enough = |found: &&Vec<f64>| found.len() >= FEWEST_OF_ONE;
        let of_one = residuals.iter().filter(|(_, found)| enough(found));
        Self {
            common: (all.len() >= FEWEST).then(|| deviation(&all)),
            of_one: of_one
                .map(|(label, found)| (*label, deviation(found)))
                .collect(),
        }
    }

    /// For a case of this label: never below 1, as chance may make the cases agree too well.
    pub(super) fn for_label(&self, label: &str) -> f64 {
        let own = self.of_one.get(label).copied().unwrap_or(1.0);
        self.common().max(own)
    }

    /// For all cases.
    pub(super) fn common(&self) -> f64 {
        self.common.unwrap_or(1.0).max(1.0)
    }
}

/// What is left of each logarithm when the common one is taken away, in its own standard errors. Taking it away
/// leaves a little less, which is made good. Where the median is one of the values, nothing is left of that one,
/// which says nothing.
pub(super) fn residuals(values: &[(f64, f64)]) -> Vec<f64> {
    if values.len() < 2 {
        return Vec::new();
    }
    let logs: Vec<f64> = values.iter().map(|(log, _)| *log).collect();
    let middle = Data::new(logs).median();
    let count = values.len() as f64;
    let correction = (count / (count - 1.0)).sqrt();
    let residual = |(log, error): &(f64, f64)| (log - middle) / error * correction;
    let mut residuals: Vec<f64> = values.iter().map(residual).collect();
    if values.len() % 2 == 1 {
        residuals.sort_unstable_by(|one, other| one.abs().total_cmp(&other.abs()));
        residuals.remove(0);
    }
    residuals
}

/// Their standard deviation around 0, which a few that really changed do not move.
pub(super) fn deviation(residuals: &[f64]) -> f64 {
    let absolute: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    Data::new(absolute).quantile(WITHIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::compare::Measure;

    fn cases<'a>(label: &'a str, logs: &[f64]) -> Vec<(&'a str, Difference)> {
        let difference = |&log| Difference {
            measure: Measure::Ratio,
            base: 1.0,
            new: 1.0,
            log,
            error: 0.01,
            freedom: 10.0,
        };
        logs.iter().map(|log| (label, difference(log))).collect()
    }

    fn spread(by: f64) -> [f64; 9] {
        [-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0].map(|step| by * step)
    }

    #[test]
    fn cases_that_scatter_more_than_their_rounds_say_so() {
        let found = cases("std", &spread(0.01));
        // Of the eight absolute deviations, without that of the middle, five and a half are within 3 standard errors.
        let expected = 3.0 * (9.0_f64 / 8.0).sqrt();
        let common = Scales::of(&found).common();
        assert!((common - expected).abs() < 0.1, "{common}");
    }

    #[test]
    fn what_all_cases_of_an_engine_share_is_no_scatter() {
        let shifted: Vec<f64> = spread(0.002).iter().map(|log| log - 0.3).collect();
        let mut found = cases("std", &spread(0.002));
        found.extend(cases("nix", &shifted));
        assert!((Scales::of(&found).common() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_noisy_engine_among_quiet_ones_has_a_scale_of_its_own() {
        let mut found = cases("noisy", &spread(0.05));
        for quiet in ["a", "b", "c"] {
            found.extend(cases(quiet, &spread(0.002)));
        }
        let scales = Scales::of(&found);
        assert!(scales.for_label("noisy") > 5.0 * scales.for_label("a"));
        assert!(scales.for_label("a") >= 1.0);
    }

    #[test]
    fn few_cases_tell_nothing() {
        let found = cases("std", &[-0.5, 0.0, 0.5, 0.1, 0.2]);
        assert!((Scales::of(&found).for_label("std") - 1.0).abs() < 1e-9);
        assert!((Scales::of(&[]).common() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn engines_of_one_case_each_are_taken_together() {
        let logs = spread(0.05);
        let labels = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let found: Vec<_> = labels
            .iter()
            .zip(&logs)
            .flat_map(|(label, log)| cases(label, &[*log]))
            .collect();
        assert!(Scales::of(&found).common() > 5.0);
    }
}
