//! Finds the smallest value from which on more brings little.
//!
//! At a few looks, the lowest value that may still be the knee is compared with all larger ones. If any of them surely
//! takes less time by more than the threshold, the next value is tested. Larger values that surely do not are measured
//! no more, until only the knee is left, or the last round is over.

use super::rounds::{Quantity, Rounds};
use super::{AxisQuestion, AxisTrial, Finding, Method, TimeChange};
use crate::stats::signed_rank::SignedRank;

/// Probability that the lowest value of the range is above the knee, and that the highest one is below it.
const RISK: f64 = 0.025;

/// State of a search for a knee.
#[derive(Debug)]
pub(super) struct Knee {
    asked: AxisQuestion,
    rounds: Rounds,
    /// Lowest position that may be the knee.
    lowest: usize,
    /// Positions above it that may take less time by more than the threshold.
    open: Vec<usize>,
}

impl Knee {
    pub(super) fn new(grid: Vec<u64>, asked: AxisQuestion) -> Self {
        Self {
            asked,
            lowest: 0,
            open: (1..grid.len()).collect(),
            rounds: Rounds::new(grid, asked.seed),
        }
    }
}

impl Method for Knee {
    fn next(&self) -> Option<u64> {
        let is_over = self.open.is_empty() || self.rounds.count() >= self.asked.rounds as usize;
        self.rounds.next().filter(|_| !is_over)
    }

    fn take(&mut self, trial: AxisTrial) {
        if self.rounds.take(trial) && looks(self.asked.rounds).contains(&self.rounds.count()) {
            self.look();
        }
    }

    fn found(&self) -> Vec<Finding> {
        self.knee().into_iter().collect()
    }

    fn detectable(&self) -> Option<f64> {
        None
    }

    fn grid(&self) -> &Rounds {
        &self.rounds
    }
}

impl Knee {
    /// Returns the knee so far. `None`: no round is complete, or the time is unknown.
    fn knee(&self) -> Option<Finding> {
        let threshold = self.asked.threshold();
        // The best of several noisy gains is too high. If none were above the threshold, one would seem so in half of
        // the searches.
        let knee = self.first(|gain, of| gain.p_above(threshold) >= 0.5 / of as f64)?;
        let risk = risk(self.rounds.count(), self.asked.rounds);
        let sure = self.first(|gain, _| gain.p_below(threshold) < risk)?;
        let high = if self.open.is_empty() {
            self.lowest
        } else {
            sure.max(knee)
        };
        let gains = self.gains(knee)?.into_iter();
        let best = gains.max_by(|a, b| a.1.estimate().total_cmp(&b.1.estimate()));
        let values = self.rounds.values();
        Some(Finding {
            range: (values[self.lowest], values[high]),
            beyond: best.and_then(|(best, _)| {
                let change = TimeChange::between(&self.rounds, knee, best)?;
                Some((values[best], change))
            }),
            ..Finding::between(&self.rounds, (0, knee))
        })
    }

    /// Returns the lowest position, from `lowest` on, over which the gain of each larger one, and their number, are as
    /// wanted. `None`: a gain is unknown.
    fn first(&self, is_enough: impl Fn(&SignedRank, usize) -> bool) -> Option<usize> {
        for position in self.lowest..self.last() {
            let gains = self.gains(position)?;
            if gains.iter().all(|(_, gain)| is_enough(gain, gains.len())) {
                return Some(position);
            }
        }
        self.rounds.median_ns(self.last()).map(|_| self.last())
    }

    fn last(&self) -> usize {
        self.rounds.values().len() - 1
    }

    /// Returns the gains of all larger values over this one. `None`: one is unknown.
    fn gains(&self, position: usize) -> Option<Vec<(usize, SignedRank)>> {
        let larger = position + 1..=self.last();
        let gains = larger.map(|larger| {
            let gain = self.rounds.difference(Quantity::Time, larger, position)?;
            Some((larger, gain))
        });
        gains.collect()
    }

    /// Raises the lowest position as far as is sure, and tells which larger ones are still in question.
    fn look(&mut self) {
        let risk = risk(self.rounds.count(), self.asked.rounds);
        let threshold = self.asked.threshold();
        while let Some(mut gains) = self.gains(self.lowest) {
            // Any of these tests may err.
            let risk_of_each = risk / gains.len() as f64;
            let is_more = |gain: &SignedRank| gain.p_above(threshold) < risk_of_each;
            if !gains.iter().any(|(_, gain)| is_more(gain)) {
                gains.retain(|(_, gain)| gain.p_below(threshold) >= risk);
                self.open = gains.into_iter().map(|(larger, _)| larger).collect();
                let lowest = [self.lowest].into_iter();
                self.rounds.keep(lowest.chain(self.open.clone()).collect());
                return;
            }
            self.lowest += 1;
        }
    }
}

/// Returns the numbers of rounds after which the results are judged: an eighth, a quarter, half, and all.
fn looks(rounds: u32) -> [usize; 4] {
    [8, 4, 2, 1].map(|part| rounds.div_ceil(part) as usize)
}

/// Returns the probability of an error that the last look after so many rounds may have. Each look has a part of
/// [`RISK`], by its number of rounds, so all looks together keep it. 0 before the first look.
fn risk(done: usize, rounds: u32) -> f64 {
    let looks = looks(rounds);
    let all: usize = looks.iter().sum();
    let last = looks.into_iter().rev().find(|look| *look <= done);
    RISK * last.unwrap_or(0) as f64 / all as f64
}
