//! Searches for the longest train of datagrams, sent back to back, that arrives whole (RFC 9004).
//!
//! Trains begin at equal intervals. Buffers that hold a train are empty when the next one comes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Next;
use super::load_search::{self, LoadSearch, LoadTrial};
use super::loads::Goal;
use super::mlr::Found;
use super::place::TrialOutcome;
use crate::data::{Arrivals, Case, EngineProperties, Rate, Sample};
use crate::results::row::{burst, by_chance};
use crate::text::duration::ns;

/// Question of a search for trains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BurstQuestion {
    /// Time from the beginning of a train to the beginning of the next one.
    #[serde(rename = "pause_ns", with = "ns")]
    pub pause: Duration,
    /// Length from which on a trial counts in full: several trains.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// Required sum of the lengths of the trials at a bound.
    #[serde(rename = "sum_ns", with = "ns")]
    pub sum: Duration,
    /// Required distance of the bounds, in percent of the upper one.
    pub width_pct: f64,
}

impl BurstQuestion {
    /// Estimates the number of trials of a search, and the sum of their windows.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let (trials, windows) = load_search::expected(self.trial, self.sum);
        (trials + FEW_TRAINS, windows + self.pause * FEW_TRAINS)
    }

    /// Returns the goal: at most half of the trials lose anything.
    fn goal(&self) -> Goal {
        Goal {
            loss: 0.0,
            exceed: 0.5,
            trial_s: self.trial.as_secs_f64(),
            sum_s: self.sum.as_secs_f64(),
        }
    }
}

/// Number of trials in which the length doubles from one datagram to the buffer capacity.
const FEW_TRAINS: u32 = 12;
/// First length of a search, in datagrams. The search doubles it.
const START: u32 = 16;

/// State of a search for trains.
#[derive(Clone, Debug)]
pub struct Burst {
    case: Case,
    sender: EngineProperties,
    pause: Duration,
    /// Datagrams that the sender hands over at once. The length of each train is a multiple of this.
    unit: u32,
    /// Search over loads, which are lengths of trains in units.
    pub(super) load_search: LoadSearch,
    rcvbuf_bytes: Option<u64>,
}

impl Burst {
    /// Creates a search without trials. `case` must have no rate. `sender` describes its sending engine.
    pub fn new(case: Case, sender: EngineProperties, asked: BurstQuestion) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "1024 at most"
        )]
        let unit = (burst(&case, &sender) as u32).max(1);
        let start = START.div_ceil(unit);
        let most = most(asked.pause) / unit;
        Self {
            load_search: LoadSearch::new(
                asked.goal(),
                asked.width_pct / 100.0,
                start..=most.max(start),
            ),
            case,
            sender,
            pause: asked.pause,
            unit,
            rcvbuf_bytes: None,
        }
    }

    /// Returns the next trial. `None`: the length is found.
    pub fn next(&self) -> Option<Next> {
        let next = self.load_search.next()?;
        let length = self.length(next.load);
        // Whole trains, for at least this long.
        let trains = (next.seconds / self.pause.as_secs_f64() - 1e-6).ceil();
        let rate = Rate::nearest(self.per_second(length));
        Some(Next {
            case: Case {
                rate: Some(rate.into()),
                arrivals: (length > 1).then_some(Arrivals::Train(length)),
                ..self.case
            },
            window: self.pause.mul_f64(trains),
        })
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        // A search never asks for a key that is no case.
        if let Some(trial) = self.evaluated(sample) {
            self.rcvbuf_bytes = Some(sample.rcvbuf_bytes).filter(|bytes| *bytes > 0);
            self.load_search.take(trial);
        }
    }

    /// Evaluates a trial. Its load is the length of its trains in units. `None`: its key is no case.
    pub(super) fn evaluated(&self, sample: &Sample) -> Option<LoadTrial> {
        let case = Case::of_key(&sample.case)?;
        let length = match case.arrivals {
            Some(Arrivals::Train(length)) => length,
            _ => 1,
        };
        let seconds = sample.window_ns as f64 / 1e9;
        let due = self.per_second(length) * seconds;
        let by_chance = by_chance(&case, &self.sender, 1, due);
        Some(LoadTrial {
            load: length / self.unit,
            seconds,
            outcome: TrialOutcome::of(sample, due, by_chance),
        })
    }

    /// Returns the result so far, in datagrams.
    pub fn found(&self) -> Found {
        let Found {
            load,
            too_much,
            interval,
            ..
        } = self.load_search.found();
        let length = |load: Option<u32>| load.map(|load| self.length(load));
        Found {
            load: length(load),
            too_much: length(too_much),
            throughput: None,
            interval: (length(interval.0), length(interval.1)),
        }
    }

    /// Returns the SO_RCVBUF that the kernel granted, in bytes. `None`: no trial has told it.
    pub fn rcvbuf_bytes(&self) -> Option<u64> {
        self.rcvbuf_bytes
    }

    fn length(&self, load: u32) -> u32 {
        load.saturating_mul(self.unit)
    }

    fn per_second(&self, length: u32) -> f64 {
        f64::from(length) / self.pause.as_secs_f64()
    }
}

/// Returns the longest train to try, in datagrams. A longer train would be hardly over when the next one is due: a
/// flood.
fn most(pause: Duration) -> u32 {
    let microseconds = u32::try_from(pause.as_micros()).unwrap_or(u32::MAX);
    microseconds.clamp(START, Arrivals::LONGEST_TRAIN)
}
