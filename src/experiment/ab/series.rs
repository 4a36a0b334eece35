//! Differences round by round: of one case, and of several cases together.

use std::collections::BTreeMap;

use crate::stats;
use crate::stats::signed_rank::SignedRank;
use crate::verdict::compare::Part;

/// Logarithm of B over A, by round.
pub(super) type Rounds = BTreeMap<u32, f64>;

/// Differences of a case, with its weight.
pub(super) struct Series {
    rounds: Rounds,
    middle: f64,
    weight: f64,
}

/// Lower limit of the spread, as a logarithm. No scatter is known more exactly.
const LEAST_SPREAD: f64 = 1e-3;

impl Series {
    pub(super) fn of(rounds: Rounds) -> Self {
        let mut values: Vec<f64> = rounds.values().copied().collect();
        let middle = stats::estimate(&values).map_or(0.0, |estimate| estimate.middle);
        values.sort_unstable_by(f64::total_cmp);
        // Range of the middle half: outliers do not make a case noisy.
        let quarter = values.len() / 4;
        let spread = match &values[quarter..values.len() - quarter] {
            [low, .., high] => high - low,
            _ => 0.0,
        };
        Self {
            rounds,
            middle,
            weight: spread.max(LEAST_SPREAD).powi(-2),
        }
    }
}

/// Returns the weighted mean of these cases for each round that all of them have.
pub(super) fn mean(series: &[&Series]) -> Rounds {
    let weight: f64 = series.iter().map(|case| case.weight).sum();
    let of_round = |round: &u32| {
        let values = series
            .iter()
            .map(|case| Some(case.weight * case.rounds.get(round)?));
        Some((*round, values.sum::<Option<f64>>()? / weight))
    };
    let rounds = series
        .first()
        .into_iter()
        .flat_map(|case| case.rounds.keys());
    rounds.filter_map(of_round).collect()
}

/// Returns an upper bound of the probability that parts differ this much by chance. Compares each two parts round by
/// round.
pub(super) fn chance_of(parts: &[Rounds]) -> f64 {
    let mut least = 1.0_f64;
    let mut asked = 0.0;
    for (n, one) in parts.iter().enumerate() {
        for other in &parts[n + 1..] {
            let both = one
                .iter()
                .filter_map(|(round, value)| Some(value - other.get(round)?));
            let apart: Vec<f64> = both.collect();
            asked += 1.0;
            least = least.min(SignedRank::of(&apart).map_or(1.0, |test| test.p_value(0.0)));
        }
    }
    (asked * least).min(1.0)
}

/// Returns the distance of cases from the middle of their part: the weighted mean of the squares.
pub(super) fn left_over(series: &[Series], parts: &[(Part, Vec<usize>)]) -> f64 {
    let of_part = |(_, places): &(Part, Vec<usize>)| {
        let cases = || places.iter().map(|&place| &series[place]);
        let weight: f64 = cases().map(|case| case.weight).sum();
        let middle = cases().map(|case| case.weight * case.middle).sum::<f64>() / weight;
        cases()
            .map(|case| case.weight * (case.middle - middle).powi(2))
            .sum::<f64>()
    };
    // Each part takes one degree of freedom.
    let freedom = series.len().saturating_sub(parts.len()).max(1);
    parts.iter().map(of_part).sum::<f64>() / freedom as f64
}
