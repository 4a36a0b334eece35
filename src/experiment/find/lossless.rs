//! Searches for the highest rate, or the longest train of datagrams sent back to back (RFC 9004), at which a case loses
//! nothing, or no more than the goal.
//!
//! Trains begin at equal intervals. Buffers that hold a train are empty when the next one comes.

use std::time::Duration;

use super::NextTrial;
use super::header::{BurstQuestion, LosslessQuestion};
use super::load_search::{LoadSearch, LoadTrial};
use super::loads::FoundLoad;
use super::place::TrialOutcome;
use crate::data::{Arrivals, Case, EngineProperties, Rate, Sample};
use crate::results::row::{burst, by_chance};
use crate::text::digits::whole_u32;

/// First rate of a search, in datagrams per second. The search doubles it. A flood would also fill queues that ssh
/// needs. At this rate, short trials have some ten datagrams.
const FIRST_RATE: u32 = 1000;
/// First train of a search, in datagrams. The search doubles it.
const FIRST_TRAIN: u32 = 16;

/// State of a search for rates or for trains.
#[derive(Clone, Debug)]
pub struct Lossless {
    case: Case,
    sender: EngineProperties,
    /// Trains that are searched. `None`: rates are.
    trains: Option<Trains>,
    /// Pause before each recheck.
    pause: Duration,
    pub(super) load_search: LoadSearch,
    /// SO_RCVBUF that the kernel granted, in bytes. `None`: no trial has told it.
    pub(super) rcvbuf_bytes: Option<u64>,
}

/// Trains of a search. Their loads are lengths in units.
#[derive(Clone, Copy, Debug)]
struct Trains {
    /// Time from the beginning of a train to the beginning of the next one, in seconds.
    pause: f64,
    /// Datagrams that the sender hands over at once. The length of each train is a multiple of this.
    unit: u32,
}

impl Lossless {
    /// Creates a search for a rate without trials. `case` must have no rate. `sender` describes its sending engine.
    pub fn rate(case: Case, sender: EngineProperties, asked: LosslessQuestion) -> Self {
        let (loads, rechecks) = (FIRST_RATE..=Rate::MAX, asked.rechecks());
        Self {
            case,
            sender,
            trains: None,
            pause: asked.recheck / rechecks.max(1),
            load_search: LoadSearch::new(asked.goal(), loads, rechecks as usize),
            rcvbuf_bytes: None,
        }
    }

    /// Creates a search for a train without trials.
    pub fn train(case: Case, sender: EngineProperties, asked: BurstQuestion) -> Self {
        let unit = whole_u32(burst(&case, &sender)).max(1);
        // A longer train would be hardly over when the next one is due: a flood.
        let microseconds = u32::try_from(asked.pause.as_micros()).unwrap_or(u32::MAX);
        let most = microseconds.clamp(FIRST_TRAIN, Arrivals::LONGEST_TRAIN) / unit;
        let start = FIRST_TRAIN.div_ceil(unit);
        let pause = asked.pause.as_secs_f64();
        Self {
            case,
            sender,
            trains: Some(Trains { pause, unit }),
            pause: Duration::ZERO,
            load_search: LoadSearch::new(asked.goal(), start..=most.max(start), 0),
            rcvbuf_bytes: None,
        }
    }

    /// Returns the next trial. `None`: the load is found.
    pub fn next(&self) -> Option<NextTrial> {
        let next = self.load_search.next()?;
        let Some(Trains { pause, unit }) = self.trains else {
            let rate = Some(Rate::nearest(f64::from(next.load)).into());
            return Some(NextTrial {
                case: Case { rate, ..self.case },
                window: Duration::from_secs_f64(next.seconds),
            });
        };
        let length = next.load.saturating_mul(unit);
        // Whole trains, for at least this long.
        let trains = (next.seconds / pause - 1e-6).ceil();
        Some(NextTrial {
            case: Case {
                rate: Some(Rate::nearest(f64::from(length) / pause).into()),
                arrivals: (length > 1).then_some(Arrivals::Train(length)),
                ..self.case
            },
            window: Duration::from_secs_f64(pause * trains),
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
        // A search never asks for a trial without a load.
        if let Some(trial) = self.evaluated(sample) {
            self.rcvbuf_bytes = Some(sample.rcvbuf_bytes).filter(|bytes| *bytes > 0);
            self.load_search.take(trial);
        }
    }

    /// Evaluates a trial. `None`: it has no load.
    pub(super) fn evaluated(&self, sample: &Sample) -> Option<LoadTrial> {
        let case = Case::of_key(&sample.case)?;
        let (load, per_second) = match self.trains {
            None => {
                let per_second = case.rate?.per_second(case.payload);
                (u32::from(Rate::nearest(per_second)), per_second)
            }
            Some(Trains { pause, unit }) => {
                let length = match case.arrivals {
                    Some(Arrivals::Train(length)) => length,
                    _ => 1,
                };
                (length / unit, f64::from(length) / pause)
            }
        };
        let seconds = sample.window_ns as f64 / 1e9;
        let due = per_second * seconds;
        let by_chance = by_chance(&case, &self.sender, 1, due);
        Some(LoadTrial {
            load,
            seconds,
            outcome: TrialOutcome::of(sample, due, by_chance),
        })
    }

    /// Returns the result so far, in datagrams per second or datagrams of a train. A rate has no interval if the
    /// machine was not steady.
    pub fn found(&self) -> FoundLoad {
        let mut found = self.load_search.found();
        let Some(Trains { unit, .. }) = self.trains else {
            if !self.load_search.is_steady() {
                found.interval = (None, None);
            }
            return found;
        };
        let length = |load: Option<u32>| load.map(|load| load.saturating_mul(unit));
        FoundLoad {
            load: length(found.load),
            too_much: length(found.too_much),
            throughput: None,
            interval: (length(found.interval.0), length(found.interval.1)),
        }
    }
}
