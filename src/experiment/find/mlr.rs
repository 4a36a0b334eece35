//! MLRsearch (RFC 9971) for the highest load that passes: picks the next trial from the results so far.
//!
//! Short trials find the neighbourhood; full trials decide there. An addition to the RFC is an interval: if a load
//! passes only by a small majority of its trials, its neighbours are tried until chance alone explains neither bound.
//!
//! The search is deterministic: the same trials lead to the same next trial. So it can be resumed from its log.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::loads::{FoundLoad, Goal, LoadClass, TrialCounts, TrialLoss, TrialRequest};
use crate::data::Rate;
use crate::text::digits::whole_u32;

/// Highest probability that a bound is due to chance alone.
const ERROR: f64 = 0.01;
/// Highest load of any search.
pub(super) const MOST: u32 = Rate::MAX;
/// Largest distance of the interval from the bound of the search, in doublings of its width.
const WIDENINGS: u32 = 6;

/// State of a search.
#[derive(Clone, Debug)]
pub struct Mlr {
    goal: Goal,
    /// First load.
    start: u32,
    /// Highest load of this search.
    most: u32,
    /// Bounds of another search that this one tries again, one trial for each load. `None`: it is no recheck.
    again: Option<Bounds>,
    trials: BTreeMap<u32, Vec<TrialLoss>>,
}

/// Relevant bounds: no load at or below the lower one is known to be too much (RFC 9971, section 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bounds {
    lower: Option<u32>,
    upper: Option<u32>,
}

impl Mlr {
    /// Creates a search without trials. `loads` goes from the first load to the highest one.
    pub fn new(goal: Goal, loads: RangeInclusive<u32>) -> Self {
        let most = (*loads.end()).clamp(1, MOST);
        Self {
            goal,
            start: (*loads.start()).clamp(1, most),
            most,
            again: None,
            trials: BTreeMap::new(),
        }
    }

    /// Creates a search without trials that tries the bounds of this one again. If they have moved, it finds where they
    /// are now. One trial decides on each load, so that the search is short.
    pub(super) fn recheck(&self) -> Self {
        Self {
            goal: Goal {
                sum_s: self.goal.trial_s,
                ..self.goal
            },
            again: Some(self.bounds(&self.goal)),
            trials: BTreeMap::new(),
            ..*self
        }
    }

    /// Returns whether the search has a trial.
    pub(super) fn has_begun(&self) -> bool {
        !self.trials.is_empty()
    }

    /// Adds a trial.
    pub fn take(&mut self, load: u32, trial: TrialLoss) {
        self.trials.entry(load).or_default().push(trial);
    }

    /// Returns the next trial. `None`: the result is found.
    pub fn next(&self) -> Option<TrialRequest> {
        let mut hint = self.again.unwrap_or_default();
        for goal in self.levels() {
            let bounds = self.bounds(&goal);
            if let Some(load) = self.next_at(&goal, bounds, hint) {
                let seconds = goal.trial_s;
                return Some(TrialRequest { load, seconds });
            }
            hint = bounds;
        }
        let load = self.next_beside(hint).filter(|_| self.again.is_none())?;
        let seconds = self.goal.trial_s;
        Some(TrialRequest { load, seconds })
    }

    /// Returns the result so far.
    pub fn found(&self) -> FoundLoad {
        let bounds = self.bounds(&self.goal);
        let throughput = bounds.lower.and_then(|load| {
            let loss = self.goal.conditional_loss(&self.trials[&load])?;
            Some(f64::from(load) * (1.0 - loss))
        });
        FoundLoad {
            load: bounds.lower,
            too_much: bounds.upper,
            throughput,
            interval: (
                bounds.lower.and_then(|load| self.sure_lower(load).ok()),
                bounds.upper.and_then(|load| self.sure_upper(load).ok()),
            ),
        }
    }

    /// Returns the goals of the levels of precision: first rough, then fine. The last one is the goal itself. In the
    /// levels before, one trial decides. A recheck has only the last one.
    fn levels(&self) -> impl Iterator<Item = Goal> {
        let rough = |part: f64, widths: f64| Goal {
            trial_s: self.goal.trial_s * part,
            sum_s: self.goal.trial_s * part,
            width: self.goal.width * widths,
            ..self.goal
        };
        let all = [rough(0.1, 8.0), rough(0.3, 4.0), rough(1.0, 2.0), self.goal];
        let first = if self.again.is_some() { 3 } else { 0 };
        all.into_iter().skip(first)
    }

