//! What a search has found: a value from which on something differs.

use super::rounds::Rounds;
use super::trial::Quantity;
use crate::stats::CONFIDENCE;

/// Smallest increase of the share of time in an idle state by which the state explains a step.
const LEAST_SHARE_INCREASE: f64 = 0.2;

/// Value from which on the time or the loss differs, compared with a value before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// First value after the step, or the knee. 1: there is no knee.
    pub at: u64,
    /// Last value before a step and first value after it; or the lowest and the highest value that may be the knee.
    pub range: (u64, u64),
    /// Nanoseconds of a round trip, or per datagram, before and after it. `None`: nothing arrived, or it is unknown.
    pub ns: (Option<f64>, Option<f64>),
    /// Change of the time. `None`: nothing arrived, or there is no knee.
    pub change: Option<Change>,
    /// Share that was lost before and after it. `None`: nothing was sent.
    pub loss: (Option<f64>, Option<f64>),
    /// Idle state whose share of the CPUs' time grows most, by at least a fifth of the time.
    pub idle_state: Option<IdleShare>,
    /// Larger value than the knee that takes least time, and its change. `None`: this is no knee, or the highest value.
    pub beyond: Option<(u64, Change)>,
}

/// Relative change of a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Change, as a fraction.
    pub estimate: f64,
    /// 95 % interval of the change. Infinite with too few rounds.
    pub interval: (f64, f64),
}

/// Idle state, with the share of time that CPUs are in it.
#[derive(Clone, Debug, PartialEq)]
pub struct IdleShare {
    /// Name that the driver gives the state.
    pub name: String,
    /// Share before the step, 0 to 1.
    pub before: f64,
    /// Share after the step, 0 to 1.
    pub after: f64,
}

impl Finding {
    /// Compares the values at two positions.
    pub(super) fn between(rounds: &Rounds, (before, after): (usize, usize)) -> Self {
        let values = rounds.values();
        Self {
            at: values[after],
            range: (values[before], values[after]),
            ns: (rounds.median_ns(before), rounds.median_ns(after)),
            change: Change::between(rounds, before, after),
            loss: (rounds.loss(before), rounds.loss(after)),
            idle_state: IdleShare::grown(rounds, before, after),
            beyond: None,
        }
    }
}

impl Change {
    /// Returns the change from one position to another. `None`: they are the same, or no round has both times.
    pub(super) fn between(rounds: &Rounds, from: usize, to: usize) -> Option<Self> {
        let difference = rounds.difference(Quantity::Time, from, to)?;
        let (low, high) = difference.interval(CONFIDENCE);
        (from != to).then(|| Self {
            estimate: difference.estimate().exp_m1(),
            interval: (low.exp_m1(), high.exp_m1()),
        })
    }
}

impl IdleShare {
    fn grown(rounds: &Rounds, before: usize, after: usize) -> Option<Self> {
        let shares_before = rounds.idle_shares(before);
        let grown = rounds
            .idle_shares(after)
            .into_iter()
            .filter_map(|(name, after)| {
                let same_state = shares_before.iter().find(|(other, _)| *other == name);
                let before = same_state.map_or(0.0, |(_, share)| *share);
                (after - before >= LEAST_SHARE_INCREASE).then_some(Self {
                    name,
                    before,
                    after,
                })
            });
        grown.max_by(|a, b| (a.after - a.before).total_cmp(&(b.after - b.before)))
    }
}
