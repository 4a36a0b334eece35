//! The highest load that is borne, and what gave way above it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::loads::{Goal, Outcome};
use super::mlr::{Ask, Found, Mlr};
use super::place::Went;
use super::steady::CpuTimes;

/// Loads that differ by no more than that from the one that is borne are nearly as much work.
const NEAR: f64 = 0.1;

/// About how many trials a search takes, and how long their windows are together. Of 30 searches on an emulated board that
/// nothing disturbs, half took no more; where a machine differs from trial to trial, it is two to five times as much.
pub(super) fn expected(trial: Duration, sum: Duration) -> (u32, Duration) {
    let trials = 5.0 * sum.as_secs_f64() / trial.as_secs_f64();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count"
    )]
    let trials = trials as u32;
    (trials, sum.mul_f64(3.6))
}

/// A search for it, as far as it is.
#[derive(Clone, Debug)]
pub(super) struct Borne {
    goal: Goal,
    search: Mlr,
    trials: BTreeMap<u32, Vec<(Outcome, Went)>>,
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
        self.trials.entry(load).or_default().push((outcome, went));
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
        let lossy = trials.filter(|(outcome, _)| !self.goal.is_met_by(outcome));
        for (_, went) in lossy {
            for (place, packets) in &went.places {
                *sums.entry(place).or_default() += packets;
            }
        }
        let most = sums.into_iter().max_by_key(|(_, packets)| *packets);
        most.map(|(place, _)| place)
    }

    /// How much CPU time a datagram took, in the trials in full at loads near the one that is borne, where that is the limit:
    /// of the threads whose CPU gave way.
    pub(super) fn cpu_times(&self) -> Option<CpuTimes> {
        let place = self.gave_way()?;
        let load = f64::from(self.found().load?);
        let is_near = |at: u32| (f64::from(at) / load - 1.0).abs() <= NEAR;
        let near = self.trials.iter().filter(|(at, _)| is_near(**at));
        let trials = near.flat_map(|(_, trials)| trials);
        let in_full = trials.filter(|(outcome, _)| self.goal.is_full(outcome));
        CpuTimes::of(
            in_full
                .filter_map(|(_, went)| went.cpu_ns_at(place))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOAL: Goal = Goal {
        loss: 0.0,
        exceed: 0.5,
        trial_s: 0.5,
        sum_s: 7.0,
    };

    /// A search for a limit of 10,000, above which datagrams die at `place`. Trials take that CPU time in turn.
    fn searched(place: &'static str, cpu_ns: [[Option<f64>; 2]; 2]) -> Borne {
        let mut search = Borne::new(GOAL, 0.005, 1000..=1_000_000);
        let mut cpu_ns = cpu_ns.into_iter().cycle();
        while let Some(ask) = search.next() {
            let is_too_much = ask.load > 10_000;
            let went = Went {
                loss: if is_too_much { 0.1 } else { 0.0 },
                places: is_too_much.then_some((place, 1)).into_iter().collect(),
                cpu_ns: cpu_ns.next().expect("it goes on"),
            };
            search.take(ask.load, ask.seconds, went);
        }
        assert_eq!(search.gave_way(), Some(place));
        search
    }

    #[test]
    fn the_times_are_of_the_cpu_that_gave_way() {
        let cpu_ns = [[Some(3000.0), Some(700.0)], [Some(4500.0), Some(700.0)]];
        for place in ["sender's CPU", "client's CPU"] {
            let times = searched(place, cpu_ns).cpu_times().expect("known");
            assert_eq!((times.low_ns, times.high_ns), (3000.0, 4500.0), "{place}");
        }
        for place in ["receiver's CPU", "server's CPU"] {
            let times = searched(place, cpu_ns).cpu_times().expect("known");
            assert_eq!((times.low_ns, times.high_ns), (700.0, 700.0), "{place}");
        }
        assert_eq!(searched("qdisc", cpu_ns).cpu_times(), None);
    }

    #[test]
    fn where_nobody_counts_there_are_none() {
        let nothing = [[None, None]; 2];
        assert_eq!(searched("sender's CPU", nothing).cpu_times(), None);
    }
}
