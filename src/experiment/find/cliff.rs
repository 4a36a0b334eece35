//! Searches for the payload, to the byte, at which a round trip or a rate jumps.
//!
//! On a grid of payloads, each is longer than the one before by a fixed share. The grid shows between which two
//! payloads something changes; bisection finds the byte. Payloads that are compared are measured in turn, so a
//! machine that changes meanwhile changes all alike.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Next;
use super::rounds::{CONFIRMING_ROUNDS, Difference, Rounds, detectable};
use crate::data::{Case, Payload, Sample};
use crate::stats;
use crate::term::duration::ns;

/// Question of a search for jumps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CliffQuestion {
    /// Shortest payload.
    pub from: Payload,
    /// Longest payload.
    pub to: Payload,
    /// Smallest change that is looked for, in percent.
    pub jump_pct: f64,
    /// Length of a trial.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
}

impl CliffQuestion {
    /// Estimates the number of trials of a search, and the sum of their windows. Counts the trials of the grid, and
    /// the bisection of one jump.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let grid = grid(self.from.into(), self.to.into());
        let longest = grid.windows(2).map(|pair| pair[1] - pair[0]).max();
        let halvings = longest.unwrap_or(1).ilog2() as usize + 1;
        let trials = grid.len() * GRID_ROUNDS + 3 * halvings * FEWEST;
        let trials = u32::try_from(trials).unwrap_or(u32::MAX);
        (trials, self.trial * trials)
    }
}

/// Jump between two payloads that are one byte apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// First payload after the jump, in bytes.
    pub at: u32,
    /// Nanoseconds of a round trip, or per datagram, before the jump.
    pub before_ns: f64,
    /// Nanoseconds of a round trip, or per datagram, after the jump.
    pub after_ns: f64,
    /// Relative change at the jump: its interval of about 95 %.
    pub interval: (f64, f64),
}

/// Number of rounds of the grid.
const GRID_ROUNDS: usize = 6;
/// Relative increase from one payload of the grid to the next.
const GRID_STEP: f64 = 0.4;
/// Number of rounds that may be enough to choose a half.
const FEWEST: usize = 4;
/// Number of rounds after which a bisection without a choice ends: the jump is in neither half, because the change is
/// gradual.
const MOST: usize = 18;
/// Smallest jump at the end of a bisection, as a share of the change that is looked for.
const AT_LEAST: f64 = 0.5;
/// Highest number of jumps that are looked for, the largest first.
const JUMPS: usize = 4;
/// Jump that 9 of 10 searches can follow through all bisections, in standard deviations of the difference of two
/// payloads between rounds.
const FOLLOWED_DEVIATIONS: f64 = 3.0;

/// State of a search for jumps.
#[derive(Clone, Debug)]
pub struct Cliff {
    case: Case,
    asked: CliffQuestion,
    grid: Vec<u32>,
    /// Logarithms of nanoseconds.
    grid_rounds: Rounds<f64>,
    /// Ranges of payloads that are still to be searched, the next one last.
    left: Vec<(u32, u32)>,
    halving: Option<Halving>,
    jumps: Vec<Jump>,
}

/// Bisection step between two payloads.
#[derive(Clone, Debug)]
struct Halving {
    /// The two payloads, with one in the middle if there is any.
    payloads: Vec<u32>,
    /// Logarithms of nanoseconds.
    rounds: Rounds<f64>,
}

impl Cliff {
    /// Creates a search without trials. The payload of `case` is ignored.
    pub fn new(case: Case, asked: CliffQuestion) -> Self {
        let grid = grid(asked.from.into(), asked.to.into());
        Self {
            case,
            asked,
            grid_rounds: Rounds::of(grid.len()),
            grid,
            left: Vec::new(),
            halving: None,
            jumps: Vec::new(),
        }
    }

    /// Returns the next trial. `None`: all jumps are found.
    pub fn next(&self) -> Option<Next> {
        let (payloads, rounds) = match &self.halving {
            Some(halving) => (&halving.payloads, &halving.rounds),
            None if self.grid_rounds.whole().len() < GRID_ROUNDS => (&self.grid, &self.grid_rounds),
            None => return None,
        };
        let payload = payloads[rounds.next()];
        Some(Next {
            case: Case {
                payload: Payload::try_from(payload).ok()?,
                ..self.case
            },
            window: self.asked.trial,
        })
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        self.note(nanoseconds(sample));
    }

    /// Adds the result of a trial, in nanoseconds of a round trip or per datagram.
    pub(super) fn note(&mut self, nanoseconds: f64) {
        let value = nanoseconds.ln();
        let rounds = match &mut self.halving {
            Some(halving) => &mut halving.rounds,
            None => &mut self.grid_rounds,
        };
        if !rounds.take(value) {
            return;
        }
        if self.halving.is_some() {
            self.halve();
        } else if self.grid_rounds.whole().len() >= GRID_ROUNDS {
            self.left = self.candidates();
            self.look_on();
        }
    }

    /// Returns the jumps found, sorted by payload.
    pub fn jumps(&self) -> Vec<Jump> {
        let mut jumps = self.jumps.clone();
        jumps.sort_by_key(|jump| jump.at);
        jumps
    }

