//! Scatter of rates from run to run, which the intervals of a single run do not have.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::stats;

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
mod tests {
    use super::*;

    /// Three rates 10 % apart: t = 4.303 with 2 degrees of freedom, s = ln 1.1, sqrt(4/3).
    #[test]
    fn the_half_width_is_that_of_a_pocket_calculator() {
        let half = next_run_pct(&[100.0, 110.0, 121.0]).expect("three rates");
        assert!((half - 47.35).abs() < 0.01, "{half}");
        assert_eq!(next_run_pct(&[100.0]), None);
        assert_eq!(next_run_pct(&[]), None);
        assert_eq!(next_run_pct(&[100.0, 0.0]), None);
    }

    #[test]
    fn the_next_run_lies_within_in_95_of_100() {
        let mut dice = fastrand::Rng::with_seed(1);
        let mut normal = || {
            let radius = (-2.0 * (1.0 - dice.f64()).ln()).sqrt();
            radius * (std::f64::consts::TAU * dice.f64()).cos()
        };
        let mut holds = 0;
        for runs in [2, 3, 6, 20].repeat(250) {
            let logarithms: Vec<f64> = (0..runs).map(|_| 0.05 * normal()).collect();
            let rates: Vec<f64> = logarithms.iter().map(|ln| ln.exp()).collect();
            let half = next_run_pct(&rates).expect("two rates") / 100.0;
            let mean = logarithms.iter().sum::<f64>() / f64::from(runs);
            holds += i32::from((0.05 * normal() - mean).abs() <= half);
        }
        // The 95 % interval of 950 in 1000 is 93.5 to 96.3 %.
        assert!((935..=963).contains(&holds), "{holds} of 1000");
    }
}
