//! The highest load that is borne, and what gave way above it.

use std::collections::BTreeMap;
use std::fmt;
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

    /// Whether a trial lost too much, and may have lost it to something else that ran: it says nothing of the load.
    pub(super) fn is_spoilt(&self, seconds: f64, went: &Went) -> bool {
        let outcome = Outcome {
            seconds,
            loss: went.loss,
        };
        went.is_disturbed && !self.goal.is_met_by(&outcome)
    }

    /// Why the bounds may be wrong, if the trials give a reason.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        let too_much = f64::from(self.found().too_much?) * (1.0 + NEAR);
        let (mut disturbed, mut lossy, mut good, mut above) = (0, 0, 0, 0);
        for (load, trials) in &self.trials {
            for (outcome, went) in trials
                .iter()
                .filter(|(outcome, _)| self.goal.is_full(outcome))
            {
                let is_met = self.goal.is_met_by(outcome);
                if f64::from(*load) > too_much {
                    above += 1;
                    good += usize::from(is_met);
                } else if !is_met {
                    lossy += 1;
                    disturbed += usize::from(went.is_disturbed);
                }
            }
        }
        if 2 * disturbed >= lossy.max(1) {
            return Some(Doubt::Disturbed { disturbed, lossy });
        }
        let is_contradiction = good > 0 && 2 * good >= above;
        is_contradiction.then_some(Doubt::Contradicted { good, above })
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

/// Why the bounds of a search may be wrong: trials in full that say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Of those that lost too much at the bounds or below, so many were disturbed by something else that ran.
    Disturbed {
        /// The disturbed ones.
        disturbed: usize,
        /// All that lost too much.
        lossy: usize,
    },
    /// Of those well above the bounds, half or more lost no more than the goal.
    Contradicted {
        /// Those that lost no more.
        good: usize,
        /// All above.
        above: usize,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disturbed { disturbed, lossy } => write!(
                f,
                "other programs took the CPUs in {disturbed} of the {lossy} trials that lost too much: it may bear more"
            ),
            Self::Contradicted { good, above } => write!(
                f,
                "{good} of {above} trials at a load 10 % or more above that lost no more than they may"
            ),
        }
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
                is_disturbed: false,
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

    fn went(loss: f64, is_disturbed: bool) -> Went {
        Went {
            loss,
            places: Vec::new(),
            cpu_ns: [None, None],
            is_disturbed,
        }
    }

    /// A search in which `trial` says how one at a load goes.
    fn doubt(mut trial: impl FnMut(u32) -> Went) -> Option<Doubt> {
        let mut search = Borne::new(GOAL, 0.005, 1000..=1_000_000);
        while let Some(ask) = search.next() {
            search.take(ask.load, ask.seconds, trial(ask.load));
        }
        search.doubt()
    }

    #[test]
    fn bounds_by_trials_that_others_disturbed_are_doubtful() {
        let at = |is_disturbed| {
            move |load| {
                went(
                    if load > 10_000 { 0.1 } else { 0.0 },
                    is_disturbed && load > 10_000,
                )
            }
        };
        assert_eq!(doubt(at(false)), None);
        let found = doubt(at(true));
        let is_right = |doubt: &Doubt| matches!(doubt, Doubt::Disturbed { disturbed, lossy } if disturbed == lossy && *lossy > 0);
        assert!(found.as_ref().is_some_and(is_right), "{found:?}");
    }

    #[test]
    fn bounds_far_below_what_was_borne_later_are_doubtful() {
        let mut search = Borne::new(GOAL, 0.005, 1000..=1_000_000);
        // As a machine that was busy at first.
        while let Some(ask) = search.next() {
            let is_lost = ask.load > 10_000;
            search.take(
                ask.load,
                ask.seconds,
                went(if is_lost { 0.1 } else { 0.0 }, false),
            );
        }
        assert_eq!(search.doubt(), None);
        for _ in 0..20 {
            search.take(60_000, 0.5, went(0.0, false));
        }
        assert_eq!(
            search.doubt(),
            Some(Doubt::Contradicted {
                good: 20,
                above: 20
            })
        );
    }

    #[test]
    fn only_a_disturbed_trial_that_lost_is_spoilt() {
        let search = Borne::new(GOAL, 0.005, 1000..=1_000_000);
        for (loss, is_disturbed, is_spoilt) in
            [(0.1, true, true), (0.0, true, false), (0.1, false, false)]
        {
            assert_eq!(search.is_spoilt(0.5, &went(loss, is_disturbed)), is_spoilt);
        }
    }

    #[test]
    fn where_nobody_counts_there_are_none() {
        let nothing = [[None, None]; 2];
        assert_eq!(searched("sender's CPU", nothing).cpu_times(), None);
    }
}
