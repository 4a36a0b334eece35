//! The highest rate at which a case loses nothing, or no more than the goal.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Next;
use super::borne::{self, Borne};
use super::loads::Goal;
use super::mlr::Found;
use super::place::Went;
use super::steady::CpuTimes;
use crate::data::{Case, Rate, Sample, Traits};
use crate::results::row::pacing::by_chance;
use crate::term::duration::ns;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The share of the datagrams of a trial that may be lost, in percent.
    pub goal_pct: f64,
    /// The share of the trials in which more may be lost, in percent.
    pub exceed_pct: f64,
    /// How long a trial is that counts in full.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// How long trials at a rate that is a bound have to be together.
    #[serde(rename = "sum_ns", with = "ns")]
    pub sum: Duration,
    /// How close together the bounds have to be, in percent of the upper one.
    pub width_pct: f64,
}

impl Asked {
    /// About how many trials a search takes, and how long their windows are together.
    pub(super) fn expected(&self) -> (u32, Duration) {
        borne::expected(self.trial, self.sum)
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

/// Where a search begins, and doubles: a flood would fill queues that ssh needs, too. Short trials have some ten datagrams.
const START: u32 = 1000;

/// A search, as far as it is.
#[derive(Clone, Debug)]
pub struct Lossless {
    case: Case,
    sender: Traits,
    pub(super) borne: Borne,
}

impl Lossless {
    /// Nothing is known yet. `case` has no rate; `sender` is what its sender does.
    pub fn new(case: Case, sender: Traits, asked: Asked) -> Self {
        Self {
            case,
            sender,
            borne: Borne::new(asked.goal(), asked.width_pct / 100.0, START..=Rate::MAX),
        }
    }

    /// The trial that tells most. `None`: it is found.
    pub fn next(&self) -> Option<Next> {
        let next = self.borne.next()?;
        let rate = Rate::nearest(f64::from(next.load));
        Some(Next {
            case: Case {
                rate: Some(rate.into()),
                ..self.case
            },
            window: Duration::from_secs_f64(next.seconds),
        })
    }

    /// A trial is over.
    pub fn take(&mut self, sample: &Sample) {
        // No search has asked for what has no rate.
        if let Some((load, seconds, went)) = self.went(sample) {
            self.borne.take(load, seconds, went);
        }
    }

    /// The rate of a trial, its length in seconds, and how it went.
    pub(super) fn went(&self, sample: &Sample) -> Option<(u32, f64, Went)> {
        let rate = Case::of_key(&sample.case)?.rate?;
        let per_second = rate.per_second(self.case.payload);
        let seconds = sample.window_ns as f64 / 1e9;
        let due = per_second * seconds;
        let by_chance = by_chance(&self.case, &self.sender, 1, due);
        let went = Went::of(sample, due, by_chance);
        Some((u32::from(Rate::nearest(per_second)), seconds, went))
    }

    /// What the trials say.
    pub fn found(&self) -> Found {
        self.borne.found()
    }

    /// Where a CPU gave way: how much of its time a datagram or a request took, from trial to trial.
    pub fn cpu_times(&self) -> Option<CpuTimes> {
        self.borne.cpu_times()
    }
}
