//! Searches for the silence after which a round trip takes longer or a datagram is lost. Possible reasons are
//! energy-efficient Ethernet, idle states and clocks of CPUs, and coalescing.
//!
//! Clients pause for think times on a grid of 1, 2 and 5 in each decade. If two neighbours differ, both are measured
//! again, in turn. Only a confirmed difference is a step.

use std::cmp::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Next;
use super::rounds::{CONFIRMING_ROUNDS, Rounds, detectable};
use crate::data::{Case, Sample, ThinkTime};
use crate::term::duration::ns;

pub use self::neighbours::IdleShare;
pub(super) use self::neighbours::TrialResult;
use self::neighbours::{Neighbours, SilenceTrials, StepSize};

mod neighbours;

/// Question of a search for silences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdleQuestion {
    /// Shortest silence.
    pub from: ThinkTime,
    /// Longest silence.
    pub to: ThinkTime,
    /// Smallest change of the round trip that is looked for, in percent.
    pub step_pct: f64,
    /// Length of a trial. A trial lasts at least [`PROBES`] silences.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
}

impl IdleQuestion {
    /// Estimates the number of trials of a search, and the sum of their windows. Counts the trials of the grid and of
    /// one step.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let grid = grid(self.from, self.to);
        let of_grid: Duration = grid.iter().map(|silence| self.window(*silence)).sum();
        let middle = self.window(grid[grid.len() / 2]);
        #[expect(clippy::cast_possible_truncation, reason = "a few dozen")]
        let (silences, grid_rounds, confirming) = (
            grid.len() as u32,
            GRID_ROUNDS as u32,
            CONFIRMING_ROUNDS as u32,
        );
        let trials = silences * grid_rounds + 2 * confirming;
        (trials, of_grid * grid_rounds + middle * 2 * confirming)
    }

    fn window(&self, silence: ThinkTime) -> Duration {
        self.trial
            .max(Duration::from_nanos(silence.ns).mul_f64(PROBES))
    }
}

/// Silence from which on round trips or loss differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Longest silence before the step.
    pub before: ThinkTime,
    /// First silence after the step.
    pub at: ThinkTime,
    /// Median round trip before and after the step, in nanoseconds. `None`: no request was answered.
    pub round_trip_ns: (Option<f64>, Option<f64>),
    /// Increase of the round trip at the step, as a fraction: interval of about 95 %. `None`: too few requests were
    /// answered.
    pub interval: Option<(f64, f64)>,
    /// Share of requests without a response before and after the step. `None`: there were no requests.
    pub loss: (Option<f64>, Option<f64>),
    /// Idle state whose share of the CPUs' time grows most at the step, by at least a fifth of the time.
    pub idle_state: Option<IdleShare>,
}

/// Shortest length of a window, in silences.
pub const PROBES: f64 = 3.2;
/// Number of rounds of the grid.
const GRID_ROUNDS: usize = 6;
/// Probability by chance below which a difference in loss is measured again. `BY_CHANCE` then decides whether the
/// difference is a step: there are some 15 pairs.
const SUSPECT: f64 = 0.01;
const BY_CHANCE: f64 = 1e-4;
/// Smallest confirmed step, as a share of the step that is looked for.
const AT_LEAST: f64 = 0.85;
/// Highest number of steps that are measured again, the largest first.
const STEPS: usize = 4;
/// Step of the round trip that is significant on the grid in 9 of 10 searches, in standard deviations of the difference
/// of two silences between rounds.
const SIGNIFICANT_DEVIATIONS: f64 = 2.8;

/// State of a search for silences.
#[derive(Clone, Debug)]
pub struct Idle {
    case: Case,
    asked: IdleQuestion,
    grid: Vec<ThinkTime>,
    rounds: Rounds<TrialResult>,
    /// Positions on the grid of possible steps, the next one last.
    left: Vec<usize>,
    confirming: Option<Confirming>,
    steps: Vec<Step>,
}

/// Possible step that is measured again.
#[derive(Clone, Debug)]
struct Confirming {
    /// Position on the grid of the first silence after the step.
    at: usize,
    /// Rounds of the silence before the step and of the silence after it.
    rounds: Rounds<TrialResult>,
}

impl Idle {
    /// Creates a search without trials. The think time of `case` is ignored.
    pub fn new(case: Case, asked: IdleQuestion) -> Self {
        let grid = grid(asked.from, asked.to);
        Self {
            case,
            asked,
            rounds: Rounds::of(grid.len()),
            grid,
            left: Vec::new(),
            confirming: None,
            steps: Vec::new(),
        }
    }

