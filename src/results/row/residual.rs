//! Residual scatter of a case: the variation between its rounds, less the variation that the other engines of its
//! block have in common in the same rounds. It decides whether two cases of a block differ, without the changes of
//! the machine that affect all of them.

use std::collections::BTreeMap;

use crate::data::Sample;
use crate::stats;

/// Returns the standard deviation of the logarithms of `value` over the rounds, in percent. `others`: the windows of
/// each case of the block with another engine. `None`: fewer than two rounds, or a value that is not positive.
pub(super) fn sd_pct(
    samples: &[Sample],
    others: &[&[Sample]],
    value: fn(&Sample) -> Option<f64>,
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
fn logarithms(samples: &[Sample], value: fn(&Sample) -> Option<f64>) -> Option<BTreeMap<u32, f64>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::derived::received_pps;
    use crate::results::row::tests::window;

    /// Returns one window per round, with the received datagrams changed by these percentages.
    fn case(by_round: &[i64]) -> Vec<Sample> {
        let windows = (1..).zip(by_round);
        let windows = windows.map(|(round, pct)| {
            let mut sample = window(round);
            for thread in &mut sample.threads {
                thread.received_packets =
                    thread.received_packets * (100 + pct).unsigned_abs() / 100;
            }
            sample
        });
        windows.collect()
    }

    fn sd(own: &[i64], others: &[&[i64]]) -> f64 {
        let others: Vec<Vec<Sample>> = others.iter().map(|other| case(other)).collect();
        let others: Vec<&[Sample]> = others.iter().map(Vec::as_slice).collect();
        sd_pct(&case(own), &others, received_pps).expect("two rounds")
    }

    #[test]
    fn what_rounds_have_in_common_is_no_cases_own() {
        let drift = [0, 10, -10, 5, -5, 0];
        assert!(sd(&drift, &[]) > 6.0);
        assert!(sd(&drift, &[&drift, &drift]) < 0.01);
        let own = [1, 10, -11, 6, -6, 0];
        assert!((0.5..1.5).contains(&sd(&own, &[&drift, &drift])));
    }

    #[test]
    fn the_noise_of_others_adds_nothing() {
        let own = [1, -1, 1, -1, 1, -1];
        let alone = sd(&own, &[]);
        assert!((sd(&own, &[&[0, 9, -9, 9, -9, 0]]) - alone).abs() < 1e-9);
    }

    #[test]
    fn too_few_rounds_and_nothing_received_have_no_scatter() {
        assert_eq!(sd_pct(&case(&[1]), &[], received_pps), None);
        assert_eq!(sd_pct(&case(&[1, -100, 0]), &[], received_pps), None);
    }
}
