//! The highest load that is borne, and what gave way above it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::loads::{Goal, Outcome};
use super::mlr::{Ask, Found, Mlr};
use super::place::Went;

/// A search for it, as far as it is.
#[derive(Clone, Debug)]
pub(super) struct Borne {
    goal: Goal,
    search: Mlr,
    trials: BTreeMap<u32, Vec<Went>>,
}

impl Borne {
    /// Nothing is known yet. Bounds are to be a part of `width` apart; the loads are the first one and the highest.
    pub(super) fn new(goal: Goal, width: f64, loads: RangeInclusive<u32>) -> Self {
        Self {
            goal,
            search: Mlr::new(goal, width, loads),
            trials: BTreeMap::new(),
        }
    }

    /// The trial that tells most. `None`: it is found.
    pub(super) fn next(&self) -> Option<Ask> {
        self.search.next()
    }

    /// A trial at a load of so many seconds is over.
    pub(super) fn take(&mut self, load: u32, seconds: f64, went: Went) {
        let outcome = Outcome {
            seconds,
            loss: went.loss,
        };
        self.search.take(load, outcome);
        self.trials.entry(load).or_default().push(went);
    }

    /// What the trials say.
    pub(super) fn found(&self) -> Found {
        self.search.found()
    }

    /// What gave way first: where most was lost in the trials at the lowest load that is too much.
    pub(super) fn gave_way(&self) -> Option<&'static str> {
        let too_much = self.found().too_much?;
        let mut sums: BTreeMap<&'static str, u64> = BTreeMap::new();
        let trials = self.trials.get(&too_much)?.iter();
        for went in trials.filter(|went| went.loss > self.goal.loss) {
            for (place, packets) in &went.places {
                *sums.entry(place).or_default() += packets;
            }
        }
        let most = sums.into_iter().max_by_key(|(_, packets)| *packets);
        most.map(|(place, _)| place)
    }
}
