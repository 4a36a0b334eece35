//! What is no accident.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Change;

/// Of what is called a change, at most this part is none, in the mean over many comparisons.
pub(super) const FALSE_DISCOVERY_RATE: f64 = 0.02;
const CONFIDENCE: f64 = 0.95;
/// From here on Student's distribution is the normal one.
const MOST_FREEDOM: f64 = 1000.0;

impl Change {
    /// From a difference of logarithms, its standard error, and how well that is known.
    pub(super) fn new(log: f64, error: f64, freedom: f64) -> Self {
        let ratio = |log: f64| log.exp_m1();
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

/// A question that was asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) p_value: f64,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Case,
    Engine,
}

/// Which of them are answered with a change, by Benjamini & Hochberg (J. R. Stat. Soc. B 57 (1995) 289-300)
/// over all questions together. The few engines weigh as much as the many cases (Genovese, Roeder &
/// Wasserman, Biometrika 93 (2006) 509-524: weights whose mean is 1 keep the rate): else what an engine says
/// would have to be as sure as any of a hundred cases.
pub(super) fn discoveries(asked: &[Asked]) -> Vec<bool> {
    let of_case = weight(Kind::Case, asked);
    let of_engine = weight(Kind::Engine, asked);
    let weighted = asked.iter().map(|question| match question.kind {
        Kind::Case => question.p_value / of_case,
        Kind::Engine => question.p_value / of_engine,
    });
    let weighted: Vec<f64> = weighted.collect();
    let mut sorted = weighted.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let step = FALSE_DISCOVERY_RATE / asked.len().max(1) as f64;
    let ranked = sorted.iter().zip(1_u32..);
    let passing = ranked.filter(|(p_value, rank)| **p_value <= step * f64::from(*rank));
    let limit = passing.last().map(|(p_value, _)| *p_value);
    let is_discovery = |p_value: &f64| limit.is_some_and(|limit| *p_value <= limit);
    weighted.iter().map(is_discovery).collect()
}

fn weight(kind: Kind, asked: &[Asked]) -> f64 {
    let of_kind = asked.iter().filter(|other| other.kind == kind).count();
    let kinds = if of_kind == asked.len() { 1.0 } else { 2.0 };
    asked.len() as f64 / (kinds * of_kind.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(p_values: &[f64]) -> Vec<Asked> {
        let asked = |&p_value| Asked {
            p_value,
            kind: Kind::Case,
        };
        p_values.iter().map(asked).collect()
    }

    #[test]
    fn what_is_found_is_what_benjamini_and_hochberg_find() {
        // Limits of four questions at 2 %: 0.005, 0.01, 0.015, 0.02. The third lets the second in.
        let found = discoveries(&cases(&[0.014, 0.9, 0.004, 0.012]));
        assert_eq!(found, [true, false, true, true]);
        assert_eq!(discoveries(&cases(&[0.006, 0.9, 0.9, 0.9])), [false; 4]);
        assert_eq!(discoveries(&[]), Vec::<bool>::new());
    }

    #[test]
    fn the_weights_of_engines_and_cases_have_the_mean_1() {
        let mut asked = cases(&[0.5; 96]);
        asked.extend([0.5; 3].map(|p_value| Asked {
            p_value,
            kind: Kind::Engine,
        }));
        let sum = 96.0 * weight(Kind::Case, &asked) + 3.0 * weight(Kind::Engine, &asked);
        assert!((sum / 99.0 - 1.0).abs() < 1e-12);
        // One engine in three at a chance of 1 in 1000, which none of a hundred cases could have.
        asked[98].p_value = 0.001;
        assert_eq!(
            discoveries(&asked).iter().position(|found| *found),
            Some(98)
        );
        asked[98].p_value = 0.5;
        asked[0].p_value = 0.001;
        assert!(!discoveries(&asked).contains(&true));
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
