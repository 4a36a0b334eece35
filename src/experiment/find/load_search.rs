//! Searches for the highest sustainable load, and for the limiting place above it. Judges whether a CPU and the
//! capacity stayed the same over all trials.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use statrs::statistics::{Data, OrderStatistics};

use super::loads::{FoundLoad, Goal, TrialLoss, TrialRequest};
use super::mlr::Mlr;
use super::place::TrialOutcome;
use crate::text::digits::counted;
use crate::text::digits::whole_u32;

/// Largest relative distance from the sustainable load at which the work per datagram is nearly the same.
const NEAR: f64 = 0.1;

/// Estimates the number of trials of a search, and the sum of their windows. Of 30 searches on an undisturbed
/// emulated board, half took no more. On a machine that differs from trial to trial, a search takes two to five times
/// as much.
pub(super) fn expected(trial: Duration, sum: Duration) -> (u32, Duration) {
    let trials = 5.0 * sum.as_secs_f64() / trial.as_secs_f64();
    (whole_u32(trials), sum.mul_f64(3.6))
}

/// State of a search for the sustainable load.
#[derive(Clone, Debug)]
pub(super) struct LoadSearch {
    goal: Goal,
    search: Mlr,
    /// Rechecks of the bounds so far.
    rechecks: Vec<Mlr>,
    /// Number of rechecks in the end.
    all_rechecks: usize,
    /// Trials so far, by load.
    trials: BTreeMap<u32, Vec<LoadTrial>>,
}

/// Trial of a search for the sustainable load.
#[derive(Clone, Debug)]
pub(super) struct LoadTrial {
    /// Load that was tried.
    pub(super) load: u32,
    /// Length in seconds.
    pub(super) seconds: f64,
    /// Loss, and the places that it was lost at.
    pub(super) outcome: TrialOutcome,
}

impl LoadTrial {
    fn loss(&self) -> TrialLoss {
        TrialLoss {
            seconds: self.seconds,
            loss: self.outcome.loss,
        }
    }
}

impl LoadSearch {
    /// Creates a search without trials. `loads`: first and highest load. `all_rechecks`: number of rechecks of both
    /// bounds, which widen the interval where the bounds have moved.
    pub(super) fn new(goal: Goal, loads: RangeInclusive<u32>, all_rechecks: usize) -> Self {
        Self {
            goal,
            search: Mlr::new(goal, loads),
            rechecks: Vec::new(),
            all_rechecks,
            trials: BTreeMap::new(),
        }
    }

    /// Returns the next trial. `None`: the load is found.
    pub(super) fn next(&self) -> Option<TrialRequest> {
        self.rechecks.last().unwrap_or(&self.search).next()
    }

    /// Returns whether the next trial begins a recheck.
    pub(super) fn begins_recheck(&self) -> bool {
        let last = self.rechecks.last();
        last.is_some_and(|recheck| !recheck.has_begun())
    }

    /// Adds a trial.
    pub(super) fn take(&mut self, trial: LoadTrial) {
        let search = self.rechecks.last_mut().unwrap_or(&mut self.search);
        search.take(trial.load, trial.loss());
        self.trials.entry(trial.load).or_default().push(trial);
        if self.rechecks.len() < self.all_rechecks && self.next().is_none() {
            let found = self.search.found();
            if found.load.is_some() && found.too_much.is_some() {
                self.rechecks.push(self.search.recheck());
            }
        }
    }

    /// Returns the result so far. The interval holds the bounds of all rechecks. Before they are over, there is none.
    pub(super) fn found(&self) -> FoundLoad {
        let mut found = self.search.found();
        if !self.rechecks.is_empty() && self.next().is_some() {
            found.interval = (None, None);
        }
        for again in self.rechecks.iter().map(Mlr::found) {
            let (low, high) = found.interval;
            let high = high.zip(again.too_much).map(|(one, two)| one.max(two));
            found.interval = (low.min(again.load), high);
        }
        found
    }

    /// Returns whether a trial met the goal.
    fn is_met(&self, trial: &LoadTrial) -> bool {
        self.goal.is_met_by(&trial.loss())
    }

