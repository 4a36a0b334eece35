//! The silence after which a round trip takes longer, or a datagram is lost: energy-efficient Ethernet, the idle states and
//! clocks of CPUs, coalescing.
//!
//! Clients think for times on a grid of 1, 2 and 5 in each decade. Where two neighbours differ, they are measured again, in
//! turn, and only what that confirms is a step.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Next;
use super::rounds::Rounds;
use crate::data::{Case, Sample, ThinkTime};
use crate::term::duration::ns;

pub use self::neighbours::Entered;
pub(super) use self::neighbours::Probed;
use self::neighbours::{Neighbours, Seen};

mod neighbours;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The shortest silence.
    pub from: ThinkTime,
    /// The longest one.
    pub to: ThinkTime,
    /// The least change of the round trip that is looked for, in percent.
    pub step_pct: f64,
    /// How long a trial is, or as long as [`PROBES`] silences if that is longer.
    #[serde(rename = "trial_ns", with = "ns")]
    pub trial: Duration,
}

impl Asked {
    /// About how many trials a search takes, and how long their windows are together: those of the grid, and of one step.
    pub(super) fn expected(&self) -> (u32, Duration) {
        let grid = grid(self.from, self.to);
        let of_grid: Duration = grid.iter().map(|silence| self.window(*silence)).sum();
        let middle = self.window(grid[grid.len() / 2]);
        #[expect(clippy::cast_possible_truncation, reason = "a few dozen")]
        let (places, grid_rounds, confirming) =
            (grid.len() as u32, GRID_ROUNDS as u32, CONFIRMING as u32);
        let trials = places * grid_rounds + 2 * confirming;
        (trials, of_grid * grid_rounds + middle * 2 * confirming)
    }

    fn window(&self, silence: ThinkTime) -> Duration {
        self.trial
            .max(Duration::from_nanos(silence.ns).mul_f64(PROBES))
    }
}

/// A silence from which on something is different.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The longest silence before it.
    pub before: ThinkTime,
    /// The first one behind it.
    pub at: ThinkTime,
    /// Nanoseconds of half of the round trips, before it and behind it. `None`: nothing was answered.
    pub round_trip_ns: (Option<f64>, Option<f64>),
    /// How much longer round trips are behind it, as a part: its interval of about 95 %. `None`: too few were answered.
    pub interval: Option<(f64, f64)>,
    /// The share of requests without an answer, before it and behind it.
    pub loss: (f64, f64),
    /// The idle state that CPUs enter behind it.
    pub idle_state: Option<Entered>,
}

/// A window is so many silences long, at least.
pub const PROBES: f64 = 3.2;
/// How often each silence of the grid is measured.
const GRID_ROUNDS: usize = 6;
/// Rounds of two neighbours that confirm a step, or do not.
const CONFIRMING: usize = 12;
/// Loss that differs so much by chance this rarely is looked at again, and then is a step or not: there are some 15 pairs.
const SUSPECT: f64 = 0.01;
const BY_CHANCE: f64 = 1e-4;
/// A step that is confirmed is not much smaller than what is looked for.
const AT_LEAST: f64 = 0.85;
/// Steps that are confirmed, the largest first.
const STEPS: usize = 4;
/// A search, as far as it is.
#[derive(Clone, Debug)]
pub struct Idle {
    case: Case,
    asked: Asked,
    grid: Vec<ThinkTime>,
    rounds: Rounds<Probed>,
    /// The places on the grid at which a step may be, the next one last.
    left: Vec<usize>,
    confirming: Option<Confirming>,
    steps: Vec<Step>,
}

/// A step that is measured again.
#[derive(Clone, Debug)]
struct Confirming {
    /// Of the first silence behind it, on the grid.
    at: usize,
    /// Of the silence before it, and of that one.
    rounds: Rounds<Probed>,
}

impl Idle {
    /// Nothing is known yet. `case` has a think time of its own, which does not matter.
    pub fn new(case: Case, asked: Asked) -> Self {
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

    /// The trial that tells most. `None`: all steps are found.
    pub fn next(&self) -> Option<Next> {
        let place = match &self.confirming {
            Some(confirming) => confirming.at - 1 + confirming.rounds.next(),
            None if self.rounds.whole().len() < GRID_ROUNDS => self.rounds.next(),
            None => return None,
        };
        let silence = self.grid[place];
        Some(Next {
            case: Case {
                think: Some(silence),
                ..self.case
            },
            window: self.asked.window(silence),
        })
    }

    /// A trial is over.
    pub fn take(&mut self, sample: &Sample) {
        self.note(Probed::of(sample));
    }

    /// That has been seen.
    pub(super) fn note(&mut self, probed: Probed) {
        match &mut self.confirming {
            Some(confirming) => {
                let is_whole = confirming.rounds.take(probed);
                if is_whole && confirming.rounds.whole().len() >= CONFIRMING {
                    self.confirm();
                }
            }
            None => {
                if self.rounds.take(probed) && self.rounds.whole().len() >= GRID_ROUNDS {
                    self.left = self.candidates();
                    self.look_on();
                }
            }
        }
    }

    /// The steps that were found, by silence.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = self.steps.clone();
        steps.sort_by_key(|step| step.at);
        steps
    }

    /// What the trials of the grid say of each of its silences: nanoseconds of half of the round trips, if any was answered,
    /// and the share of requests without an answer.
    pub fn curve(&self) -> Vec<(ThinkTime, Option<f64>, f64)> {
        let rounds = self.rounds.whole();
        let of = |(place, silence): (usize, &ThinkTime)| {
            let seen = Seen::at(rounds, place);
            (*silence, seen.median_ns(), seen.loss())
        };
        self.grid.iter().enumerate().map(of).collect()
    }

    /// Places on the grid that differ from the one before, those that differ most last.
    fn candidates(&self) -> Vec<usize> {
        let rounds = self.rounds.whole();
        let mut differ: Vec<(f64, usize)> = Vec::new();
        for at in 1..self.grid.len() {
            let pair = Neighbours::of(rounds, at - 1);
            if let Some(size) = pair.step(self.least(), SUSPECT) {
                differ.push((size, at));
            }
        }
        differ.sort_by(|a, b| a.0.total_cmp(&b.0));
        let few = differ.len().saturating_sub(STEPS);
        differ.drain(few..).map(|(_, at)| at).collect()
    }

    /// The least change of a round trip, as a difference of logarithms.
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
            let pair = Neighbours::of(rounds.whole(), 0);
            if pair.step(AT_LEAST * self.least(), BY_CHANCE).is_some() {
                self.steps.push(Step {
                    before: self.grid[at - 1],
                    at: self.grid[*at],
                    round_trip_ns: (pair.before.median_ns(), pair.behind.median_ns()),
                    interval: pair.interval(),
                    loss: (pair.before.loss(), pair.behind.loss()),
                    idle_state: pair.idle_state(),
                });
            }
        }
        self.look_on();
    }
}

/// 1, 2 and 5 in each decade between the two, which are on it, too.
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
