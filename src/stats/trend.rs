//! Test for a trend over time by Mann (Econometrica 13 (1945) 245-259) and Kendall (*Rank Correlation Methods*, 1948).
//!
//! The test compares each pair of values and uses only which is larger, not by how much.

use std::cmp::Ordering;

use statrs::distribution::{ContinuousCDF, Normal};

/// Smallest number of values for which the normal distribution is close enough to the exact one.
const LEAST: usize = 8;

/// Result of the trend test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Two-sided p-value: the probability of a trend this clear, or clearer, if there is none.
    pub p_value: f64,
    /// True if the values rise.
    pub rises: bool,
}

impl Trend {
    /// Tests values in the order of time. `None`: they are fewer than 8, or all equal.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let later = |(place, first): (usize, &f64)| -> f64 {
            let later = values[place + 1..].iter();
            later.map(|later| sign(later.total_cmp(first))).sum()
        };
        let score: f64 = values.iter().enumerate().map(later).sum();
        let pairs = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
        let of_ties: f64 = ties(values)
            .into_iter()
            .map(|count| pairs(count as f64))
            .sum();
        let variance = (pairs(n) - of_ties) / 18.0;
        if values.len() < LEAST || variance <= 0.0 {
            return None;
        }
        // Continuity correction: the score moves in steps of two.
        let z = (score.abs() - 1.0).max(0.0) / variance.sqrt();
        Some(Self {
            p_value: 2.0 * Normal::standard().sf(z),
            rises: score > 0.0,
        })
    }
}

fn sign(order: Ordering) -> f64 {
    f64::from(order as i8)
}

/// Returns how often each distinct value occurs.
fn ties(values: &[f64]) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
        .chunk_by(|a, b| a.total_cmp(b).is_eq())
        .map(<[f64]>::len)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the probability of each number of inversions of `n` values in random order (Kendall 1948, chapter 5).
    fn inversions(n: usize) -> Vec<f64> {
        let mut known = vec![1.0];
        for of in 2..=n {
            let mut next = vec![0.0; known.len() + of - 1];
            for (inversions, probability) in known.iter().enumerate() {
                for more in 0..of {
                    next[inversions + more] += probability / of as f64;
                }
            }
            known = next;
        }
        known
    }

    /// Returns the values from 0 to `n` - 1 in an order with this number of inversions: the first positions take the
    /// largest value that is possible.
    fn with_inversions(n: usize, inversions: usize) -> Vec<f64> {
        let (mut values, mut left) = ((0..n).collect::<Vec<_>>(), inversions);
        let mut order = Vec::new();
        while !values.is_empty() {
            let place = left.min(values.len() - 1);
            left -= place;
            order.push(values.remove(place) as f64);
        }
        order
    }

    #[test]
    fn it_is_as_probable_as_all_orders_say() {
        for (n, within) in [(LEAST, 0.02), (15, 0.01)] {
            let exact = inversions(n);
            for count in 0..exact.len() / 2 {
                let found = Trend::of(&with_inversions(n, count)).expect("enough");
                let beyond: f64 = exact[..=count].iter().sum();
                assert!(found.rises, "{n} {count}");
                assert!(
                    (found.p_value - 2.0 * beyond).abs() < within,
                    "{n} {count}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn where_there_is_none_it_is_rarely_found() {
        let mut rng = fastrand::Rng::with_seed(7);
        let found = (0..4000).filter(|_| {
            let values: Vec<f64> = (0..15).map(|_| f64::from(rng.u8(..20))).collect();
            Trend::of(&values).expect("fifteen").p_value < 0.05
        });
        let found = found.count();
        assert!(
            (140..=240).contains(&found),
            "of 4000, 200 expected: {found}"
        );
    }

    #[test]
    fn what_falls_falls_and_what_stays_or_is_too_little_says_nothing() {
        let falling: Vec<f64> = (0..10).rev().map(f64::from).collect();
        let trend = Trend::of(&falling).expect("ten");
        assert!(!trend.rises && trend.p_value < 0.001, "{trend:?}");
        assert_eq!(Trend::of(&[1.0; 20]), None);
        assert_eq!(Trend::of(&falling[..7]), None);
    }
}