    /// Returns the next trial. `None`: all steps are found.
    pub fn next(&self) -> Option<Next> {
        let grid_index = match &self.confirming {
            Some(confirming) => confirming.at - 1 + confirming.rounds.next(),
            None if self.rounds.whole().len() < GRID_ROUNDS => self.rounds.next(),
            None => return None,
        };
        let silence = self.grid[grid_index];
        Some(Next {
            case: Case {
                think_time: Some(silence),
                ..self.case
            },
            window: self.asked.window(silence),
        })
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        self.note(TrialResult::new(sample));
    }

    /// Adds the results of a trial.
    pub(super) fn note(&mut self, result: TrialResult) {
        match &mut self.confirming {
            Some(confirming) => {
                let is_whole = confirming.rounds.take(result);
                if is_whole && confirming.rounds.whole().len() >= CONFIRMING_ROUNDS {
                    self.confirm();
                }
            }
            None => {
                if self.rounds.take(result) && self.rounds.whole().len() >= GRID_ROUNDS {
                    self.left = self.candidates();
                    self.look_on();
                }
            }
        }
    }

    /// Returns the steps found, sorted by silence.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = self.steps.clone();
        steps.sort_by_key(|step| step.at);
        steps
    }

    /// Returns the smallest step of the round trip, as a fraction, that 9 of 10 searches find at the scatter of this
    /// one. `None`: it has too few rounds.
    pub fn detectable(&self) -> Option<f64> {
        let rounds = self.rounds.whole();
        let pairs = (1..self.grid.len()).map(|at| Neighbours::new(rounds, at - 1).log_ratio);
        detectable(pairs, self.least(), SIGNIFICANT_DEVIATIONS)
    }

    /// Returns the results of each silence on the grid: the median round trip in nanoseconds, if any request was
    /// answered, and the share of requests without a response, if there were requests.
    pub fn curve(&self) -> Vec<(ThinkTime, Option<f64>, Option<f64>)> {
        let rounds = self.rounds.whole();
        let of = |(index, silence): (usize, &ThinkTime)| {
            let trials = SilenceTrials::at(rounds, index);
            (*silence, trials.median_ns(), trials.loss())
        };
        self.grid.iter().enumerate().map(of).collect()
    }

    /// Returns the positions on the grid that differ from the position before, the largest difference last.
    fn candidates(&self) -> Vec<usize> {
        let rounds = self.rounds.whole();
        let mut differ: Vec<(StepSize, usize)> = Vec::new();
        for at in 1..self.grid.len() {
            let pair = Neighbours::new(rounds, at - 1);
            if let Some(size) = pair.step(self.least(), SUSPECT) {
                differ.push((size, at));
            }
        }
        differ.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal));
        let few = differ.len().saturating_sub(STEPS);
        differ.drain(few..).map(|(_, at)| at).collect()
    }

    /// Returns the smallest change of a round trip, as a difference of logarithms.
    fn least(&self) -> f64 {
        (self.asked.step_pct / 100.0).ln_1p()
    }

    fn look_on(&mut self) {
        self.confirming = self.left.pop().map(|at| Confirming {
            at,
            rounds: Rounds::of(2),
        });
    }

    fn confirm(&mut self) {
        if let Some(Confirming { at, rounds }) = &self.confirming {
            let pair = Neighbours::new(rounds.whole(), 0);
            if pair.step(AT_LEAST * self.least(), BY_CHANCE).is_some() {
                self.steps.push(Step {
                    before: self.grid[at - 1],
                    at: self.grid[*at],
                    round_trip_ns: (pair.before.median_ns(), pair.after.median_ns()),
                    interval: pair.interval(),
                    loss: (pair.before.loss(), pair.after.loss()),
                    idle_state: pair.idle_state(),
                });
            }
        }
        self.look_on();
    }
}

/// Returns the grid: 1, 2 and 5 in each decade between `from` and `to`, and these two.
fn grid(from: ThinkTime, to: ThinkTime) -> Vec<ThinkTime> {
    let decades = (0..).map_while(|power| 10_u64.checked_pow(power));
    let all = decades.flat_map(|ten| {
        [1, 2, 5].map(|times| ThinkTime {
            ns: ten.saturating_mul(times),
        })
    });
    let between = all.take_while(|silence| *silence < to);
    let between = between.filter(|silence| *silence > from);
    [from].into_iter().chain(between).chain([to]).collect()
}
