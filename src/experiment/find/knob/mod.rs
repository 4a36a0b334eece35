//! Which setting of this machine helps: each is tried in pairs of trials, one with it as it is, one with another value.
//!
//! | step | module |
//! |---|---|
//! | the order of trials | `order` |
//! | what a setting changes, and how sure that is | `judge` |
//! | how it is told | `table`, `rows` |

mod judge;
mod order;
pub mod rows;
pub mod table;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::judge::{Answer, Verdict, judge};
#[cfg(test)]
pub(super) use self::judge::{answer, name};
use self::order::Half;
use super::Next;
use super::cliff::nanoseconds;
use crate::data::{Buffer, Case, Sample};
use crate::host::knob::LARGER;
use crate::term::duration::ns;

/// What is asked. Which settings they are is in the log's header: here they have numbers, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// How many settings are tried.
    pub knobs: usize,
    /// Which of them is the receive buffer of the trials' own sockets. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcvbuf: Option<usize>,
    /// How long settings are waited for in a round, until their links are up.
    #[serde(rename = "waiting_ns", with = "ns")]
    pub waiting: Duration,
    /// Pairs of trials, of each setting.
    pub rounds: u32,
    /// How long a trial is.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
    /// Of the order of trials.
    pub seed: u32,
}

impl Asked {
    /// About how many trials a search takes, and how long their windows are together.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let knobs = u32::try_from(self.knobs).unwrap_or(u32::MAX);
        let trials = self.rounds.saturating_mul(2).saturating_mul(knobs);
        let windows = self.trial.saturating_mul(trials);
        (trials, windows + self.waiting.saturating_mul(self.rounds))
    }
}

/// A search, as far as it is.
#[derive(Clone, Debug)]
pub struct Knob {
    case: Case,
    asked: Asked,
    series: Vec<Series>,
    round: u32,
    /// What is left of the round, the next trial last.
    left: Vec<Half>,
    /// Of the pair that is half done.
    first_ns: Option<f64>,
}

/// What the pairs of a setting say.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Nanoseconds of a round trip, or for each datagram: as it is, and with the value that is tried.
    pub pairs: Vec<[f64; 2]>,
    /// Why there are no more.
    pub given_up: Option<String>,
}

impl Knob {
    /// Nothing is known yet.
    pub fn new(case: Case, asked: Asked) -> Self {
        let mut search = Self {
            case,
            asked,
            series: vec![Series::default(); asked.knobs],
            round: 0,
            left: Vec::new(),
            first_ns: None,
        };
        search.begin_round();
        search
    }

    /// The trial that tells most. `None`: all pairs are measured.
    pub fn next(&self) -> Option<Next> {
        let half = self.left.last()?;
        let mut case = self.case;
        if half.is_tried && self.asked.rcvbuf == Some(half.knob) {
            case.rcvbuf = larger(case.rcvbuf);
        }
        Some(Next {
            case,
            window: self.asked.trial,
        })
    }

    /// The setting that has the value that is tried in that trial.
    pub fn knob(&self) -> Option<usize> {
        let half = self.left.last()?;
        half.is_tried.then_some(half.knob)
    }

    /// A trial is over.
    pub fn take(&mut self, sample: &Sample) {
        self.note(nanoseconds(sample));
    }

    /// It has taken so long for each.
    pub(super) fn note(&mut self, nanoseconds: f64) {
        let Some(half) = self.left.pop() else {
            return;
        };
        match self.first_ns.take() {
            None => self.first_ns = Some(nanoseconds),
            Some(first) if half.is_tried => self.series[half.knob].pairs.push([first, nanoseconds]),
            Some(first) => self.series[half.knob].pairs.push([nanoseconds, first]),
        }
        self.begin_round();
    }

    /// A setting cannot be tried any more. `false`: there is no such one.
    pub fn give_up(&mut self, knob: usize, reason: &str) -> bool {
        let Some(series) = self.series.get_mut(knob) else {
            return false;
        };
        series.given_up = Some(reason.to_owned());
        if self.left.last().is_some_and(|half| half.knob == knob) {
            self.first_ns = None;
        }
        self.left.retain(|half| half.knob != knob);
        self.begin_round();
        true
    }

    /// What is known of each setting.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    fn begin_round(&mut self) {
        while self.left.is_empty() && self.round < self.asked.rounds {
            self.round += 1;
            let is_left = |knob: &usize| self.series[*knob].given_up.is_none();
            let knobs: Vec<usize> = (0..self.asked.knobs).filter(is_left).collect();
            if knobs.is_empty() {
                return;
            }
            self.left = order::of_round(self.asked.seed, self.round, &knobs);
        }
    }
}

fn larger(buffer: Buffer) -> Buffer {
    let bytes = u32::try_from(buffer.bytes()).ok();
    let larger = bytes.and_then(|bytes| Buffer::try_from(bytes.checked_mul(LARGER)?).ok());
    larger.unwrap_or(buffer)
}
