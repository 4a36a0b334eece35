//! Corrects verdicts for multiple testing, and computes intervals.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Change;
use crate::stats::false_discovery;

/// Highest share of false alarms among the reported changes, in the mean over many comparisons.
pub(super) const FALSE_DISCOVERY_RATE: f64 = 0.02;
const CONFIDENCE: f64 = 0.95;
/// Degrees of freedom from which on Student's distribution is the normal one.
const MOST_FREEDOM: f64 = 1000.0;

impl Change {
    /// Creates a change from a difference of logarithms, its standard error, and the degrees of freedom of that
    /// error.
    pub(super) fn new(log: f64, error: f64, freedom: f64) -> Self {
        let ratio = |log: f64| log.exp_m1();
        if !(log / error).is_finite() {
            return Self::unknown(ratio(log));
        }
        let Ok(student) = StudentsT::new(0.0, 1.0, freedom.clamp(1.0, MOST_FREEDOM)) else {
            return Self::unknown(ratio(log));
        };
        let half = student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)) * error;
        let found = Self {
            estimate: ratio(log),
            low: ratio(log - half),
            high: ratio(log + half),
            p_value: 2.0 * student.cdf(-(log / error).abs()),
        };
        if found.p_value.is_nan() || found.low.is_nan() || found.high.is_nan() {
            Self::unknown(found.estimate)
        } else {
            found
        }
    }

    fn unknown(estimate: f64) -> Self {
        Self {
            estimate,
            low: -1.0,
            high: f64::INFINITY,
            p_value: 1.0,
        }
    }
}

/// Question of the comparison: whether a case, an engine or a part changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hypothesis {
    pub(super) p_value: f64,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Case,
    Engine,
    Part,
}

/// Returns for each question whether the answer is a change, by Benjamini & Hochberg (J. R. Stat. Soc. B 57 (1995)
/// 289-300).
///
/// Cases, engines and parts of engines are three families that share the rate. In one family, changes of many cases
/// would lower the bar for engines, and the few engines would meet the limit of a hundred cases.
pub(super) fn discoveries(asked: &[Hypothesis]) -> Vec<bool> {
    let p_values = |kind| -> Vec<f64> {
        let of_kind = asked.iter().filter(|question| question.kind == kind);
        of_kind.map(|question| question.p_value).collect()
    };
    let families = [Kind::Case, Kind::Engine, Kind::Part].map(|kind| (kind, p_values(kind)));
    let count = families
        .iter()
        .filter(|(_, family)| !family.is_empty())
        .count();
    let rate = FALSE_DISCOVERY_RATE / count.max(1) as f64;
    let limits = families.map(|(kind, family)| (kind, false_discovery::limit(&family, rate)));
    let is_discovery = |question: &Hypothesis| {
        let mut limits = limits.iter();
        limits.any(|(kind, limit)| question.kind == *kind && question.p_value <= *limit)
    };
    asked.iter().map(is_discovery).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(p_values: &[f64]) -> Vec<Hypothesis> {
        let asked = |&p_value| Hypothesis {
            p_value,
            kind: Kind::Case,
        };
        p_values.iter().map(asked).collect()
    }

    #[test]
    fn what_is_found_is_what_benjamini_and_hochberg_find() {
        // Limits of four questions at 2 %: 0.005, 0.01, 0.015, 0.02. The third p-value is below its limit, so the
        // second one passes also.
        let found = discoveries(&cases(&[0.014, 0.9, 0.004, 0.012]));
        assert_eq!(found, [true, false, true, true]);
        assert_eq!(discoveries(&cases(&[0.006, 0.9, 0.9, 0.9])), [false; 4]);
        assert_eq!(discoveries(&[]), Vec::<bool>::new());
    }

    #[test]
    fn cases_and_engines_have_limits_of_their_own() {
        let engines = [0.5, 0.5, 0.05].map(|p_value| Hypothesis {
            p_value,
            kind: Kind::Engine,
        });
        let mut asked = cases(&[0.5; 96]);
        asked.extend(engines);
        // 1 in 1000 is enough for one of three engines, and too much for one of a hundred cases.
        asked[98].p_value = 0.001;
        let found = discoveries(&asked);
        assert_eq!(found.iter().position(|found| *found), Some(98));
        asked[98].p_value = 0.05;
        asked[0].p_value = 0.001;
        assert!(!discoveries(&asked).contains(&true));
        // The limit of an engine does not depend on how many cases changed.
        for case in &mut asked[..96] {
            case.p_value = 1e-6;
        }
        assert_eq!(discoveries(&asked)[..96], [true; 96]);
        assert_eq!(discoveries(&asked)[96..], [false; 3]);
    }

    /// Student's table: 2.228 for 10 degrees of freedom, 1.96 for very many.
    #[test]
    fn intervals_are_those_of_students_table() {
        let half = |freedom| Change::new(0.0, 0.01, freedom).high.ln_1p() / 0.01;
        assert!((half(10.0) - 2.228).abs() < 1e-3, "{}", half(10.0));
        assert!((half(1.0) - 12.706).abs() < 1e-2, "{}", half(1.0));
        assert!((half(1e9) - 1.962).abs() < 1e-2, "{}", half(1e9));
        let at_the_edge = Change::new(2.228 * 0.01, 0.01, 10.0);
        assert!((at_the_edge.p_value - 0.05).abs() < 1e-4);
    }
}
