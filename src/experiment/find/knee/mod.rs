//! Searches for the smallest batch or train from which on more brings little.
//!
//! Values on a grid of powers of two are measured in rounds, each round in another order. Only values of the same round
//! are compared. At a few looks, `judge` tests the lowest value that may still be the knee against all larger ones. If
//! any of them is surely faster by more than the threshold, the next value is tested. Larger values that are surely not
//! are measured no more, until only the knee is left, or the last round is over.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Next;
use super::cliff::nanoseconds;
use crate::data::{Batch, Case, Sample, WindowAccounting};
use crate::results::row::cpu_ns_per_packet;
use crate::stats;
use crate::stats::signed_rank::SignedRank;
use crate::term::duration::ns;
use crate::verdict::judge::By;

pub use self::call::Call;
pub use self::judge::Gain;

mod call;
mod judge;

/// Loss from which on the receivers or the path limit the speed, and no longer the calls of the senders, in percent.
const LOSSY_PCT: f64 = 1.0;

/// Question of a search for a knee.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KneeQuestion {
    /// Quantity that is compared.
    pub by: By,
    /// Largest gain that counts as none, in percent.
    pub threshold_pct: f64,
    /// Highest number of rounds.
    pub rounds: u32,
    /// Length of a trial.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// Seed of the order of trials.
    pub seed: u32,
}

impl KneeQuestion {
    /// Estimates the number of trials of a search, and the sum of their windows. Half of the trials are seldom needed.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let values = u32::try_from(grid(Batch::MAX).len()).unwrap_or(u32::MAX);
        let trials = values.saturating_mul(self.rounds) / 2;
        (trials, self.trial.saturating_mul(trials))
    }
}

/// Result of a search so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Smallest value over which no larger one is estimated to gain more than the threshold. 1: there is no knee.
    pub knee: u16,
    /// Lowest and highest value that may be the knee.
    pub range: (u16, u16),
    /// Nanoseconds per datagram at the knee.
    pub ns: f64,
    /// Gain of the knee over 1. `None`: the knee is 1.
    pub over_one: Option<Gain>,
    /// Highest gain of a larger value over the knee. `None`: the knee is the highest value.
    pub beyond: Option<Gain>,
}

/// State of a search for a knee.
#[derive(Clone, Debug)]
pub struct Knee {
    case: Case,
    asked: KneeQuestion,
    call: Call,
    values: Vec<u16>,
    /// Logarithms of nanoseconds per datagram, by round and position. `None`: unknown.
    rounds: Vec<Vec<Option<f64>>>,
    current: Vec<Option<f64>>,
    /// Datagrams lost and sent, by position.
    lost_of_sent: Vec<(u64, u64)>,
    /// Positions that are still to be measured in this round, the next one last.
    left: Vec<usize>,
    /// Lowest position that may be the knee.
    lowest: usize,
    /// Positions above it that may be faster by more than the threshold.
    open: Vec<usize>,
}

impl Knee {
    /// Creates a search without trials. The train of `case`, or else its batch, is the highest value of the grid.
    pub fn new(case: Case, asked: KneeQuestion) -> Self {
        let (call, most) = Call::of(&case);
        let values = grid(most);
        let mut search = Self {
            case,
            asked,
            call,
            rounds: Vec::new(),
            current: vec![None; values.len()],
            lost_of_sent: vec![(0, 0); values.len()],
            left: Vec::new(),
            lowest: 0,
            open: (1..values.len()).collect(),
            values,
        };
        search.begin_round();
        search
    }

    /// Returns the next trial. `None`: the knee is found, or all rounds are over.
    pub fn next(&self) -> Option<Next> {
        Some(Next {
            case: self.call.set(&self.case, self.values[*self.left.last()?])?,
            window: self.asked.trial,
        })
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        self.count(sample.account());
        self.note(match self.asked.by {
            By::Speed => nanoseconds(sample),
            By::Cpu => cpu_ns_per_packet(sample).unwrap_or(f64::NAN),
        });
    }

    /// Adds the datagrams of a trial, before its result.
    pub(super) fn count(&mut self, accounting: WindowAccounting) {
        if let Some(position) = self.left.last() {
            let (lost, sent) = &mut self.lost_of_sent[*position];
            *lost += accounting.lost();
            *sent += accounting.sent;
        }
    }

    /// Adds the result of a trial, in nanoseconds per datagram. NaN: unknown.
    pub(super) fn note(&mut self, nanoseconds: f64) {
        let Some(position) = self.left.pop() else {
            return;
        };
        self.current[position] = nanoseconds.is_finite().then(|| nanoseconds.ln());
        if !self.left.is_empty() {
            return;
        }
        let nothing = vec![None; self.values.len()];
        let round = std::mem::replace(&mut self.current, nothing);
        self.rounds.push(round);
        if judge::looks(self.asked.rounds).contains(&self.rounds.len()) {
            self.look();
        }
        self.begin_round();
    }

    /// Returns the parameter that is searched.
    pub fn call(&self) -> Call {
        self.call
    }

    /// Returns the number of complete rounds.
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// Returns the result so far. `None`: no round is complete, or the CPU time is unknown.
    pub fn found(&self) -> Option<Found> {
        let (knee, best) = self.estimate()?;
        let high = if self.open.is_empty() {
            self.lowest
        } else {
            self.highest().max(knee)
        };
        Some(Found {
            knee: self.values[knee],
            range: (self.values[self.lowest], self.values[high]),
            ns: self.median_ns(knee)?,
            over_one: (knee > 0)
                .then(|| Gain::of(&self.rounds, 0, knee, self.values[knee]))
                .flatten(),
            beyond: best
                .and_then(|larger| Gain::of(&self.rounds, knee, larger, self.values[larger])),
        })
    }