    /// Returns the full trials at each load, the lowest load first.
    fn full(&self) -> impl DoubleEndedIterator<Item = (u32, Vec<&LoadTrial>)> {
        self.trials.iter().map(|(load, trials)| {
            let full = trials.iter().filter(|it| self.goal.is_full(&it.loss()));
            (*load, full.collect())
        })
    }

    /// Returns whether the capacity and the CPU that limits it stayed as they were, as far as the trials tell.
    pub(super) fn is_steady(&self) -> bool {
        let outcomes = |(_, full): (u32, Vec<&LoadTrial>)| {
            full.into_iter().map(|trial| self.is_met(trial)).collect()
        };
        !wanders(self.full().map(outcomes)) && self.cpu_times().is_none_or(CpuTimes::are_steady)
    }

    /// Returns the lowest load at which a full trial lost too much, and the highest at which one did not.
    pub(super) fn seen(&self) -> (Option<u32>, Option<u32>) {
        let has = |full: &[&LoadTrial], is_met| full.iter().any(|it| self.is_met(it) == is_met);
        let lost = self.full().find(|(_, full)| has(full, false));
        let passed = self.full().rfind(|(_, full)| has(full, true));
        (lost.map(|(load, _)| load), passed.map(|(load, _)| load))
    }

    /// Returns the limiting place: the place of most losses in the trials at the lowest load that is too much.
    pub(super) fn limiting_place(&self) -> Option<&'static str> {
        let too_much = self.found().too_much?;
        let mut sums: BTreeMap<&'static str, u64> = BTreeMap::new();
        let trials = self.trials.get(&too_much)?.iter();
        for trial in trials.filter(|trial| !self.is_met(trial)) {
            for (place, packets) in &trial.outcome.places {
                *sums.entry(place).or_default() += packets;
            }
        }
        let most = sums.into_iter().max_by_key(|(_, packets)| *packets);
        most.map(|(place, _)| place)
    }

    /// Returns whether a trial lost too much while another program disturbed it. Such a trial tells nothing about the
    /// load.
    pub(super) fn lost_while_disturbed(&self, trial: &LoadTrial) -> bool {
        trial.outcome.is_disturbed && !self.is_met(trial)
    }

    /// Returns the reason why the bounds may be wrong, if the trials give one: other programs disturbed at least half
    /// of the trials that lost too much, at the bounds or below, or half or more of the trials well above them met the
    /// goal.
    pub(super) fn doubt(&self) -> Option<LoadDoubt> {
        let too_much = f64::from(self.found().too_much?) * (1.0 + NEAR);
        let (mut disturbed, mut lossy, mut good, mut above) = (0, 0, 0, 0);
        let full = self.full();
        for (load, trial) in full.flat_map(|(at, full)| full.into_iter().map(move |it| (at, it))) {
            let is_met = self.is_met(trial);
            if f64::from(load) > too_much {
                above += 1;
                good += usize::from(is_met);
            } else if !is_met {
                lossy += 1;
                disturbed += usize::from(trial.outcome.is_disturbed);
            }
        }
        if 2 * disturbed >= lossy.max(1) {
            return Some(LoadDoubt {
                is_disturbance: true,
                why: format!(
                    "other programs took the CPUs in {disturbed} of the {} that lost too much: it may bear more",
                    counted(lossy, "trial")
                ),
            });
        }
        (good > 0 && 2 * good >= above).then(|| LoadDoubt {
            is_disturbance: false,
            why: format!(
                "{good} of {} at a load 10 % or more above that lost no more than they may",
                counted(above, "trial")
            ),
        })
    }

    /// Returns the CPU time per datagram of the threads whose CPU is the limiting place, over the full trials near
    /// the sustainable load. `None`: no CPU is the limiting place, or too few trials tell the time.
    pub(super) fn cpu_times(&self) -> Option<CpuTimes> {
        let place = self.limiting_place()?;
        let load = f64::from(self.found().load?);
        let is_near = |at: u32| (f64::from(at) / load - 1.0).abs() <= NEAR;
        let near = self.full().filter(|(at, _)| is_near(*at));
        let trials = near.flat_map(|(_, full)| full);
        let times = trials.filter_map(|trial| trial.outcome.cpu_ns_at(place));
        CpuTimes::of(times.collect())
    }
}

