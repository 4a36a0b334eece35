//! Searches for settings that help. Each setting is tried in pairs of trials: one with the current value, one with
//! another value.
//!
//! | step | module |
//! |---|---|
//! | choose the order of trials | `order` |
//! | judge the effect of a setting | `judge` |
//! | show the results | `table`, `rows` |

mod judge;
mod order;
pub mod rows;
pub mod table;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::judge::{SettingEffect, Verdict, judge};
#[cfg(test)]
pub(super) use self::judge::{answer, name};
use self::order::Half;
use super::Next;
use super::cliff::nanoseconds;
use crate::data::{Buffer, Case, Sample};
use crate::host::tuning::LARGER;
use crate::results::row::Failure;
use crate::term::duration::ns;

/// Question of a search for settings. The header of the log names the settings; here they have numbers, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningQuestion {
    /// Number of settings that are tried.
    pub tunings: usize,
    /// Number of the setting that is the receive buffer of the trials' own sockets. Absent: none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf: Option<usize>,
    /// Time per round spent waiting after changes of settings, until the links are up.
    #[serde(rename = "waiting_ns", with = "ns")]
    pub waiting: Duration,
    /// Pairs of trials of each setting.
    pub rounds: u32,
    /// Length of a trial.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// Seed of the order of trials.
    pub seed: u32,
}

impl TuningQuestion {
    /// Estimates the number of trials of a search, and the sum of their windows.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let tunings = u32::try_from(self.tunings).unwrap_or(u32::MAX);
        let trials = self.rounds.saturating_mul(2).saturating_mul(tunings);
        let windows = self.trial.saturating_mul(trials);
        (trials, windows + self.waiting.saturating_mul(self.rounds))
    }
}

/// State of a search for settings.
#[derive(Clone, Debug)]
pub struct Tuning {
    case: Case,
    asked: TuningQuestion,
    series: Vec<Series>,
    round: u32,
    /// Remaining trials of the round, the next one last.
    left: Vec<Half>,
    /// Result of the first trial of the current pair, in nanoseconds.
    first_ns: Option<f64>,
}

/// Results of the pairs of a setting.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Nanoseconds of a round trip, or per datagram: with the current value, and with the tried value.
    pub pairs: Vec<[f64; 2]>,
    /// Reason why no more pairs are measured.
    pub given_up: Option<Failure>,
}

impl Tuning {
    /// Creates a search without trials.
    pub fn new(case: Case, asked: TuningQuestion) -> Self {
        let mut search = Self {
            case,
            asked,
            series: vec![Series::default(); asked.tunings],
            round: 0,
            left: Vec::new(),
            first_ns: None,
        };
        search.begin_round();
        search
    }

    /// Returns the next trial. `None`: all pairs are measured.
    pub fn next(&self) -> Option<Next> {
        let half = self.left.last()?;
        let mut case = self.case;
        if half.is_tried && self.asked.rcvbuf == Some(half.tuning) {
            case.rcvbuf = larger(case.rcvbuf);
        }
        Some(Next {
            case,
            window: self.asked.trial,
        })
    }

    /// Returns the index of the setting that is changed in the next trial. `None`: the next trial uses the current
    /// values.
    pub fn changed_setting(&self) -> Option<usize> {
        let half = self.left.last()?;
        half.is_tried.then_some(half.tuning)
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        self.note(nanoseconds(sample));
    }

    /// Adds the result of a trial, in nanoseconds of a round trip or per datagram.
    pub(super) fn note(&mut self, nanoseconds: f64) {
        let Some(half) = self.left.pop() else {
            return;
        };
        match self.first_ns.take() {
            None => self.first_ns = Some(nanoseconds),
            Some(first) if half.is_tried => {
                self.series[half.tuning].pairs.push([first, nanoseconds]);
            }
            Some(first) => self.series[half.tuning].pairs.push([nanoseconds, first]),
        }
        self.begin_round();
    }

    /// Gives up a setting that cannot be tried any more. Returns `false` if there is no such setting.
    pub fn give_up(&mut self, tuning: usize, reason: &Failure) -> bool {
        let Some(series) = self.series.get_mut(tuning) else {
            return false;
        };
        series.given_up = Some(reason.clone());
        if self.left.last().is_some_and(|half| half.tuning == tuning) {
            self.first_ns = None;
        }
        self.left.retain(|half| half.tuning != tuning);
        self.begin_round();
        true
    }

    /// Returns the results so far of each setting.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    fn begin_round(&mut self) {
        while self.left.is_empty() && self.round < self.asked.rounds {
            self.round += 1;
            let is_left = |tuning: &usize| self.series[*tuning].given_up.is_none();
            let tunings: Vec<usize> = (0..self.asked.tunings).filter(is_left).collect();
            if tunings.is_empty() {
                return;
            }
            self.left = order::of_round(self.asked.seed, self.round, &tunings);
        }
    }
}

fn larger(buffer: Buffer) -> Buffer {
    let bytes = u32::try_from(buffer.bytes()).ok();
    let larger = bytes.and_then(|bytes| Buffer::try_from(bytes.checked_mul(LARGER)?).ok());
    larger.unwrap_or(buffer)
}