    /// Returns the values of the grid, each with the median of its nanoseconds per datagram.
    pub fn curve(&self) -> Vec<(u16, f64)> {
        let values = self.values.iter().enumerate();
        let of_all =
            values.filter_map(|(position, value)| Some((*value, self.median_ns(position)?)));
        of_all.collect()
    }

    /// Returns the part of the datagrams of a value that was lost, in percent. `None`: nothing was sent.
    pub fn loss_pct(&self, value: u16) -> Option<f64> {
        let position = self.values.iter().position(|it| *it == value)?;
        let (lost, sent) = self.lost_of_sent[position];
        (sent > 0).then(|| 100.0 * lost as f64 / sent as f64)
    }

    /// Returns the smallest value from the knee on of whose datagrams [`LOSSY_PCT`] or more were lost, and that part.
    /// `None`: there is none, or CPU time is compared, which no receiver limits.
    pub fn lossy(&self) -> Option<(u16, f64)> {
        let knee = self.found().filter(|_| self.asked.by == By::Speed)?.knee;
        let larger = self.values.iter().filter(|value| **value >= knee);
        let mut losses = larger.filter_map(|value| Some((*value, self.loss_pct(*value)?)));
        losses.find(|(_, loss_pct)| *loss_pct >= LOSSY_PCT)
    }

    /// Returns the estimated position of the knee, and of the best larger value. `None`: a gain is unknown.
    fn estimate(&self) -> Option<(usize, Option<usize>)> {
        let last = self.values.len() - 1;
        for position in self.lowest..last {
            let gains = self.gains(position)?;
            // The best of several noisy gains is too high. If none were above the threshold, one would seem so in half
            // of the searches.
            let seems = 0.5 / gains.len() as f64;
            if !gains
                .iter()
                .any(|(_, gain)| gain.p_above(self.threshold()) < seems)
            {
                let gains = gains
                    .iter()
                    .map(|(larger, gain)| (*larger, gain.estimate()));
                let best = gains.max_by(|a, b| a.1.total_cmp(&b.1));
                return Some((position, best.map(|(larger, _)| larger)));
            }
        }
        self.median_ns(last).map(|_| (last, None))
    }

    fn median_ns(&self, position: usize) -> Option<f64> {
        let logarithms = self.rounds.iter().filter_map(|round| round[position]);
        stats::median(logarithms.collect()).map(f64::exp)
    }

    /// Returns the gains of all larger values over this one. `None`: one is unknown.
    fn gains(&self, position: usize) -> Option<Vec<(usize, SignedRank)>> {
        let larger = position + 1..self.values.len();
        let gains = larger.map(|larger| {
            let gains = judge::gains(&self.rounds, position, larger)?;
            Some((larger, gains))
        });
        gains.collect()
    }

    /// Returns the largest gain that counts as none, as a difference of logarithms.
    fn threshold(&self) -> f64 {
        (self.asked.threshold_pct / 100.0).ln_1p()
    }

    /// Returns the lowest position, from `lowest` on, over which no larger one gains more than the threshold, surely.
    fn highest(&self) -> usize {
        let last = self.values.len() - 1;
        let risk = judge::risk(self.rounds.len(), self.asked.rounds);
        let is_surely_enough = |position: &usize| {
            (position + 1..=last).all(|larger| {
                let gains = judge::gains(&self.rounds, *position, larger);
                gains.is_some_and(|gains| gains.p_below(self.threshold()) < risk)
            })
        };
        let mut positions = self.lowest..=last;
        positions.find(is_surely_enough).unwrap_or(last)
    }

    /// Raises the lowest position as far as is sure, and tells which larger ones are still in question.
    fn look(&mut self) {
        let risk = judge::risk(self.rounds.len(), self.asked.rounds);
        let (threshold, last) = (self.threshold(), self.values.len() - 1);
        while let Some(gains) = self.gains(self.lowest) {
            // Any of these tests may err.
            let risk_of_each = risk / gains.len() as f64;
            let is_more = |gain: &SignedRank| gain.p_above(threshold) < risk_of_each;
            if self.lowest == last || !gains.iter().any(|(_, gain)| is_more(gain)) {
                let mut gains = gains;
                gains.retain(|(_, gain)| gain.p_below(threshold) >= risk);
                self.open = gains.into_iter().map(|(larger, _)| larger).collect();
                return;
            }
            self.lowest += 1;
        }
    }

    fn begin_round(&mut self) {
        if self.open.is_empty() || self.rounds.len() >= self.asked.rounds as usize {
            return;
        }
        self.left = self.open.clone();
        self.left.push(self.lowest);
        let seed = (u64::from(self.asked.seed) << 32) ^ self.rounds.len() as u64;
        fastrand::Rng::with_seed(seed).shuffle(&mut self.left);
    }
}

/// Returns the powers of two below `most`, and `most`.
fn grid(most: u16) -> Vec<u16> {
    let powers = (0..u16::BITS).map(|power| 1 << power);
    powers
        .take_while(|value| *value < most)
        .chain([most])
        .collect()
}
