//! Searches along one parameter: from which value on a round trip or a datagram takes longer, or requests are lost
//! (`cliff`, `idle`), and from which value on more brings little (`knee`).
//!
//! Values on a grid are measured in rounds, each in another order. Only values of the same round are compared, by the
//! signed-rank test (`rounds`). Neighbours that differ are measured again, and bisected where there are values between
//! them (`steps`); or the lowest value in question is compared with all larger ones (`knee`).

use std::fmt::Debug;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::knee::Knee;
use self::parameter::PROBES;
use self::rounds::{Quantity, Rounds};
use self::steps::Steps;
use super::NextTrial;
use crate::data::{Batch, Case, Sample};
use crate::stats::CONFIDENCE;
use crate::text::duration::ns;
use crate::verdict::judge::Metric;

pub use self::parameter::Parameter;
pub(super) use self::rounds::AxisTrial;
pub use self::rounds::IdleShare;

mod knee;
mod parameter;
mod rounds;
mod steps;

/// Question of a search along a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AxisQuestion {
    /// Parameter that is searched.
    pub parameter: Parameter,
    /// Quantity that is compared.
    pub by: Metric,
    /// Smallest change that is looked for, in percent.
    pub threshold_pct: f64,
    /// Highest number of rounds in which the same values are compared.
    pub rounds: u32,
    /// Length of a trial. A trial lasts at least three silences.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// Seed of the order of trials.
    pub seed: u32,
}

impl AxisQuestion {
    /// Estimates the number of trials of a search, and the sum of their windows: half of the rounds of a knee, or the
    /// grid and one step.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let grid = self.parameter.grid(Batch::MAX);
        let (rounds, extra) = match self.parameter {
            Parameter::Call => (self.rounds / 2, 0),
            _ => steps::expected(self.parameter, &grid),
        };
        let of_round: Duration = grid.iter().map(|value| self.window(*value)).sum();
        let of_extra = self.window(grid[grid.len() / 2]);
        let trials = u32::try_from(grid.len()).unwrap_or(u32::MAX);
        let trials = trials.saturating_mul(rounds) + extra;
        (trials, of_round * rounds + of_extra * extra)
    }

    fn window(&self, value: u64) -> Duration {
        match self.parameter {
            Parameter::Silence { .. } => {
                let silences = Duration::from_nanos(value).mul_f64(PROBES);
                self.trial.max(silences)
            }
            _ => self.trial,
        }
    }

    /// Returns the smallest change of a time, as a difference of logarithms.
    fn threshold(&self) -> f64 {
        (self.threshold_pct / 100.0).ln_1p()
    }
}

/// State of a search along a parameter.
#[derive(Debug)]
pub struct AxisSearch {
    case: Case,
    asked: AxisQuestion,
    method: Box<dyn Method>,
}

/// Choice of the next value, and evaluation of the trials. It looks for values at which the time or the loss changes
/// ([`Steps`]), or for the value from which on more brings little ([`Knee`]).
trait Method: Debug + Send {
    /// Returns the value of the next trial. `None`: the search is over.
    fn next(&self) -> Option<u64>;

    /// Adds a trial of that value.
    fn take(&mut self, trial: AxisTrial);

    /// Returns what is found so far, sorted by value.
    fn found(&self) -> Vec<Finding>;

    /// Returns the smallest change that 9 of 10 searches find: see [`AxisSearch::detectable`].
    fn detectable(&self) -> Option<f64>;

    /// Returns the rounds of all values.
    fn grid(&self) -> &Rounds;
}

impl AxisSearch {
    /// Creates a search without trials. The parameter of `case` is ignored, except that it is the highest number of
    /// datagrams per call.
    pub fn new(case: Case, asked: AxisQuestion) -> Self {
        let grid = asked.parameter.grid(Parameter::per_call(&case));
        let method: Box<dyn Method> = match asked.parameter {
            Parameter::Call => Box::new(Knee::new(grid, asked)),
            _ => Box::new(Steps::new(grid, asked, case.is_rr())),
        };
        Self {
            case,
            asked,
            method,
        }
    }

