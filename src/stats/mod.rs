//! Statistics over windows: estimates with 95 % intervals, coverage, median, scatter; correction of tests for their
//! number. Pure functions.

pub mod signed_rank;

use std::f64::consts::FRAC_PI_3;

use statrs::statistics::{Data, Distribution};

use self::signed_rank::SignedRank;
pub use self::signed_rank::coverage;

/// An estimate of the middle of some values, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate itself.
    pub middle: f64,
    /// Lower bound of the interval. `None`: one value has no interval.
    pub low: Option<f64>,
    /// Upper bound of the interval. `None`: one value has no interval.
    pub high: Option<f64>,
}

/// Confidence of the intervals, as a fraction.
pub const CONFIDENCE: f64 = 0.95;

/// Estimates the middle of `values` by Hodges & Lehmann: the median of the means of all pairs. `None`: no values.
///
/// Like a median, the estimate hardly moves if a few values are far off. For normally distributed values it is almost
/// as precise as the mean. The interval is that of the signed-rank test; for too few values it is their whole range.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let test = SignedRank::of(values)?;
    let sure = Some(test.interval(CONFIDENCE)).filter(|(low, _)| low.is_finite());
    let interval = sure.or((values.len() > 1).then(|| test.range()));
    let (low, high) = interval.unzip();
    let middle = test.estimate();
    Some(Estimate { middle, low, high })
}

/// Returns the median: the middle value, or the mean of the two in the middle. `None`: there are no values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

/// Returns the coefficient of variation: the standard deviation (n - 1) as a fraction of the mean. `None` for fewer
/// than two values, or a mean of 0.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let data = Data::new(values.to_vec());
    let (mean, deviation) = (data.mean()?, data.std_dev()?);
    (values.len() > 1 && mean != 0.0).then(|| deviation / mean)
}

/// Returns the standard deviation (n - 1). `None` for fewer than two values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    (values.len() > 1).then(|| Data::new(values.to_vec()).std_dev())?
}

/// Returns the standard deviation (n - 1) of the natural logarithms. If it is small, it equals the standard deviation
/// of the values as a fraction of their middle. `None` for fewer than two values, or if one is not positive.
pub fn log_deviation(values: &[f64]) -> Option<f64> {
    let are_positive = values.iter().all(|&value| value > 0.0);
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    deviation(&logarithms).filter(|_| are_positive)
}

/// Returns the standard error of the Hodges-Lehmann estimate of `n` values whose standard deviation is `deviation`. It
/// is sqrt(pi / 3) times the standard error of the mean for normally distributed values, and less than that of the mean
/// if there are outliers (Hodges & Lehmann, Ann. Math. Stat. 34 (1963) 598-611).
pub fn error_of_estimate(deviation: f64, n: f64) -> f64 {
    FRAC_PI_3.sqrt() * deviation / n.sqrt()
}

/// Returns for each p-value whether it is significant, so that the probability of any false one is at most `rate`
/// (Holm, Scand. J. Stat. 6 (1979) 65-70).
pub fn significant(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&one, &other| p_values[one].total_cmp(&p_values[other]));
    let mut significant = vec![false; p_values.len()];
    for (rank, &place) in order.iter().enumerate() {
        if p_values[place] > rate / (p_values.len() - rank) as f64 {
            break;
        }
        significant[place] = true;
    }
    significant
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Exact upper tails of the signed-rank statistic (compare Hollander, Wolfe & Chicken, *Nonparametric Statistical
    /// Methods*, table A.4). n = 5: P(T+ >= 15) = 0.031; n = 6: P(T+ >= 21) = 0.016; n = 7: P(T+ >= 26) = 0.023; n =
    /// 10: P(T+ >= 47) = 0.024; n = 15: P(T+ >= 95) = 0.024.
    #[test]
    fn the_intervals_are_as_sure_as_the_textbook_says() {
        for (n, tail) in [(5, 0.031), (6, 0.016), (7, 0.023), (10, 0.024), (15, 0.024)] {
            let ours = (1.0 - coverage(n)) / 2.0;
            assert!((ours - tail).abs() < 1e-3, "n = {n}: {ours}");
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

    /// Returns a normally distributed random number (Box & Muller, Ann. Math. Stat. 29 (1958) 610-611).
    fn normal(dice: &mut fastrand::Rng) -> f64 {
        let radius = (-2.0 * (1.0 - dice.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * dice.f64()).cos()
    }

    /// Repeats the stopping rule of `--until`, from the default number of rounds on.
    #[test]
    fn stopping_at_a_narrow_interval_costs_little_coverage() {
        let mut dice = fastrand::Rng::with_seed(1);
        let mut holds = 0;
        for _ in 0..400 {
            let mut values: Vec<f64> = (0..15).map(|_| normal(&mut dice)).collect();
            let (low, high) = loop {
                let found = estimate(&values).expect("values");
                let (low, high) = found.low.zip(found.high).expect("many values");
                if high - low <= 0.8 {
                    break (low, high);
                }
                values.push(normal(&mut dice));
            };
            holds += i32::from(low <= 0.0 && 0.0 <= high);
        }
        // The 95 % interval of 380 in 400 is 92.6 to 96.8 %.
        assert!((370..=390).contains(&holds), "{holds} of 400");
    }

    #[test]
    fn few_values_give_what_they_can() {
        assert_eq!(estimate(&[]), None);
        let one = estimate(&[7.0]).expect("one value");
        assert_eq!((one.middle, one.low, one.high), (7.0, None, None));
        assert_eq!(coefficient_of_variation(&[7.0]), None);
        assert_eq!(coefficient_of_variation(&[0.0, 0.0]), None);
        assert!(coverage(5) < CONFIDENCE && coverage(6) >= CONFIDENCE);
        assert!(coverage(1).abs() < 1e-12);
    }

    #[test]
    fn four_values_have_their_middle_between_the_means_of_two() {
        let four = estimate(&[4.0, 1.0, 3.0, 2.0]).expect("four values");
        assert_eq!(
            (four.middle, four.low, four.high),
            (2.5, Some(1.0), Some(4.0))
        );
    }

    proptest! {
        #[test]
        fn the_middle_lies_within_its_interval_and_ignores_the_order(
            mut values in proptest::collection::vec(-1e12_f64..1e12, 2..60)
        ) {
            let before = estimate(&values).expect("values");
            let (low, high) = (before.low.expect("two values"), before.high.expect("two values"));
            prop_assert!(low <= before.middle && before.middle <= high);
            values.reverse();
            prop_assert_eq!(estimate(&values), Some(before));
        }
    }

    /// The limits for four p-values at 2 % are 0.005, 0.0067, 0.01 and 0.02, and the first failure ends the search.
    #[test]
    fn the_limits_are_those_of_holm() {
        let found = significant(&[0.009, 0.9, 0.004, 0.006], 0.02);
        assert_eq!(found, [true, false, true, true]);
        assert!(!significant(&[0.009, 0.9, 0.004, 0.007], 0.02)[0]);
        assert_eq!(significant(&[0.006; 4], 0.02), [false; 4]);
        assert!(significant(&[], 0.02).is_empty());
    }
}
