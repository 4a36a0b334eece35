//! Scatter of the cases from run to run, relative to the scatter that their rounds predict.
//!
//! Two runs of the same build differ more than two rounds of one run: memory lies elsewhere, and the machine does
//! other work. The many cases of a comparison show the size of that, because most of them did not change.

use std::collections::BTreeMap;

use statrs::statistics::{Data, OrderStatistics};

use super::difference::Difference;

/// Smallest number of cases that shows the common scatter.
const FEWEST: usize = 6;
/// Smallest number of cases that shows the scatter of one engine.
const FEWEST_OF_ONE: usize = 8;
/// Smallest number of cases for a label to have its own middle. Labels with fewer cases share one middle.
const FEWEST_FOR_A_MIDDLE: usize = 3;
/// Share of a normal distribution within its standard deviation. This quantile uses more of the values than a median,
/// which tells too little with a dozen values.
const WITHIN: f64 = 0.6827;

/// Factors for the standard errors.
#[derive(Debug, Default)]
pub(super) struct Scales<'a> {
    common: Option<f64>,
    of_one: BTreeMap<&'a str, f64>,
}

impl<'a> Scales<'a> {
    /// Estimates the factors from the cases, each with its label.
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

    /// Returns the factor for a case of a label. It is at least 1, because cases may agree too well by chance.
    pub(super) fn for_label(&self, label: &str) -> f64 {
        let own = self.of_one.get(label).copied().unwrap_or(1.0);
        self.common().max(own)
    }

    /// Returns the factor for all cases. It is at least 1.
    pub(super) fn common(&self) -> f64 {
        self.common.unwrap_or(1.0).max(1.0)
    }
}

/// Returns the distance of each logarithm from their median, in its own standard errors. A correction makes up for
/// the scatter that subtracting the median removes. If the median is one of the values, that value is left out: its
/// distance of 0 tells nothing.
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

/// Returns the standard deviation around 0. A few real changes do not move it.
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
        // Without the middle there are eight absolute deviations; five and a half are within 3 standard errors.
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