/// Reason from the trials why the bounds of a search may be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadDoubt {
    /// True if other programs are the reason.
    pub is_disturbance: bool,
    /// Reason in words.
    pub why: String,
}

/// A machine is steady if the 90th percentile of the trials' CPU times is at most this multiple of the 10th. It was
/// 1.01 to 1.02 in 30 searches on an emulated board whose clock counts instructions, 1.12 to 1.66 in nine searches on a
/// shared virtual machine.
const MAX_P90_TO_P10: f64 = 1.1;
/// Smallest number of trials that allows a judgement.
const MIN_TRIALS: usize = 10;

/// Range over the trials of the CPU time per datagram or request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CpuTimes {
    /// 10th percentile of the trials, in nanoseconds.
    pub low_ns: f64,
    /// 90th percentile of the trials, in nanoseconds.
    pub high_ns: f64,
}

impl CpuTimes {
    /// Creates the range from the time of each trial, in nanoseconds. `None`: there are too few trials.
    pub(super) fn of(trials: Vec<f64>) -> Option<Self> {
        if trials.len() < MIN_TRIALS {
            return None;
        }
        let mut trials = Data::new(trials);
        Some(Self {
            low_ns: trials.percentile(10),
            high_ns: trials.percentile(90),
        })
    }

    /// Returns whether the CPU was equally fast in nearly all trials: their ratio is at most `MAX_P90_TO_P10`.
    pub(super) fn are_steady(self) -> bool {
        self.high_ns <= MAX_P90_TO_P10 * self.low_ns
    }
}

/// Number of standard deviations by which too few changes of outcome show a capacity that wanders: by chance in one of
/// 40 searches.
const TOO_FEW: f64 = 1.96;

