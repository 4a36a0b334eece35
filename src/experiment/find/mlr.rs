//! The search for the highest load that can be borne: which trial is next, and what those say that were.
//!
//! It is MLRsearch (RFC 9971): short trials find the neighbourhood, trials in full decide there. What it adds is an
//! interval: where a load is borne more often than not in hardly more trials than half of them, the neighbours are tried,
//! too, until chance alone explains neither bound.
//!
//! Pure: the same trials lead to the same next one, so that a search goes on from its log.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::loads::{Class, Counts, Goal, Outcome};
use crate::data::Rate;

/// How probable it may be that a bound is one by chance alone.
const ERROR: f64 = 0.01;
/// The highest load that there is.
pub(super) const MOST: u32 = Rate::MAX;
/// How far from the bound of the search the interval may reach: so many doublings of its width.
const WIDENINGS: u32 = 6;

/// A trial to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    /// Datagrams per second.
    pub load: u32,
    /// How long, in seconds.
    pub seconds: f64,
}

/// A search, as far as it is.
#[derive(Clone, Debug)]
pub struct Mlr {
    goal: Goal,
    /// How close together the bounds have to be, in relation to the upper one.
    width: f64,
    /// Where it begins.
    start: u32,
    /// The highest load that there is.
    most: u32,
    trials: BTreeMap<u32, Vec<Outcome>>,
}

/// What is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The highest load that is borne. `None`: none is.
    pub load: Option<u32>,
    /// The lowest one that is not. `None`: any is.
    pub too_much: Option<u32>,
    /// What arrives per second at [`Found::load`]: the conditional throughput.
    pub throughput: Option<f64>,
    /// Loads between which the truth lies in 95 of 100 searches, or in more. `None`: there is no such bound.
    pub interval: (Option<u32>, Option<u32>),
}

/// How exactly the search looks: first roughly, then finely.
#[derive(Clone, Copy, Debug)]
struct Level {
    goal: Goal,
    width: f64,
}

/// The relevant bounds: nothing at or below the first one is known to be too much (RFC 9971, section 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bounds {
    lower: Option<u32>,
    upper: Option<u32>,
}

impl Mlr {
    /// Nothing is known yet. The loads are that of the first trial, and the highest that there is.
    pub fn new(goal: Goal, width: f64, loads: RangeInclusive<u32>) -> Self {
        let most = (*loads.end()).clamp(1, MOST);
        Self {
            goal,
            width,
            start: (*loads.start()).clamp(1, most),
            most,
            trials: BTreeMap::new(),
        }
    }

    /// A trial is over.
    pub fn take(&mut self, load: u32, outcome: Outcome) {
        self.trials.entry(load).or_default().push(outcome);
    }

    /// The trial that tells most. `None`: it is found.
    pub fn next(&self) -> Option<Ask> {
        let mut hint = Bounds::default();
        for level in self.levels() {
            let bounds = self.bounds(&level.goal);
            if let Some(load) = self.next_at(&level, bounds, hint) {
                return Some(Ask {
                    load,
                    seconds: level.goal.trial_s,
                });
            }
            hint = bounds;
        }
        let load = self.next_beside(hint)?;
        Some(Ask {
            load,
            seconds: self.goal.trial_s,
        })
    }

    /// What the trials say.
    pub fn found(&self) -> Found {
        let bounds = self.bounds(&self.goal);
        let throughput = bounds.lower.and_then(|load| {
            let loss = self.goal.conditional_loss(&self.trials[&load])?;
            Some(f64::from(load) * (1.0 - loss))
        });
        Found {
            load: bounds.lower,
            too_much: bounds.upper,
            throughput,
            interval: (
                bounds.lower.and_then(|load| self.sure_lower(load).ok()),
                bounds.upper.and_then(|load| self.sure_upper(load).ok()),
            ),
        }
    }

    /// The last one is the goal itself. In those before, one trial decides.
    fn levels(&self) -> [Level; 4] {
        let rough = |part: f64, widths: f64| {
            let seconds = self.goal.trial_s * part;
            Level {
                goal: Goal {
                    trial_s: seconds,
                    sum_s: seconds,
                    ..self.goal
                },
                width: self.width * widths,
            }
        };
        let last = Level {
            goal: self.goal,
            width: self.width,
        };
        [rough(0.1, 8.0), rough(0.3, 4.0), rough(1.0, 2.0), last]
    }

    fn bounds(&self, goal: &Goal) -> Bounds {
        let of = |wanted| {
            let classes = self.trials.iter();
            classes.filter(move |(_, outcomes)| goal.class(outcomes) == wanted)
        };
        let upper = of(Class::Upper).map(|(load, _)| *load).next();
        let is_below = |load: &u32| upper.is_none_or(|upper| *load < upper);
        let mut lower = of(Class::Lower).map(|(load, _)| *load).filter(is_below);
        Bounds {
            lower: lower.next_back(),
            upper,
        }
    }

