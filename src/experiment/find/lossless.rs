//! Searches for the highest rate at which a case loses nothing, or no more than the goal.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Next;
use super::load_search::{self, LoadSearch, LoadTrial};
use super::loads::Goal;
use super::mlr::Found;
use super::place::TrialOutcome;
use crate::data::{Case, EngineProperties, Rate, Sample};
use crate::results::row::by_chance;
use crate::text::duration::ns;

/// Question of a search for rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LosslessQuestion {
    /// Share of the datagrams of a trial that may be lost, in percent.
    pub goal_pct: f64,
    /// Share of the trials in which more may be lost, in percent.
    pub exceed_pct: f64,
    /// Length from which on a trial counts in full.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// Required sum of the lengths of the trials at a bound.
    #[serde(rename = "sum_ns", with = "ns")]
    pub sum: Duration,
    /// Required distance of the bounds, in percent of the upper one.
    pub width_pct: f64,
    /// Sum of the pauses between the rechecks of both bounds. Zero: there are no rechecks.
    #[serde(rename = "recheck_ns", with = "ns")]
    pub recheck: Duration,
}

impl LosslessQuestion {
    /// Estimates the number of trials of a search, and the sum of their windows.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let (trials, windows) = load_search::expected(self.trial, self.sum);
        // At both bounds.
        let again = 2 * self.rechecks();
        (trials + again, windows + self.trial * again)
    }

    fn rechecks(&self) -> u32 {
        let rechecks = self.recheck.as_millis().div_ceil(EVERY.as_millis());
        u32::try_from(rechecks).unwrap_or(u32::MAX)
    }

    fn goal(&self) -> Goal {
        Goal {
            loss: self.goal_pct / 100.0,
            exceed: self.exceed_pct / 100.0,
            trial_s: self.trial.as_secs_f64(),
            sum_s: self.sum.as_secs_f64(),
        }
    }
}

/// Longest pause before a recheck. Ten rechecks within a minute see both of two capacities that last for 25 s each in
/// 19 of 20 simulated searches, a single one after half a minute in 12 of 20.
const EVERY: Duration = Duration::from_secs(6);
/// First rate of a search, in datagrams per second. The search doubles it. A flood would also fill queues that ssh
/// needs. At this rate, short trials have some ten datagrams.
const START: u32 = 1000;

/// State of a search for rates.
#[derive(Clone, Debug)]
pub struct Lossless {
    case: Case,
    sender: EngineProperties,
    /// Pause before each recheck.
    pause: Duration,
    pub(super) load_search: LoadSearch,
}

impl Lossless {
    /// Creates a search without trials. `case` must have no rate. `sender` describes its sending engine.
    pub fn new(case: Case, sender: EngineProperties, asked: LosslessQuestion) -> Self {
        Self {
            case,
            sender,
            pause: asked.recheck / asked.rechecks().max(1),
            load_search: LoadSearch::new(asked.goal(), asked.width_pct / 100.0, START..=Rate::MAX)
                .with_rechecks(asked.rechecks() as usize),
        }
    }

    /// Returns the next trial. `None`: the rate is found.
    pub fn next(&self) -> Option<Next> {
        let next = self.load_search.next()?;
        let rate = Rate::nearest(f64::from(next.load));
        Some(Next {
            case: Case {
                rate: Some(rate.into()),
                ..self.case
            },
            window: Duration::from_secs_f64(next.seconds),
        })
    }

    /// Returns the shortest time between the trial before and the next one.
    pub fn pause(&self) -> Duration {
        if self.load_search.begins_recheck() {
            self.pause
        } else {
            Duration::ZERO
        }
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        // A search never asks for a trial without a rate.
        if let Some(trial) = self.evaluated(sample) {
            self.load_search.take(trial);
        }
    }

    /// Evaluates a trial. `None`: it has no rate.
    pub(super) fn evaluated(&self, sample: &Sample) -> Option<LoadTrial> {
        let rate = Case::of_key(&sample.case)?.rate?;
        let per_second = rate.per_second(self.case.payload);
        let seconds = sample.window_ns as f64 / 1e9;
        let due = per_second * seconds;
        let by_chance = by_chance(&self.case, &self.sender, 1, due);
        Some(LoadTrial {
            load: u32::from(Rate::nearest(per_second)),
            seconds,
            outcome: TrialOutcome::of(sample, due, by_chance),
        })
    }

    /// Returns the result so far. It has no interval if the machine was not steady.
    pub fn found(&self) -> Found {
        let found = self.load_search.found();
        if self.load_search.is_steady() {
            return found;
        }
        Found {
            interval: (None, None),
            ..found
        }
    }
}