/// Returns whether trials of one load have the same outcome as the trial before more often than by chance. `outcomes`:
/// those of each load, in the order of time. The count of changes is that of Wald & Wolfowitz (Annals of Mathematical
/// Statistics 11 (1940) 147-162), summed over the loads.
pub(super) fn wanders(outcomes: impl Iterator<Item = Vec<bool>>) -> bool {
    let (mut surplus, mut variance) = (0.0, 0.0);
    for outcomes in outcomes {
        let trials = outcomes.len() as f64;
        let good = outcomes.iter().filter(|is_good| **is_good).count() as f64;
        let mixed = 2.0 * good * (trials - good);
        if mixed == 0.0 {
            continue;
        }
        let changes = outcomes.windows(2).filter(|pair| pair[0] != pair[1]);
        surplus += changes.count() as f64 - mixed / trials;
        variance += mixed * (mixed - trials) / (trials * trials * (trials - 1.0));
    }
    // Half a change for the step from counts to a normal distribution.
    surplus + 0.5 < -TOO_FEW * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_in_ten_trials_on_each_side_is_steady() {
        let mut trials = vec![1000.0; 18];
        trials.extend([100.0, 9000.0]);
        let times = CpuTimes::of(trials).expect("enough");
        assert!(times.are_steady(), "{times:?}");
    }

    #[test]
    fn two_speeds_in_turn_are_not_steady() {
        let trials = [1000.0, 1400.0].repeat(MIN_TRIALS);
        let times = CpuTimes::of(trials).expect("enough");
        assert_eq!((times.low_ns, times.high_ns), (1000.0, 1400.0));
        assert!(!times.are_steady());
    }

    #[test]
    fn a_capacity_wanders_if_trials_of_a_load_all_pass_first_and_all_fail_later() {
        let outcomes = |text: &str| text.chars().map(|it| it == '+').collect();
        let wanders = |loads: &[&str]| wanders(loads.iter().map(|load| outcomes(load)));
        assert!(wanders(&["++++++++--------"]));
        assert!(wanders(&["++++----", "++++++--", "+++-----"]));
        assert!(!wanders(&["++++++++", "--------"]));
        assert!(!wanders(&["++-+--+-+--++-+-"]));
        assert!(!wanders(&["++-", "+", ""]));
    }

    #[test]
    fn too_few_trials_give_no_range() {
        assert_eq!(CpuTimes::of(vec![1.0; MIN_TRIALS - 1]), None);
    }

    const GOAL: Goal = Goal {
        loss: 0.0,
        exceed: 0.5,
        trial_s: 0.5,
        sum_s: 7.0,
        width: 0.005,
    };

    fn trial(asked: TrialRequest, outcome: TrialOutcome) -> LoadTrial {
        LoadTrial {
            load: asked.load,
            seconds: asked.seconds,
            outcome,
        }
    }

    /// Runs a search with a limit of 10,000. Above it, `place` loses datagrams. The trials take the CPU times in
    /// turn.
    fn searched(place: &'static str, cpu_ns: [[Option<f64>; 2]; 2]) -> LoadSearch {
        let mut search = LoadSearch::new(GOAL, 1000..=1_000_000, 0);
        let mut cpu_ns = cpu_ns.into_iter().cycle();
        while let Some(ask) = search.next() {
            let is_too_much = ask.load > 10_000;
            let outcome = TrialOutcome {
                loss: if is_too_much { 0.1 } else { 0.0 },
                places: is_too_much.then_some((place, 1)).into_iter().collect(),
                cpu_ns: cpu_ns.next().expect("it goes on"),
                is_disturbed: false,
            };
            search.take(trial(ask, outcome));
        }
        assert_eq!(search.limiting_place(), Some(place));
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

    fn outcome(loss: f64, is_disturbed: bool) -> TrialOutcome {
        TrialOutcome {
            loss,
            places: Vec::new(),
            cpu_ns: [None, None],
            is_disturbed,
        }
    }

    /// Returns the doubt after a search whose trials have these outcomes, by load.
    fn doubt(mut outcome_at: impl FnMut(u32) -> TrialOutcome) -> Option<LoadDoubt> {
        let mut search = LoadSearch::new(GOAL, 1000..=1_000_000, 0);
        while let Some(ask) = search.next() {
            search.take(trial(ask, outcome_at(ask.load)));
        }
        search.doubt()
    }

    #[test]
    fn bounds_by_trials_that_others_disturbed_are_doubtful() {
        let at = |is_disturbed| {
            move |load| {
                outcome(
                    if load > 10_000 { 0.1 } else { 0.0 },
                    is_disturbed && load > 10_000,
                )
            }
        };
        assert_eq!(doubt(at(false)), None);
        let found = doubt(at(true)).expect("others disturbed it");
        let (_, counts) = found.why.split_once("took the CPUs in ").expect("counts");
        let (disturbed, lossy) = counts.split_once(" of the ").expect("both");
        assert!(
            lossy.starts_with(&format!("{disturbed} trials ")),
            "{found:?}"
        );
        assert!(found.is_disturbance);
    }

    #[test]
    fn bounds_far_below_what_was_borne_later_are_doubtful() {
        let mut search = LoadSearch::new(GOAL, 1000..=1_000_000, 0);
        // Like a machine that was busy at first.
        while let Some(ask) = search.next() {
            let is_lost = ask.load > 10_000;
            let outcome = outcome(if is_lost { 0.1 } else { 0.0 }, false);
            search.take(trial(ask, outcome));
        }
        assert_eq!(search.doubt(), None);
        for _ in 0..20 {
            let asked = TrialRequest {
                load: 60_000,
                seconds: 0.5,
            };
            search.take(trial(asked, outcome(0.0, false)));
        }
        let found = search.doubt().expect("the bounds are too low");
        assert!(found.why.starts_with("20 of 20 trials "), "{found:?}");
        assert!(!found.is_disturbance);
    }

    #[test]
    fn only_a_disturbed_trial_that_lost_too_much_is_repeated() {
        let search = LoadSearch::new(GOAL, 1000..=1_000_000, 0);
        let asked = search.next().expect("there are no trials yet");
        for (loss, is_disturbed, is_repeated) in
            [(0.1, true, true), (0.0, true, false), (0.1, false, false)]
        {
            let trial = trial(asked, outcome(loss, is_disturbed));
            assert_eq!(search.lost_while_disturbed(&trial), is_repeated);
        }
    }

    #[test]
    fn where_nobody_counts_there_are_none() {
        let nothing = [[None, None]; 2];
        assert_eq!(searched("sender's CPU", nothing).cpu_times(), None);
    }
}