    fn bounds(&self, goal: &Goal) -> Bounds {
        let upper = self.of_class(goal, LoadClass::Upper).next();
        let is_below = |load: &u32| upper.is_none_or(|upper| *load < upper);
        let lower = self
            .of_class(goal, LoadClass::Lower)
            .filter(is_below)
            .last();
        Bounds { lower, upper }
    }

    /// Returns the load to be tried at this level. `None`: its bounds are close enough. `hint`: bounds of the level
    /// before.
    fn next_at(&self, goal: &Goal, bounds: Bounds, hint: Bounds) -> Option<u32> {
        match (bounds.lower, bounds.upper) {
            (None, None) => Some(hint.lower.or(hint.upper).unwrap_or(self.start)),
            (Some(lower), None) if lower >= self.most => None,
            (Some(lower), None) => {
                let hint = hint.upper.filter(|upper| *upper > lower);
                Some(hint.unwrap_or_else(|| self.above(lower, goal)))
            }
            (None, Some(1)) => None,
            (None, Some(upper)) => {
                let hint = hint.lower.filter(|lower| *lower < upper);
                Some(hint.unwrap_or_else(|| self.below(upper, goal)))
            }
            (Some(lower), Some(upper)) => {
                let is_narrow = f64::from(upper - lower) <= goal.width * f64::from(upper);
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

    /// Returns a load above one that passes. The step is the width, then twice the step before, but at most the load
    /// itself. While no trial has lost too much, the load doubles at once, except in a recheck.
    fn above(&self, lower: u32, goal: &Goal) -> u32 {
        let passing = self.of_class(goal, LoadClass::Lower);
        let before = passing.filter(|load| *load < lower).last();
        let mut trials = self.trials.values().flatten();
        let step = match before {
            _ if self.again.is_none() && trials.all(|trial| self.goal.is_met_by(trial)) => {
                f64::INFINITY
            }
            Some(before) => 2.0 * f64::from(lower - before),
            None => goal.width * f64::from(lower),
        };
        let step = step.min(f64::from(lower));
        at(f64::from(lower) + step).clamp(lower + 1, self.most)
    }

    /// Returns a load below one that is too much: the share that arrived, or lower by the width. The step doubles
    /// each time, but is at most half of the load.
    fn below(&self, upper: u32, goal: &Goal) -> u32 {
        let mut too_much = self.of_class(goal, LoadClass::Upper);
        let before = too_much.find(|load| *load > upper);
        let last = self.trials[&upper].last();
        let arrived = last.map_or(1.0, |last| 1.0 - last.loss);
        let step = match before {
            Some(before) => 2.0 * f64::from(before - upper),
            None => f64::from(upper) * goal.width.max(1.0 - arrived),
        };
        let step = step.min(f64::from(upper) / 2.0);
        at(f64::from(upper) - step).min(upper - 1)
    }

    /// Returns the loads of a class, the lowest first.
    fn of_class(&self, goal: &Goal, wanted: LoadClass) -> impl Iterator<Item = u32> {
        let classes = self.trials.iter();
        let of_those = classes.filter(move |(_, trials)| goal.class(trials) == wanted);
        of_those.map(|(load, _)| *load)
    }

    /// Returns the neighbour of a bound that is to be tried, until both bounds are sure.
    fn next_beside(&self, bounds: Bounds) -> Option<u32> {
        let lower = bounds.lower.map(|load| self.sure_lower(load));
        let upper = bounds.upper.map(|load| self.sure_upper(load));
        let both = [lower, upper].into_iter().flatten();
        both.filter_map(Result::err).flatten().next()
    }

    /// Returns the highest load, from `bound` down, that surely passes. `Err`: the load to be tried, if any is left.
    /// If a load were too much, all higher loads would be too much. So good trials at higher loads count for it.
    fn sure_lower(&self, bound: u32) -> Result<u32, Option<u32>> {
        self.sure(
            bound,
            |distance| at(f64::from(bound) * (1.0 - distance)),
            |load| self.counts(load, bound).p_of_so_few(self.goal.exceed) <= ERROR,
        )
    }

    /// Returns the lowest load, from `bound` up, that is surely too much. `Err`: the load to be tried, if any is
    /// left.
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
            let load = at(self.goal.width * f64::from(1_u32 << doublings));
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

    /// Counts the trials at the loads from `from` to `to`.
    fn counts(&self, from: u32, to: u32) -> TrialCounts {
        let range = self.trials.range(from..=to);
        self.goal.counts(range.flat_map(|(_, trials)| trials))
    }
}

fn at(load: f64) -> u32 {
    whole_u32(load).clamp(1, MOST)
}