    /// Returns the next trial. `None`: the search is over.
    pub fn next(&self) -> Option<NextTrial> {
        let value = self.method.next()?;
        Some(NextTrial {
            case: self.asked.parameter.set(&self.case, value)?,
            window: self.asked.window(value),
        })
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        self.note(AxisTrial::new(sample, self.asked.by));
    }

    /// Adds the results of a trial.
    pub(super) fn note(&mut self, trial: AxisTrial) {
        self.method.take(trial);
    }

    /// Returns what is found so far, sorted by value.
    pub fn found(&self) -> Vec<Finding> {
        self.method.found()
    }

    /// Returns what is found so far, or one `None`.
    pub(super) fn found_or_none(&self) -> Vec<Option<Finding>> {
        let found = self.found();
        let nothing = found.is_empty().then_some(None);
        found.into_iter().map(Some).chain(nothing).collect()
    }

    /// Returns the smallest change, as a fraction, that 9 of 10 searches find at the scatter of this one. `None`: it
    /// has too few rounds, or is one for a knee.
    pub fn detectable(&self) -> Option<f64> {
        self.method.detectable()
    }

    /// Returns the name of the parameter that is searched.
    pub fn parameter(&self) -> &'static str {
        self.asked.parameter.name(&self.case)
    }

    /// Returns each value of the grid, with the median of its nanoseconds, and the share that was lost.
    pub fn curve(&self) -> Vec<(u64, Option<f64>, Option<f64>)> {
        let grid = self.method.grid();
        let values = grid.values().iter().enumerate();
        let of_all = values.map(|(n, value)| (*value, grid.median_ns(n), grid.loss(n)));
        of_all.collect()
    }

    /// Returns the smallest value from the knee on of whose datagrams this share or more was lost, and that share.
    /// `None`: there is none, or CPU time is compared, which no receiver limits.
    pub fn lossy(&self, least: f64) -> Option<(u64, f64)> {
        let is_of_calls = self.asked.parameter == Parameter::Call && self.asked.by == Metric::Speed;
        let knee = self.found().first().filter(|_| is_of_calls)?.at;
        let curve = self.curve().into_iter();
        let mut losses = curve.filter_map(|(value, _, loss)| Some((value, loss?)));
        losses.find(|(value, loss)| *value >= knee && *loss >= least)
    }

    /// Returns the smallest and the largest value of the grid.
    pub fn range(&self) -> (u64, u64) {
        let values = self.method.grid().values();
        (values[0], values[values.len() - 1])
    }

    /// Returns the number of complete rounds of the grid.
    pub fn rounds(&self) -> usize {
        self.method.grid().count()
    }
}

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
    pub change: Option<TimeChange>,
    /// Share that was lost before and after it. `None`: nothing was sent.
    pub loss: (Option<f64>, Option<f64>),
    /// Idle state whose share of the CPUs' time grows most, by at least a fifth of the time.
    pub idle_state: Option<IdleShare>,
    /// Larger value than the knee that takes least time, and its change. `None`: this is no knee, or the highest value.
    pub beyond: Option<(u64, TimeChange)>,
}

/// Relative change of a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeChange {
    /// Change, as a fraction.
    pub estimate: f64,
    /// 95 % interval of the change. Infinite with too few rounds.
    pub interval: (f64, f64),
}

impl Finding {
    /// Compares the values at two positions.
    fn between(rounds: &Rounds, (before, after): (usize, usize)) -> Self {
        let values = rounds.values();
        Self {
            at: values[after],
            range: (values[before], values[after]),
            ns: (rounds.median_ns(before), rounds.median_ns(after)),
            change: TimeChange::between(rounds, before, after),
            loss: (rounds.loss(before), rounds.loss(after)),
            idle_state: rounds.idle_state(before, after),
            beyond: None,
        }
    }
}

impl TimeChange {
    /// Returns the change from one position to another. `None`: they are the same, or no round has both times.
    fn between(rounds: &Rounds, from: usize, to: usize) -> Option<Self> {
        let difference = rounds.difference(Quantity::Time, from, to)?;
        let (low, high) = difference.interval(CONFIDENCE);
        (from != to).then(|| Self {
            estimate: difference.estimate().exp_m1(),
            interval: (low.exp_m1(), high.exp_m1()),
        })
    }
}
