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

/// Returns the weighted mean of these cases for each round that most of them have, by weight. In a few rounds, windows of
/// a case may have failed.
pub(super) fn mean(series: &[&Series]) -> Rounds {
    let all: f64 = series.iter().map(|case| case.weight).sum();
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for case in series {
        for (round, difference) in &case.rounds {
            let (sum, weight) = sums.entry(*round).or_default();
            *sum += case.weight * difference;
            *weight += case.weight;
        }
    }
    let most = sums
        .into_iter()
        .filter(|(_, (_, weight))| 2.0 * weight >= all);
    most.map(|(round, (sum, weight))| (round, sum / weight))
        .collect()
}
