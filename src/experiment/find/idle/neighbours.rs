//! Two neighbouring silences on the grid: the results of their trials, and the test whether they differ.

use statrs::distribution::{DiscreteCDF, Hypergeometric};

use crate::data::Sample;
use crate::experiment::find::rounds::Difference;
use crate::stats;
use crate::sys::idle_states::IdleTimes;

/// Half width of a 95 % interval, in standard errors (Student's t), of a mean of twelve differences. Twelve rounds
/// confirm a step.
const BOUND: f64 = 2.201;
/// Smallest difference in loss that counts as a step.
const LEAST_LOSS: f64 = 0.1;
/// Smallest increase of the share of time in an idle state by which the state explains a step.
const LEAST_ENTERED: f64 = 0.2;

/// Idle state, with the share of time that CPUs are in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entered {
    /// Name that the driver gives the state.
    pub name: String,
    /// Share before the step, 0 to 1.
    pub before: f64,
    /// Share after the step, 0 to 1.
    pub behind: f64,
}

/// Results of a trial.
#[derive(Clone, Debug, Default)]
pub(in crate::experiment::find) struct Probed {
    /// Median round trip in nanoseconds. `None`: there are no round trips.
    pub(in crate::experiment::find) median_ns: Option<f64>,
    /// Requests with a response, and requests without one.
    pub(in crate::experiment::find) answered: u64,
    pub(in crate::experiment::find) unanswered: u64,
    pub(in crate::experiment::find) idle: IdleTimes,
    pub(in crate::experiment::find) window_ns: u64,
}

impl Probed {
    pub(super) fn of(sample: &Sample) -> Self {
        let Some(trips) = &sample.round_trips else {
            return Self::default();
        };
        let answered = trips.times.count();
        // Without any response, a request sent before the window is still waited for in the whole window.
        let waits_in_vain = u64::from(answered == 0);
        Self {
            median_ns: trips.times.quantile(0.5),
            answered,
            unanswered: trips.unanswered.max(waits_in_vain),
            idle: sample.idle_times.clone(),
            window_ns: sample.window_ns,
        }
    }
}

/// Two neighbouring silences.
pub(super) struct Neighbours<'a> {
    pub(super) before: Seen<'a>,
    pub(super) behind: Seen<'a>,
    /// Increase of the round trip after the step, as a difference of logarithms.
    longer: Difference,
}

impl<'a> Neighbours<'a> {
    /// Compares the silence at a position of the grid with the next one.
    pub(super) fn of(rounds: &'a [Vec<Probed>], place: usize) -> Self {
        let longer = rounds.iter().filter_map(|round| {
            let (before, behind) = (round[place].median_ns?, round[place + 1].median_ns?);
            Some((behind / before).ln())
        });
        Self {
            before: Seen::at(rounds, place),
            behind: Seen::at(rounds, place + 1),
            longer: Difference::of(longer),
        }
    }

    /// Returns the size of the step, if there is one. It is a difference of logarithms, or a difference in loss times
    /// 1000: loss matters more than any delay.
    pub(super) fn step(&self, least: f64, by_chance: f64) -> Option<f64> {
        const LOSS: f64 = 1000.0;
        let lost = (self.behind.loss() - self.before.loss()).abs();
        if lost >= LEAST_LOSS && self.p_of_loss() < by_chance {
            return Some(LOSS * lost);
        }
        let longer = self.longer;
        (longer.is_one() && longer.mean.abs() >= least).then_some(longer.mean.abs())
    }

    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        let longer = self.longer;
        let bounds = (longer.part(-BOUND), longer.part(BOUND));
        longer.error.is_finite().then_some(bounds)
    }

    /// Returns the probability that loss differs this much by chance alone: two-sided Fisher's exact test.
    fn p_of_loss(&self) -> f64 {
        let (before, behind) = (self.before.requests(), self.behind.requests());
        let lost = [before.1, behind.1];
        let asked = before.0 + before.1 + behind.0 + behind.1;
        let all_lost = lost[0] + lost[1];
        let of = |(answered, unanswered): (u64, u64)| {
            let several = Hypergeometric::new(asked, all_lost, answered + unanswered).ok()?;
            let fewer = unanswered.checked_sub(1)?;
            Some(several.sf(fewer))
        };
        let more_before = of(before).unwrap_or(1.0);
        let more_behind = of(behind).unwrap_or(1.0);
        (2.0 * more_before.min(more_behind)).min(1.0)
    }

    /// Returns the idle state that CPUs enter only after the step. Of several states it is the one whose share grows
    /// most.
    pub(super) fn idle_state(&self) -> Option<Entered> {
        let (before, behind) = (self.before.idle_shares(), self.behind.idle_shares());
        let grown = behind.into_iter().filter_map(|(name, behind)| {
            let was = before.iter().find(|(other, _)| *other == name);
            let before = was.map_or(0.0, |(_, share)| *share);
            (behind - before >= LEAST_ENTERED).then_some(Entered {
                name,
                before,
                behind,
            })
        });
        grown.max_by(|a, b| (a.behind - a.before).total_cmp(&(b.behind - b.before)))
    }
}

/// Trials of a silence.
pub(super) struct Seen<'a> {
    trials: Vec<&'a Probed>,
}

impl<'a> Seen<'a> {
    pub(super) fn at(rounds: &'a [Vec<Probed>], place: usize) -> Self {
        Self {
            trials: rounds.iter().map(|round| &round[place]).collect(),
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

    pub(super) fn loss(&self) -> f64 {
        let (answered, unanswered) = self.requests();
        unanswered as f64 / (answered + unanswered).max(1) as f64
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
