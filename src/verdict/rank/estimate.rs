//! Values with their uncertainty. They are kept as logarithms: ratios multiply, so their logarithms add up.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::results::row::Interval;
use crate::stats;

/// Probability that a comparison of two equal engines finds a difference.
pub(super) const RISK: f64 = 0.05;

/// A positive value with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    ln: f64,
    error: Option<Error>,
    /// Error without the part that is common to the engines measured beside this one.
    residual: Option<Error>,
    /// Interval in the row, if the value is from one row. Users see this interval.
    shown: Option<(f64, f64)>,
}

/// The standard error of a logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Error {
    standard: f64,
    /// Degrees of freedom of Student's t for this error.
    freedom: f64,
}

/// Standard deviation of the logarithms of the values behind a value, in percent, and their number.
pub(super) type SampleDeviation = Option<(f64, usize)>;

impl Reading {
    /// Returns a value with what is known of its uncertainty: its interval in the row, its scatter, and its scatter
    /// from round to round without the part that is common to all engines. `None` if it is not a positive number.
    pub(super) fn of(
        [value, low, high]: Interval,
        scatter: SampleDeviation,
        residual: SampleDeviation,
    ) -> Option<Self> {
        let value = value?;
        let interval = low.zip(high);
        let interval = interval.filter(|(low, high)| *low > 0.0 && low <= high && high.is_finite());
        // Half of an interval counts as two standard errors.
        let of_interval = interval.map(|(low, high)| Error {
            standard: (high.ln() - low.ln()) / 4.0,
            freedom: f64::INFINITY,
        });
        // Tolerates a difference in the last digit.
        let encloses = |(low, high): &(f64, f64)| {
            *low <= value * (1.0 + 1e-9) && *high >= value * (1.0 - 1e-9)
        };
        (value.is_finite() && value > 0.0).then(|| Self {
            ln: value.ln(),
            error: scatter.and_then(Error::of_scatter).or(of_interval),
            residual: residual.and_then(Error::of_scatter),
            shown: interval.filter(encloses),
        })
    }

    /// Returns whether this value is surely greater than one that was measured beside it. Of equal values, one exceeds
    /// the other with the probability `risk`. Compares by the residual errors if both are known, else by whether the
    /// intervals are disjoint.
    pub(super) fn exceeds(&self, other: &Self, risk: f64) -> bool {
        if let Some((residual, others)) = self.residual.zip(other.residual) {
            let of_both = in_quadrature(&[residual, others]);
            return self.ln - other.ln > quantile(of_both.freedom, risk) * of_both.standard;
        }
        let intervals = self.interval().zip(other.interval());
        intervals.is_some_and(|((low, _), (_, high))| low > high)
    }

