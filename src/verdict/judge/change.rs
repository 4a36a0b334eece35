//! A change with its interval, and the test whether it is larger than the threshold.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Criterion, Threshold};
use crate::stats::CONFIDENCE;
use crate::stats::signed_rank::SignedRank;

/// Smallest standard error of a logarithm: rows are rounded.
const LEAST_ERROR: f64 = 1e-5;
/// Degrees of freedom from which on Student's distribution is the normal one.
const MOST_FREEDOM: f64 = 1000.0;

/// Change, as fractions of the value before: -0.03 is 3 % less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Lower end of the interval of this change alone: 95 %, or more where `ab` looks several times.
    pub low: f64,
    /// Upper end of the same interval.
    pub high: f64,
    /// Best estimate.
    pub estimate: f64,
    /// Probability of an estimate this far beyond the threshold if the change is no larger than the threshold.
    pub p_value: f64,
    /// Standard error of the logarithm of the estimate.
    pub(super) error: f64,
    /// Degrees of freedom of the error.
    pub(super) freedom: f64,
    /// Smallest p-value that the test can give.
    least_p_value: f64,
    /// Change that a state of a virtual machine may be, as a fraction. 0: there is none.
    state: f64,
}

impl Change {
    /// Creates a change from a difference of logarithms, its standard error, and the degrees of freedom of that
    /// error. `None`: a number is not finite, or there is no degree of freedom.
    pub fn by_student(log: f64, error: f64, freedom: f64, threshold: Threshold) -> Option<Self> {
        if !log.is_finite() || !error.is_finite() {
            return None;
        }
        // No difference is known more exactly.
        let error = error.max(LEAST_ERROR);
        let student = student(freedom)?;
        let half = student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)) * error;
        let beyond = log.abs() - threshold.log(log);
        let p_value = 2.0 * student.sf(beyond / error);
        half.is_finite().then(|| Self {
            low: (log - half).exp_m1(),
            high: (log + half).exp_m1(),
            estimate: log.exp_m1(),
            p_value: p_value.min(1.0),
            error,
            freedom,
            least_p_value: 0.0,
            state: 0.0,
        })
    }

    /// Creates a change from many differences of logarithms, by the signed-rank test. `None`: there is none.
    /// `confidence`: probability with which the interval is to contain the change.
    pub fn by_signed_rank(logs: &[f64], confidence: f64, threshold: Threshold) -> Option<Self> {
        let test = SignedRank::of(logs)?;
        let (low, high) = test.interval(confidence);
        let freedom = logs.len() as f64 - 1.0;
        let quantile = student(freedom)?.inverse_cdf(f64::midpoint(1.0, confidence));
        Some(Self {
            low: low.exp_m1(),
            high: high.exp_m1(),
            estimate: test.estimate().exp_m1(),
            p_value: test.p_value(threshold.log(test.estimate())),
            error: (high - low) / 2.0 / quantile,
            freedom,
            least_p_value: (-freedom).exp2(),
            state: 0.0,
        })
    }

    /// Returns the same change with an interval that is a guess: no test rests on it.
    pub fn untestable(self) -> Self {
        Self {
            p_value: 1.0,
            least_p_value: 1.0,
            ..self
        }
    }

    /// Returns the same change where a state of a virtual machine may be as large a one, as a fraction.
    pub fn beside_states(self, state: f64) -> Self {
        Self { state, ..self }
    }

    /// Returns the largest change that a state of a virtual machine may be, as a fraction, if this change is not surely
    /// larger.
    pub fn state(&self) -> Option<f64> {
        let least = self.low.ln_1p().abs().min(self.high.ln_1p().abs());
        (least < self.state.ln_1p()).then_some(self.state)
    }

    /// Returns whether a test could call it.
    pub fn is_testable(&self) -> bool {
        self.least_p_value < 1.0
    }

    /// Returns whether the test can call a change, however large, if the probability of a false call is `risk`.
    pub(super) fn is_callable(&self, risk: f64) -> bool {
        self.least_p_value <= risk
    }

    /// Returns whether the whole interval is within the threshold.
    pub(super) fn is_within(&self, threshold: Threshold) -> bool {
        -threshold.fraction() < self.low && self.high < threshold.fraction()
    }

    /// Returns the smallest change that this test would call worse in 9 of 10 repetitions, as a fraction, if the
    /// probability of a false call is `risk`. `None`: it would call none worse.
    pub(super) fn visible(&self, risk: f64, question: Criterion) -> Option<f64> {
        let student = student(self.freedom).filter(|_| self.is_callable(risk))?;
        let quantiles = student.inverse_cdf(1.0 - risk / 2.0) + student.inverse_cdf(0.9);
        let worse = -question.by.upward_if_better(1.0);
        let least = question.threshold.log(worse).max(self.state.ln_1p());
        let log = least + quantiles * self.error;
        // A loss of 99.5 % or more would be shown as 100 %: no such change is visible.
        let visible = (worse * log).exp_m1().abs();
        Some(visible).filter(|visible| visible.is_finite() && (worse > 0.0 || *visible < 0.995))
    }
}

fn student(freedom: f64) -> Option<StudentsT> {
    (freedom >= 1.0).then(|| StudentsT::new(0.0, 1.0, freedom.min(MOST_FREEDOM)).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's table: 2.228 for 10 degrees of freedom, 1.96 for very many.
    #[test]
    fn intervals_are_those_of_students_table() {
        let zero = "0%".parse().expect("a threshold");
        let of = |log, freedom| Change::by_student(log, 0.01, freedom, zero).expect("finite");
        let half = |freedom| of(0.0, freedom).high.ln_1p() / 0.01;
        assert!((half(10.0) - 2.228).abs() < 1e-3, "{}", half(10.0));
        assert!((half(1.0) - 12.706).abs() < 1e-2, "{}", half(1.0));
        assert!((half(1e9) - 1.962).abs() < 1e-2, "{}", half(1e9));
        assert!((of(2.228 * 0.01, 10.0).p_value - 0.05).abs() < 1e-4);
        assert_eq!(Change::by_student(0.1, 0.01, 0.0, zero), None);
        assert_eq!(Change::by_student(f64::NAN, 0.01, 5.0, zero), None);
    }

    #[test]
    fn a_change_must_be_surely_beyond_the_threshold() {
        let of =
            |log: f64| Change::by_student(log, 0.01, 10.0, Threshold::default()).expect("finite");
        // 2.228 standard errors beyond 2 % less.
        let at_the_edge = of(0.98_f64.ln() - 2.228 * 0.01);
        assert!((at_the_edge.p_value - 0.05).abs() < 1e-4);
        assert!((of(0.019).p_value - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_would_have_been_seen_is_beyond_the_threshold() {
        let change = Change::by_student(0.0, 0.01, 1e6, Threshold::default()).expect("finite");
        let visible = change.visible(0.05, Criterion::default()).expect("finite");
        // 2 % + (1.96 + 1.28) x 1 %.
        assert!((visible - 0.0512).abs() < 1e-3, "{visible}");
    }
}
