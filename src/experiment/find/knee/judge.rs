//! Compares two values of a grid by the rounds in which both were measured, with the signed-rank test.

use crate::stats::CONFIDENCE;
use crate::stats::signed_rank::SignedRank;

/// Probability that the lowest value of the range is above the knee, and that the highest one is below it.
const RISK: f64 = 0.025;

/// Gain of one value over a smaller one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// The value that gains.
    pub at: u16,
    /// Gain, as a fraction.
    pub estimate: f64,
    /// 95 % interval of the gain. Infinite with too few rounds.
    pub interval: (f64, f64),
}

impl Gain {
    pub(super) fn of(
        rounds: &[Vec<Option<f64>>],
        position: usize,
        larger: usize,
        at: u16,
    ) -> Option<Self> {
        let gains = gains(rounds, position, larger)?;
        let (low, high) = gains.interval(CONFIDENCE);
        Some(Self {
            at,
            estimate: gains.estimate().exp_m1(),
            interval: (low.exp_m1(), high.exp_m1()),
        })
    }
}

/// Returns the gains of the larger value over the other one, as logarithms. `None`: no round has both, or a result is
/// unknown.
pub(super) fn gains(
    rounds: &[Vec<Option<f64>>],
    position: usize,
    larger: usize,
) -> Option<SignedRank> {
    let both = rounds
        .iter()
        .filter_map(|round| Some(round[position]? - round[larger]?));
    SignedRank::of(&both.collect::<Vec<f64>>())
}

/// Returns the numbers of rounds after which the results are judged: an eighth, a quarter, half, and all.
pub(super) fn looks(rounds: u32) -> [usize; 4] {
    [8, 4, 2, 1].map(|part| rounds.div_ceil(part) as usize)
}

/// Returns the probability of an error that the last look after so many rounds may have. Each look has a part of
/// [`RISK`], by its number of rounds, so all looks together keep it. 0 before the first look.
pub(super) fn risk(done: usize, rounds: u32) -> f64 {
    let looks = looks(rounds);
    let all: usize = looks.iter().sum();
    let last = looks.into_iter().rev().find(|look| *look <= done);
    RISK * last.unwrap_or(0) as f64 / all as f64
}