    /// Returns whether the interval that users see does not have the other value. True without an interval.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        let value = other.value();
        let interval = self.interval();
        interval.is_none_or(|(low, high)| value < low || value > high)
    }

    /// Returns by how much two values that were measured beside each other differ at most, in percent of the smaller
    /// one, but for the probability `risk`. Infinite if their uncertainty is unknown.
    pub(super) fn apart_at_most_pct(&self, other: &Self, risk: f64) -> f64 {
        let most = if let Some((residual, others)) = self.residual.zip(other.residual) {
            let of_both = in_quadrature(&[residual, others]);
            (self.ln - other.ln).abs() + quantile(of_both.freedom, risk) * of_both.standard
        } else {
            let intervals = self.interval().zip(other.interval());
            intervals.map_or(f64::INFINITY, |((low, high), (others_low, others_high))| {
                (high / others_low).max(others_high / low).ln()
            })
        };
        100.0 * most.exp_m1()
    }

    /// Returns whether any uncertainty is known.
    pub(super) fn has_error(&self) -> bool {
        self.error.is_some() || self.residual.is_some()
    }

    /// Returns the value.
    pub fn value(&self) -> f64 {
        self.ln.exp()
    }

    /// Returns half of the interval, in percent of the value, to the digit that is shown.
    pub(super) fn half_pct(&self) -> Option<f64> {
        let (low, high) = self.interval()?;
        Some((500.0 * (high - low) / self.value()).round() / 10.0)
    }

    /// Returns the 95 % interval: the row's own, or by Student's t. `None` if no uncertainty is known.
    pub fn interval(&self) -> Option<(f64, f64)> {
        if self.shown.is_some() {
            return self.shown;
        }
        let error = self.error?;
        let half = quantile(error.freedom, RISK) * error.standard;
        let bound = |by: f64| (self.ln + by).exp();
        half.is_finite().then(|| (bound(-half), bound(half)))
    }

    /// Returns the mean of repeated measurements. Its error is the larger of two: the one from the measurements' own
    /// errors, and the one from their differences. The degrees of freedom are those of the larger one. `None` without
    /// measurements.
    pub(super) fn of_repeats(readings: &[Self]) -> Option<Self> {
        let (first, count) = (readings.first()?, readings.len() as f64);
        if readings.len() == 1 {
            return Some(*first);
        }
        let ln = mean_ln(readings);
        let squares: f64 = readings.iter().map(|one| (one.ln - ln).powi(2)).sum();
        let apart = Error {
            standard: (squares / (count - 1.0) / count).sqrt(),
            freedom: count - 1.0,
        };
        let larger = |errors: Vec<Error>| {
            let known = in_quadrature(&errors).over(count);
            if known.standard > apart.standard {
                known
            } else {
                apart
            }
        };
        let errors = all(readings, |one| one.error);
        Some(Self {
            ln,
            error: Some(errors.map_or(apart, larger)),
            residual: all(readings, |one| one.residual).map(larger),
            shown: None,
        })
    }

    /// Returns the geometric mean of cases. Cases within a block were compared with the same windows of the
    /// reference, so their errors may all point the same way: errors within a block add up, except residual errors.
    /// Errors of different blocks are independent. `None` without cases.
    pub(super) fn geometric_mean(blocks: &[Vec<Self>]) -> Option<Self> {
        let readings: Vec<Self> = blocks.iter().flatten().copied().collect();
        if let [one] = readings[..] {
            return Some(one);
        }
        let count = readings.len() as f64;
        let of_block = |block: &Vec<Self>| Some(added_up(&all(block, |one| one.error)?));
        let errors: Option<Vec<Error>> = blocks.iter().map(of_block).collect();
        let mean = |errors: Vec<Error>| in_quadrature(&errors).over(count);
        (!readings.is_empty()).then(|| Self {
            ln: mean_ln(&readings),
            error: errors.map(mean),
            residual: all(&readings, |one| one.residual).map(mean),
            shown: None,
        })
    }
}

/// Returns an error of each of these readings. `None`: one has none.
fn all(readings: &[Reading], of: fn(&Reading) -> Option<Error>) -> Option<Vec<Error>> {
    readings.iter().map(of).collect()
}

fn mean_ln(readings: &[Reading]) -> f64 {
    readings.iter().map(|one| one.ln).sum::<f64>() / readings.len() as f64
}

impl Error {
    /// Returns the error of an estimate from `count` values, whose logarithms have this standard deviation, in percent.
    fn of_scatter((deviation_pct, count): (f64, usize)) -> Option<Self> {
        let is_known = deviation_pct.is_finite() && deviation_pct >= 0.0 && count > 1;
        is_known.then(|| Self {
            standard: stats::error_of_estimate(deviation_pct / 100.0, count as f64),
            freedom: count as f64 - 1.0,
        })
    }

    fn over(self, count: f64) -> Self {
        Self {
            standard: self.standard / count,
            ..self
        }
    }
}

/// Returns the error of a sum whose parts may err together.
fn added_up(errors: &[Error]) -> Error {
    let freedoms = errors.iter().map(|error| error.freedom);
    Error {
        standard: errors.iter().map(|error| error.standard).sum(),
        freedom: freedoms.fold(f64::INFINITY, f64::min),
    }
}

