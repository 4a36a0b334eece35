//! Statistics of a handful of windows. Pure.

pub mod false_discovery;
pub mod signed_rank;

use std::f64::consts::FRAC_PI_2;

use statrs::distribution::{Binomial, DiscreteCDF};
use statrs::statistics::{Data, Distribution, OrderStatistics};

/// A median and how far it can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// Lower bound of its interval. `None`: one value has no interval.
    pub low: Option<f64>,
    /// Upper bound of its interval.
    pub high: Option<f64>,
}

/// The confidence that intervals aim for.
pub const CONFIDENCE: f64 = 0.95;

/// The median of `values` and its confidence interval by order statistics, which holds for any
/// distribution: of n sorted values, the k-th lowest and the k-th highest enclose the median unless
/// fewer than k values lie on one side of it (Hogg, Tanis & Zimmerman, *Probability and Statistical
/// Inference*, section 7.5). `None`: no values.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }
    let median = Data::new(values.to_vec()).median();
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (rank, _) = interval_rank(values.len());
    let interval = (values.len() > 1).then(|| (sorted[rank - 1], sorted[values.len() - rank]));
    Some(Estimate {
        median,
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
    })
}

/// How surely the intervals of `n` values hold the median, as a fraction: at least [`CONFIDENCE`] from
/// six values on. Below that even the whole range of the values holds it less surely.
pub fn coverage(n: usize) -> f64 {
    interval_rank(n).1
}

/// The largest rank k whose interval is sure enough (or 1, where none is), and how sure it is.
fn interval_rank(n: usize) -> (usize, f64) {
    let coverage = |rank: usize| {
        let below = Binomial::new(0.5, n as u64).map_or(0.5, |sides| sides.cdf(rank as u64 - 1));
        1.0 - 2.0 * below
    };
    let sure = (1..=n.div_ceil(2))
        .rev()
        .find(|&rank| coverage(rank) >= CONFIDENCE);
    let rank = sure.unwrap_or(1);
    (rank, coverage(rank).max(0.0))
}

/// Coefficient of variation: the standard deviation (n - 1) as a fraction of the mean. `None` for fewer
/// than two values, or a mean of 0.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let data = Data::new(values.to_vec());
    let (mean, deviation) = (data.mean()?, data.std_dev()?);
    (values.len() > 1 && mean != 0.0).then(|| deviation / mean)
}

/// The standard deviation (n - 1) of the natural logarithms: for small values, that of the values as a
/// fraction of their middle. `None` for fewer than two values, or one that is not positive.
pub fn log_deviation(values: &[f64]) -> Option<f64> {
    let are_positive = values.iter().all(|&value| value > 0.0);
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    (values.len() > 1 && are_positive).then(|| Data::new(logarithms).std_dev())?
}

/// The standard error of the median of `n` values whose standard deviation is `deviation`: sqrt(pi / 2) times
/// that of their mean (Kendall & Stuart, *The Advanced Theory of Statistics*, volume 1, section 10.10). That is
/// of many normally scattered values; of a handful it is less, so this errs on the wide side.
pub fn error_of_median(deviation: f64, n: f64) -> f64 {
    FRAC_PI_2.sqrt() * deviation / n.sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hogg, Tanis & Zimmerman, table 7.5-1: n, ranks of the interval, confidence.
    #[test]
    fn the_intervals_are_those_of_the_textbook() {
        let published = [
            (5, 1, 0.9376),
            (6, 1, 0.9688),
            (7, 1, 0.9844),
            (9, 2, 0.9610),
            (10, 2, 0.9786),
            (12, 3, 0.9614),
            (13, 3, 0.9776),
            (15, 4, 0.9648),
            (17, 5, 0.9510),
            (18, 5, 0.9692),
            (20, 6, 0.9586),
        ];
        for (n, rank, confidence) in published {
            let (our_rank, our_confidence) = interval_rank(n);
            assert_eq!(our_rank, rank, "n = {n}");
            assert!(
                (our_confidence - confidence).abs() < 2e-4,
                "n = {n}: {our_confidence}"
            );
        }
    }

    /// NIST StRD, univariate summary statistics, NumAcc1: mean 10000002, standard deviation 1.
    #[test]
    fn the_coefficient_of_variation_is_that_of_nist_numacc1() {
        let cv = coefficient_of_variation(&[10_000_001.0, 10_000_003.0, 10_000_002.0]);
        assert_eq!(cv, Some(1.0 / 10_000_002.0));
    }

    /// NIST StRD, NumAcc2: 1.2, then 1.1 and 1.3 five hundred times each: mean 1.2, deviation 0.1.
    #[test]
    fn the_coefficient_of_variation_is_that_of_nist_numacc2() {
        let mut values = vec![1.2];
        values.extend([1.1, 1.3].repeat(500));
        let cv = coefficient_of_variation(&values).expect("many values");
        assert!((cv - 0.1 / 1.2).abs() < 1e-13, "{cv}");
    }

    #[test]
    fn few_values_give_what_they_can() {
        assert_eq!(estimate(&[]), None);
        let one = estimate(&[7.0]).expect("one value");
        assert_eq!((one.median, one.low, one.high), (7.0, None, None));
        assert_eq!(coefficient_of_variation(&[7.0]), None);
        assert_eq!(coefficient_of_variation(&[0.0, 0.0]), None);
        assert!(coverage(5) < CONFIDENCE && coverage(6) >= CONFIDENCE);
        assert!(coverage(1).abs() < 1e-12);
    }

    #[test]
    fn an_even_number_of_values_has_its_median_between_the_middle_two() {
        let four = estimate(&[4.0, 1.0, 3.0, 2.0]).expect("four values");
        assert_eq!(
            (four.median, four.low, four.high),
            (2.5, Some(1.0), Some(4.0))
        );
    }

    proptest! {
        #[test]
        fn the_median_lies_within_its_interval_and_ignores_the_order(
            mut values in proptest::collection::vec(-1e12_f64..1e12, 2..60)
        ) {
            let before = estimate(&values).expect("values");
            let (low, high) = (before.low.expect("two values"), before.high.expect("two values"));
            prop_assert!(low <= before.median && before.median <= high);
            prop_assert!(values.contains(&low) && values.contains(&high));
            values.reverse();
            prop_assert_eq!(estimate(&values), Some(before));
        }
    }
}
