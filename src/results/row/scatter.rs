//! Scatter of a case: from round to round, and from run to run, which the intervals of a single run do not have.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::derived::Value;
use crate::data::Sample;
use crate::stats;

/// Returns the residual scatter of a case: the standard deviation of the logarithms of `value` over the rounds, less
/// what the other engines of its block have in common in the same rounds, in percent. It decides whether two cases of a
/// block differ, without the changes of the machine that affect all of them.
///
/// `others`: the windows of
/// each case of the block with another engine. `None`: fewer than two rounds, or a value that is not positive.
pub(super) fn residual_sd_pct(
    samples: &[Sample],
    others: &[&[Sample]],
    value: Value,
) -> Option<f64> {
    let own = logarithms(samples, value)?;
    let others: Vec<BTreeMap<u32, f64>> = others
        .iter()
        .filter_map(|other| Some(about_their_mean(&logarithms(other, value)?)))
        .collect();
    let less_common = |(round, ln): (&u32, &f64)| {
        let theirs = others.iter().filter_map(|other| other.get(round));
        let theirs: Vec<f64> = theirs.copied().collect();
        ln - stats::estimate(&theirs).map_or(0.0, |common| common.middle)
    };
    let all: Vec<f64> = own.values().copied().collect();
    let rest: Vec<f64> = own.iter().map(less_common).collect();
    // If the rounds have no common variation, subtracting the other engines would only add their noise.
    let deviation = stats::deviation(&all)?.min(stats::deviation(&rest)?);
    Some(100.0 * deviation)
}

/// Returns the logarithm of `value` in each round.
fn logarithms(samples: &[Sample], value: Value) -> Option<BTreeMap<u32, f64>> {
    let ln = |sample: &Sample| {
        let value = value(sample).filter(|value| *value > 0.0)?;
        Some((sample.round, value.ln()))
    };
    samples.iter().map(ln).collect()
}

fn about_their_mean(logarithms: &BTreeMap<u32, f64>) -> BTreeMap<u32, f64> {
    let mean = logarithms.values().sum::<f64>() / logarithms.len().max(1) as f64;
    let about = logarithms.iter().map(|(round, ln)| (*round, ln - mean));
    about.collect()
}

/// Returns half of the 95 % prediction interval for the rate of the next run, in percent: Student's t times s times
/// sqrt(1 + 1/n), where s is the standard deviation of the logarithms of the `n` rates (Whitmore, Am. Stat. 40 (1986)
/// 141-143). `None`: fewer than two rates, or one that is not positive.
pub(super) fn next_run_pct(rates: &[f64]) -> Option<f64> {
    let n = rates.len() as f64;
    let deviation = stats::log_deviation(rates)?;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let quantile = t.inverse_cdf(f64::midpoint(1.0, stats::CONFIDENCE));
    Some(100.0 * quantile * deviation * (1.0 + 1.0 / n).sqrt())
}

#[cfg(test)]
mod tests;