    /// The load to be tried at this level. `None`: its bounds are as close as they have to be. `hint`: those of the level
    /// before.
    fn next_at(&self, level: &Level, bounds: Bounds, hint: Bounds) -> Option<u32> {
        match (bounds.lower, bounds.upper) {
            (None, None) => Some(hint.lower.or(hint.upper).unwrap_or(self.start)),
            (Some(lower), None) if lower >= self.most => None,
            (Some(lower), None) => {
                let hint = hint.upper.filter(|upper| *upper > lower);
                Some(hint.unwrap_or_else(|| self.above(lower, level)))
            }
            (None, Some(1)) => None,
            (None, Some(upper)) => {
                let hint = hint.lower.filter(|lower| *lower < upper);
                Some(hint.unwrap_or_else(|| self.below(upper, level)))
            }
            (Some(lower), Some(upper)) => {
                let is_narrow = f64::from(upper - lower) <= level.width * f64::from(upper);
                if is_narrow || upper - lower <= 1 {
                    return None;
                }
                let is_inside = |load: &u32| lower < *load && *load < upper;
                let hinted = [hint.lower, hint.upper]
                    .into_iter()
                    .flatten()
                    .find(is_inside);
                Some(hinted.unwrap_or_else(|| lower + (upper - lower) / 2))
            }
        }
    }

    /// Beyond what is borne: by the width, and twice as far each time, but no more than to the double. At once to the double
    /// as long as nothing has been too much.
    fn above(&self, lower: u32, level: &Level) -> u32 {
        let borne = self.of_class(&level.goal, Class::Lower);
        let before = borne.into_iter().rfind(|load| *load < lower);
        let mut outcomes = self.trials.values().flatten();
        let step = match before {
            _ if outcomes.all(|outcome| self.goal.is_met_by(outcome)) => f64::INFINITY,
            Some(before) => 2.0 * f64::from(lower - before),
            None => level.width * f64::from(lower),
        };
        let step = step.min(f64::from(lower));
        at(f64::from(lower) + step).clamp(lower + 1, self.most)
    }

    /// Below what is too much: at what arrived of it, or by the width, and twice as far each time, but no more than to half.
    fn below(&self, upper: u32, level: &Level) -> u32 {
        let too_much = self.of_class(&level.goal, Class::Upper);
        let before = too_much.into_iter().find(|load| *load > upper);
        let arrived = self.trials[&upper]
            .last()
            .map_or(1.0, |last| 1.0 - last.loss);
        let step = match before {
            Some(before) => 2.0 * f64::from(before - upper),
            None => f64::from(upper) * level.width.max(1.0 - arrived),
        };
        let step = step.min(f64::from(upper) / 2.0);
        at(f64::from(upper) - step).min(upper - 1)
    }

    fn of_class(&self, goal: &Goal, wanted: Class) -> Vec<u32> {
        let classes = self.trials.iter();
        let of_those = classes.filter(|(_, outcomes)| goal.class(outcomes) == wanted);
        of_those.map(|(load, _)| *load).collect()
    }

    /// The neighbour of a bound that is to be tried, until both are sure.
    fn next_beside(&self, bounds: Bounds) -> Option<u32> {
        let lower = bounds.lower.map(|load| self.sure_lower(load));
        let upper = bounds.upper.map(|load| self.sure_upper(load));
        [lower, upper]
            .into_iter()
            .flatten()
            .find_map(|sure| sure.err().flatten())
    }

    /// The highest load, from `bound` down, that is borne for sure. `Err`: the one to be tried, if any is left. Were that one
    /// too much, so would be all above it: what they bore speaks for it.
    fn sure_lower(&self, bound: u32) -> Result<u32, Option<u32>> {
        self.sure(
            bound,
            |distance| at(f64::from(bound) * (1.0 - distance)),
            |load| self.counts(load, bound).p_of_so_few(self.goal.exceed) <= ERROR,
        )
    }

    /// As [`Search::sure_lower`], upwards.
    fn sure_upper(&self, bound: u32) -> Result<u32, Option<u32>> {
        self.sure(
            bound,
            |distance| at(f64::from(bound) * (1.0 + distance)),
            |load| self.counts(bound, load).p_of_so_many(self.goal.exceed) <= ERROR,
        )
    }

    fn sure(
        &self,
        bound: u32,
        at: impl Fn(f64) -> u32,
        is_sure: impl Fn(u32) -> bool,
    ) -> Result<u32, Option<u32>> {
        if is_sure(bound) {
            return Ok(bound);
        }
        let trials_in_full = (self.goal.sum_s / self.goal.trial_s).ceil();
        for doublings in 0..WIDENINGS {
            let load = at(self.width * f64::from(1_u32 << doublings));
            let counts = self.counts(load, load);
            if is_sure(load) {
                return Ok(load);
            }
            if (counts.trials as f64) < trials_in_full {
                return Err(Some(load));
            }
        }
        Err(None)
    }

    /// Of the loads from `from` to `to`.
    fn counts(&self, from: u32, to: u32) -> Counts {
        let range = self.trials.range(from..=to);
        let counts = range.map(|(_, outcomes)| self.goal.counts(outcomes));
        counts.fold(Counts::default(), Counts::and)
    }
}

fn at(load: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the limits"
    )]
    let load = load.clamp(1.0, f64::from(MOST)) as u32;
    load
}