    /// Returns the smallest jump, as a fraction, that 9 of 10 searches find at the scatter of this one. `None`: it has
    /// too few rounds.
    pub fn detectable(&self) -> Option<f64> {
        let differences = (1..self.grid.len()).map(|index| self.difference(index));
        detectable(differences, self.jump(), FOLLOWED_DEVIATIONS)
    }

    /// Returns the median of each payload of the grid, in nanoseconds.
    pub fn grid_ns(&self) -> Vec<(u32, f64)> {
        let rounds = self.grid_rounds.whole();
        let payloads = self.grid.iter().enumerate();
        let of_all =
            payloads.filter_map(|(index, payload)| Some((*payload, median_ns(rounds, index)?)));
        of_all.collect()
    }

    /// Returns the neighbours on the grid that differ, the largest difference last.
    fn candidates(&self) -> Vec<(u32, u32)> {
        let neighbours = 1..self.grid.len();
        let differences = neighbours.filter_map(|index| {
            let difference = self.difference(index);
            let is_jump = difference.is_significant() && difference.mean.abs() >= self.jump();
            is_jump.then(|| {
                (
                    difference.mean.abs(),
                    (self.grid[index - 1], self.grid[index]),
                )
            })
        });
        let mut differences: Vec<(f64, (u32, u32))> = differences.collect();
        differences.sort_by(|a, b| a.0.total_cmp(&b.0));
        let few = differences.len().saturating_sub(JUMPS);
        differences
            .drain(few..)
            .map(|(_, between)| between)
            .collect()
    }

    /// Returns the difference of a payload of the grid to the one before.
    fn difference(&self, index: usize) -> Difference {
        let rounds = self.grid_rounds.whole().iter();
        Difference::of(rounds.map(|round| round[index] - round[index - 1]))
    }

    /// Returns the smallest change, as a difference of logarithms.
    fn jump(&self) -> f64 {
        (self.asked.jump_pct / 100.0).ln_1p()
    }

    fn look_on(&mut self) {
        self.halving = self
            .left
            .pop()
            .map(|(low, high)| Halving::between(low, high));
    }

    /// Continues with the half that has the jump, once it is known.
    fn halve(&mut self) {
        let Some(halving) = &self.halving else {
            return;
        };
        let rounds = halving.rounds.whole();
        let is_at_the_jump = halving.payloads.len() == 2;
        let fewest = if is_at_the_jump {
            CONFIRMING_ROUNDS
        } else {
            FEWEST
        };
        if rounds.len() < fewest {
            return;
        }
        let is_last = rounds.len() >= MOST;
        let step = |index: usize| {
            Difference::of(rounds.iter().map(|round| round[index + 1] - round[index]))
        };
        let is_jump =
            |step: Difference| step.is_significant() && step.mean.abs() >= AT_LEAST * self.jump();
        match halving.payloads[..] {
            [low, middle, high] => {
                let (lower, upper) = (step(0), step(1));
                let sign = (lower.mean + upper.mean).signum();
                let steps = rounds
                    .iter()
                    .map(|round| sign * (2.0 * round[1] - round[0] - round[2]));
                let more = Difference::of(steps);
                let (half, between) = if more.mean > 0.0 {
                    (lower, (low, middle))
                } else {
                    (upper, (middle, high))
                };
                if more.is_significant() && is_jump(half) {
                    self.halving = Some(Halving::between(between.0, between.1));
                } else if is_last {
                    self.look_on();
                }
            }
            [_, at] => {
                let step = step(0);
                if is_jump(step) {
                    self.jumps.push(Jump {
                        at,
                        before_ns: median_ns(rounds, 0).unwrap_or_default(),
                        after_ns: median_ns(rounds, 1).unwrap_or_default(),
                        interval: step.interval(),
                    });
                }
                self.look_on();
            }
            _ => self.look_on(),
        }
    }
}

impl Halving {
    fn between(low: u32, high: u32) -> Self {
        let payloads = if high - low > 1 {
            vec![low, low + (high - low) / 2, high]
        } else {
            vec![low, high]
        };
        Self {
            rounds: Rounds::of(payloads.len()),
            payloads,
        }
    }
}

/// Returns the grid from one payload to the other, both included.
fn grid(from: u32, to: u32) -> Vec<u32> {
    let mut payloads = vec![from];
    let mut last = from;
    while last < to {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a payload"
        )]
        let step = (GRID_STEP * f64::from(last)) as u32;
        last = (last + step.max(1)).min(to);
        payloads.push(last);
    }
    payloads
}

/// Returns the median over the rounds at a position, in nanoseconds.
fn median_ns(rounds: &[Vec<f64>], index: usize) -> Option<f64> {
    let values = rounds.iter().map(|round| round[index]).collect();
    stats::median(values).map(f64::exp)
}

/// Returns the median round trip, or the time per datagram received, in nanoseconds.
pub(super) fn nanoseconds(sample: &Sample) -> f64 {
    let trip = sample
        .round_trips
        .as_ref()
        .and_then(|trips| trips.times.quantile(0.5));
    trip.unwrap_or_else(|| {
        let concluded = sample
            .threads
            .iter()
            .filter(|thread| thread.side.counts_as_result());
        let packets: u64 = concluded.map(|thread| thread.received_packets).sum();
        sample.window_ns as f64 / packets.max(1) as f64
    })
}