/// Returns the error of a sum whose parts err independently, with the degrees of freedom by Welch and Satterthwaite.
fn in_quadrature(errors: &[Error]) -> Error {
    let variance = |error: &Error| error.standard.powi(2);
    let sum: f64 = errors.iter().map(variance).sum();
    let part = |error: &Error| variance(error).powi(2) / error.freedom;
    let parts: f64 = errors.iter().map(part).sum();
    Error {
        standard: sum.sqrt(),
        freedom: if parts > 0.0 {
            sum.powi(2) / parts
        } else {
            f64::INFINITY
        },
    }
}

/// Returns the value that Student's t exceeds, upwards or downwards, with the probability `risk`.
fn quantile(freedom: f64, risk: f64) -> f64 {
    let level = 1.0 - risk / 2.0;
    // Above 1000 degrees of freedom, the quantile is that of the normal distribution to three digits. statrs knows no
    // infinite degrees of freedom.
    if freedom > 1000.0 {
        return Normal::standard().inverse_cdf(level);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(level))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(value: f64, deviation_pct: Option<f64>, interval: Option<(f64, f64)>) -> Reading {
        let [low, high] = [interval.map(|it| it.0), interval.map(|it| it.1)];
        let scatter = deviation_pct.map(|pct| (pct, 6));
        Reading::of([Some(value), low, high], scatter, None).expect("positive")
    }

    fn one(deviation_pct: f64) -> Reading {
        reading(1.0, Some(deviation_pct), None)
    }

    fn standard(reading: Reading) -> f64 {
        reading.error.expect("it has one").standard
    }

    /// Source: any textbook's table of Student's t.
    #[test]
    fn the_quantiles_are_those_of_the_textbook() {
        for (freedom, published) in [(1.0, 12.706), (5.0, 2.571), (30.0, 2.042), (1e9, 1.96)] {
            let ours = quantile(freedom, RISK);
            assert!((ours - published).abs() < 1e-3, "{freedom}: {ours}");
        }
    }

    #[test]
    fn errors_add_up_within_a_block_and_in_quadrature_across_blocks() {
        let single = standard(one(3.0));
        let mean =
            |blocks: &[Vec<Reading>]| standard(Reading::geometric_mean(blocks).expect("cases"));
        let together = mean(&[vec![one(3.0); 4]]);
        assert!((together - single).abs() < 1e-12, "{together}");
        let apart = mean(&vec![vec![one(3.0)]; 4]);
        assert!((apart - single / 2.0).abs() < 1e-12, "{apart}");
    }

    #[test]
    fn a_case_without_an_interval_leaves_the_mean_without_one() {
        let bare = reading(2.0, None, None);
        let mean = Reading::geometric_mean(&[vec![one(3.0)], vec![bare]]).expect("cases");
        assert_eq!(mean.interval(), None);
        assert!((mean.value() - 2.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn repeats_that_differ_more_than_they_say_are_believed_to_differ() {
        let repeats = |values: [f64; 3], deviation_pct| {
            let readings = values.map(|value| reading(value, Some(deviation_pct), None));
            standard(Reading::of_repeats(&readings).expect("three"))
        };
        let alike = repeats([1.0, 1.0, 1.0], 3.0);
        assert!((alike - standard(one(3.0)) / 3.0_f64.sqrt()).abs() < 1e-12);
        assert!(repeats([0.9, 1.0, 1.1], 0.0) > 0.05);
    }

    #[test]
    fn an_interval_alone_says_how_uncertain_a_value_is() {
        let (low, high) = reading(1.0, None, Some((0.9, 1.1)))
            .interval()
            .expect("one");
        assert_eq!((low, high), (0.9, 1.1));
        let error = standard(reading(1.0, None, Some((0.9, 1.1))));
        assert!((error - 0.0502).abs() < 1e-4, "{error}");
        assert_eq!(reading(1.0, None, Some((-1.0, 1.1))).interval(), None);
    }
}
