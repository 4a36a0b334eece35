//! Two neighbouring silences on the grid: the results of their trials, and the test whether they differ.

use statrs::distribution::{DiscreteCDF, Hypergeometric};

use crate::data::Sample;
use crate::experiment::find::rounds::Difference;
use crate::stats;
use crate::sys::idle_states::IdleTimes;

/// Smallest difference in loss that counts as a step.
const LEAST_LOSS: f64 = 0.1;
/// Smallest increase of the share of time in an idle state by which the state explains a step.
const LEAST_SHARE_INCREASE: f64 = 0.2;

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

/// Size of a step. A step in loss is larger than every step in the round trip: loss matters more than any delay.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum StepSize {
    /// Change of the round trip, as a difference of logarithms without sign.
    RoundTrip(f64),
    /// Change of the share of requests without a response, without sign.
    Loss(f64),
}

/// Results of a trial.
#[derive(Clone, Debug, Default)]
pub(in crate::experiment::find) struct TrialResult {
    /// Median round trip in nanoseconds. `None`: there are no round trips.
    pub(in crate::experiment::find) median_ns: Option<f64>,
    /// Requests with a response, and requests without one.
    pub(in crate::experiment::find) answered: u64,
    pub(in crate::experiment::find) unanswered: u64,
    pub(in crate::experiment::find) idle: IdleTimes,
    pub(in crate::experiment::find) window_ns: u64,
}

impl TrialResult {
    pub(super) fn new(sample: &Sample) -> Self {
        let Some(trips) = &sample.round_trips else {
            return Self::default();
        };
        let answered = trips.times.count();
        // A client that got no response at all was blocked on one request: count it as unanswered.
        let blocked = u64::from(answered == 0);
        Self {
            median_ns: trips.times.quantile(0.5),
            answered,
            unanswered: trips.unanswered.max(blocked),
            idle: sample.idle_times.clone(),
            window_ns: sample.window_ns,
        }
    }
}

/// Two neighbouring silences.
pub(super) struct Neighbours<'a> {
    pub(super) before: SilenceTrials<'a>,
    pub(super) after: SilenceTrials<'a>,
    /// Increase of the round trip after the step, as a difference of logarithms.
    pub(super) log_ratio: Difference,
}

impl<'a> Neighbours<'a> {
    /// Compares the silence at a position of the grid with the next one.
    pub(super) fn new(rounds: &'a [Vec<TrialResult>], grid_index: usize) -> Self {
        let log_ratios = rounds.iter().filter_map(|round| {
            let before_ns = round[grid_index].median_ns?;
            let after_ns = round[grid_index + 1].median_ns?;
            Some((after_ns / before_ns).ln())
        });
        Self {
            before: SilenceTrials::at(rounds, grid_index),
            after: SilenceTrials::at(rounds, grid_index + 1),
            log_ratio: Difference::of(log_ratios),
        }
    }

    /// Returns the size of the step, if there is one: a difference in loss that has a probability below `by_chance`, or
    /// else a difference of logarithms of at least `least`.
    pub(super) fn step(&self, least: f64, by_chance: f64) -> Option<StepSize> {
        if let (Some(before), Some(after)) = (self.before.loss(), self.after.loss()) {
            let change = (after - before).abs();
            if change >= LEAST_LOSS && self.p_of_loss() < by_chance {
                return Some(StepSize::Loss(change));
            }
        }
        let change = self.log_ratio.mean.abs();
        let is_step = self.log_ratio.is_significant() && change >= least;
        is_step.then_some(StepSize::RoundTrip(change))
    }

    /// Returns the 95 % interval of the relative change of the round trip. `None`: fewer than two rounds have round
    /// trips of both silences.
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let is_known = self.log_ratio.error.is_finite();
        is_known.then(|| self.log_ratio.interval())
    }

    /// Returns the probability that loss differs this much by chance alone: Fisher's exact test, twice the smaller
    /// one-sided tail.
    fn p_of_loss(&self) -> f64 {
        let (before, after) = (self.before.requests(), self.after.requests());
        let unanswered = before.1 + after.1;
        let requests = before.0 + after.0 + unanswered;
        let tail = |(answered, unanswered_of_one): (u64, u64)| {
            let of_one = answered + unanswered_of_one;
            let distribution = Hypergeometric::new(requests, unanswered, of_one).ok()?;
            Some(distribution.sf(unanswered_of_one.checked_sub(1)?))
        };
        let more_before = tail(before).unwrap_or(1.0);
        let more_after = tail(after).unwrap_or(1.0);
        (2.0 * more_before.min(more_after)).min(1.0)
    }

    /// Returns the idle state whose share of time grows most at the step, by at least [`LEAST_SHARE_INCREASE`].
    pub(super) fn idle_state(&self) -> Option<IdleShare> {
        let (shares_before, shares_after) = (self.before.idle_shares(), self.after.idle_shares());
        let grown = shares_after.into_iter().filter_map(|(name, after)| {
            let same_state = shares_before.iter().find(|(other, _)| *other == name);
            let before = same_state.map_or(0.0, |(_, share)| *share);
            (after - before >= LEAST_SHARE_INCREASE).then_some(IdleShare {
                name,
                before,
                after,
            })
        });
        grown.max_by(|a, b| (a.after - a.before).total_cmp(&(b.after - b.before)))
    }
}

/// Trials of a silence.
pub(super) struct SilenceTrials<'a> {
    trials: Vec<&'a TrialResult>,
}

impl<'a> SilenceTrials<'a> {
    pub(super) fn at(rounds: &'a [Vec<TrialResult>], grid_index: usize) -> Self {
        Self {
            trials: rounds.iter().map(|round| &round[grid_index]).collect(),
        }
    }

    /// Returns the median of the trials.
    pub(super) fn median_ns(&self) -> Option<f64> {
        stats::median(
            self.trials
                .iter()
                .filter_map(|trial| trial.median_ns)
                .collect(),
        )
    }

    /// Returns the number of requests with a response, and without one.
    fn requests(&self) -> (u64, u64) {
        let answered = self.trials.iter().map(|trial| trial.answered).sum();
        let unanswered = self.trials.iter().map(|trial| trial.unanswered).sum();
        (answered, unanswered)
    }

    /// Returns the share of requests without a response. `None`: there were no requests.
    pub(super) fn loss(&self) -> Option<f64> {
        let (answered, unanswered) = self.requests();
        let requests = answered + unanswered;
        (requests > 0).then(|| unanswered as f64 / requests as f64)
    }

    /// Returns the share of the CPUs' time in each idle state.
    fn idle_shares(&self) -> Vec<(String, f64)> {
        let mut all = IdleTimes::default();
        let mut window_ns = 0;
        for trial in &self.trials {
            all.add(&trial.idle);
            window_ns += trial.window_ns * trial.idle.cpus as u64;
        }
        let share = |ns: u64| ns as f64 / window_ns.max(1) as f64;
        let states = all.states.into_iter();
        states.map(|state| (state.name, share(state.ns))).collect()
    }
}
