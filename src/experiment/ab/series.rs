//! Differences round by round: of one case, and of several cases together.

use std::collections::BTreeMap;

/// Logarithm of B over A, by round.
type Rounds = BTreeMap<u32, f64>;

/// Differences of a case, with its weight.
pub(super) struct Series {
    rounds: Rounds,
    weight: f64,
}

/// Lower limit of the spread, as a logarithm. No scatter is known more exactly.
const LEAST_SPREAD: f64 = 1e-3;

impl Series {
    pub(super) fn of(rounds: Rounds) -> Self {
        let mut values: Vec<f64> = rounds.values().copied().collect();
        values.sort_unstable_by(f64::total_cmp);
        // Range of the middle half: outliers do not make a case noisy.
        let quarter = values.len() / 4;
        let spread = match &values[quarter..values.len() - quarter] {
            [low, .., high] => high - low,
            _ => 0.0,
        };
        Self {
            rounds,
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
