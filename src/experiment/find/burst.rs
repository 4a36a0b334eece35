//! The longest train of datagrams, sent back to back, that is taken whole (RFC 9004).
//!
//! Trains begin at equal distances, so that whatever holds a train is empty when the next one comes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Next;
use super::borne::{self, Borne};
use super::loads::Goal;
use super::mlr::Found;
use super::place::Went;
use crate::data::{Arrivals, Case, Rate, Sample, Traits};
use crate::results::row::pacing::{burst, by_chance};
use crate::term::duration::ns;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// From the beginning of a train to that of the next one.
    #[serde(rename = "pause_ns", with = "ns")]
    pub pause: Duration,
    /// How long a trial is that counts in full: several trains.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// How long trials of trains whose length is a bound have to be together.
    #[serde(rename = "sum_ns", with = "ns")]
    pub sum: Duration,
    /// How close together the bounds have to be, in percent of the upper one.
    pub width_pct: f64,
}

impl Asked {
    /// About how many trials a search takes, and how long their windows are together.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let (trials, windows) = borne::expected(self.trial, self.sum);
        (trials + FEW_TRAINS, windows + self.pause * FEW_TRAINS)
    }

    /// Trains of more than half of the trials lose nothing.
    fn goal(&self) -> Goal {
        Goal {
            loss: 0.0,
            exceed: 0.5,
            trial_s: self.trial.as_secs_f64(),
            sum_s: self.sum.as_secs_f64(),
        }
    }
}

/// To double the length from one datagram to as many as buffers hold.
const FEW_TRAINS: u32 = 12;
/// Where a search begins, and doubles: in datagrams.
const START: u32 = 16;

/// A search, as far as it is.
#[derive(Clone, Debug)]
pub struct Burst {
    case: Case,
    sender: Traits,
    pause: Duration,
    /// Datagrams that the sender hands over at once: no train is shorter, and each is some of these.
    unit: u32,
    /// Loads are trains in units.
    pub(super) borne: Borne,
    rcvbuf_bytes: Option<u64>,
}

impl Burst {
    /// Nothing is known yet. `case` has no rate; `sender` is what its sender does.
    pub fn new(case: Case, sender: Traits, asked: Asked) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "1024 at most"
        )]
        let unit = (burst(&case, &sender) as u32).max(1);
        let start = START.div_ceil(unit);
        let most = most(asked.pause) / unit;
        Self {
            borne: Borne::new(
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

    /// The trial that tells most. `None`: it is found.
    pub fn next(&self) -> Option<Next> {
        let next = self.borne.next()?;
        let length = self.length(next.load);
        // Whole ones, for as long at least.
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

    /// A trial is over.
    pub fn take(&mut self, sample: &Sample) {
        // No search has asked for what is no case.
        if let Some((load, seconds, went)) = self.went(sample) {
            self.rcvbuf_bytes = Some(sample.rcvbuf_bytes).filter(|bytes| *bytes > 0);
            self.borne.take(load, seconds, went);
        }
    }

    /// The train of a trial, in units, its length in seconds, and how it went.
    pub(super) fn went(&self, sample: &Sample) -> Option<(u32, f64, Went)> {
        let case = Case::of_key(&sample.case)?;
        let length = match case.arrivals {
            Some(Arrivals::Train(length)) => length,
            _ => 1,
        };
        let seconds = sample.window_ns as f64 / 1e9;
        let due = self.per_second(length) * seconds;
        let by_chance = by_chance(&case, &self.sender, 1, due);
        let went = Went::of(sample, due, by_chance);
        Some((length / self.unit, seconds, went))
    }

    /// What the trials say, in datagrams.
    pub fn found(&self) -> Found {
        let Found {
            load,
            too_much,
            interval,
            ..
        } = self.borne.found();
        let length = |load: Option<u32>| load.map(|load| self.length(load));
        Found {
            load: length(load),
            too_much: length(too_much),
            throughput: None,
            interval: (length(interval.0), length(interval.1)),
        }
    }

    /// What the kernel granted as SO_RCVBUF, in bytes, if a trial has said so.
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

/// A train of more has hardly gone when the next one is due: a flood.
fn most(pause: Duration) -> u32 {
    let microseconds = u32::try_from(pause.as_micros()).unwrap_or(u32::MAX);
    microseconds.clamp(START, Arrivals::LONGEST_TRAIN)
}
