//! The schedule of a plan: rounds, durations and the shuffled order.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::settings::{Settings, VERIFYING};
use super::{Plan, Planned};
use crate::host::board::Cooldown;
use crate::text::duration::ns;

/// Longest time in which the idle power is measured, before the first window and after the last one.
const LONGEST_IDLE: Duration = Duration::from_millis(1500);
/// Shortest time in which the idle power is measured.
const SHORTEST_IDLE: Duration = Duration::from_millis(150);
/// Share of the time of all windows after which either measurement of the idle power ends: one tenth.
const IDLE_SHARE: u32 = 10;
/// Share of that time that the machine, and a meter that averages, have to come to rest before: one third.
pub const REST_SHARE: u32 = 3;

/// Rounds, durations and order in which the cases of a plan are measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// Settings of each window.
    pub settings: Settings,
    /// Windows per case; the minimum if [`Schedule::until`] is set.
    pub rounds: u32,
    /// Goal for which more rounds are measured, if any.
    pub until: Option<Until>,
    /// True if the datagrams of each case are verified first.
    pub verify: bool,
    /// Duration of the traffic that runs once, before the first block.
    #[serde(rename = "heat_ns", with = "ns")]
    pub heat: Duration,
    /// Condition for waiting before a round of a block.
    pub cooldown: Option<Cooldown>,
    /// Seed of the shuffles.
    pub seed: u32,
}

/// Goal and time limit of additional rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// Half the width of every 95 % interval of a block, in percent of its estimate.
    pub half_width_pct: f64,
    /// Time limit over all blocks.
    #[serde(rename = "max_time_ns", with = "ns")]
    pub max_time: Duration,
}

impl Until {
    /// Upper limit of rounds: beyond it, no interval gets narrower in a lifetime.
    pub const MAX_ROUNDS: u32 = 10_000;
}

impl Schedule {
    /// Returns the minimum number of windows of a plan.
    pub fn windows(&self, plan: &Plan) -> u64 {
        plan.runnable().count() as u64 * u64::from(self.rounds)
    }

    /// Returns the maximum number of windows of a case.
    pub fn most_rounds(&self) -> u32 {
        match self.until {
            None => self.rounds,
            Some(_) => self.rounds.max(Until::MAX_ROUNDS),
        }
    }

    /// Estimates how long a window of a plan takes on average, with everything that belongs to it.
    pub fn time_per_window(&self, plan: &Plan) -> Duration {
        let windows = u32::try_from(self.windows(plan)).unwrap_or(u32::MAX);
        self.measuring_time(plan) / windows.max(1)
    }

    /// Estimates how long a plan takes, without cool-downs and `--until`.
    pub fn expected_time(&self, plan: &Plan) -> Duration {
        let idle = self.idle_time(plan).unwrap_or_default();
        let idle = 2 * (idle + idle / REST_SHARE);
        let measuring = self.measuring_time(plan);
        self.heat.saturating_add(measuring).saturating_add(idle)
    }

    /// Returns the time of each measurement of the idle power. `None`: the power is not metered.
    pub fn idle_time(&self, plan: &Plan) -> Option<Duration> {
        self.settings.meter.as_ref()?;
        let measuring = self.measuring_time(plan);
        Some((measuring / IDLE_SHARE).clamp(SHORTEST_IDLE, LONGEST_IDLE))
    }

    /// Estimates how long all rounds take.
    fn measuring_time(&self, plan: &Plan) -> Duration {
        let settings = &self.settings;
        let (mut round, mut verifying) = (Duration::ZERO, Duration::ZERO);
        for Planned { case, .. } in plan.runnable() {
            round = round.saturating_add(settings.time_of(case));
            verifying += settings.time_around(case) + VERIFYING;
        }
        if !round.is_zero() {
            round = round.saturating_add(settings.time_of_restart());
        }
        let rounds = round.saturating_mul(self.rounds);
        if self.verify {
            rounds.saturating_add(verifying)
        } else {
            rounds
        }
    }

    /// Returns the time after which a plan that makes progress is over: all of `--max-time`, and every cool-down at its
    /// longest.
    pub fn longest_time(&self, plan: &Plan) -> Duration {
        let until = self.until.map_or(Duration::ZERO, |until| until.max_time);
        let blocks = u32::try_from(self.order_of_blocks(plan, 1).len()).unwrap_or(u32::MAX);
        let cooldown = self.cooldown.map_or(Duration::ZERO, |it| it.at_most);
        self.expected_time(plan)
            .saturating_add(until)
            .saturating_add(cooldown.saturating_mul(blocks))
    }

    /// Returns the order of the blocks in a round, as indices into the plan; blocks in which nothing runs are left out.
    ///
    /// Every round has its own seed, so that a resumed sweep continues in its original order.
    pub fn order_of_blocks(&self, plan: &Plan, round: u32) -> Vec<usize> {
        let blocks = plan.blocks.iter().enumerate();
        let runs = blocks.filter(|(_, block)| block.cases.iter().any(Planned::runs));
        let mut order: Vec<usize> = runs.map(|(number, _)| number).collect();
        self.shuffle(&mut order, 0, round);
        order
    }

    /// Returns the order of the `count` cases of a block in a round, as indices.
    pub fn order_of_round(&self, block: usize, round: u32, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        self.shuffle(&mut order, block + 1, round);
        order
    }

    fn shuffle(&self, order: &mut [usize], what: usize, round: u32) {
        let seed = (u64::from(self.seed) << 32) ^ ((what as u64) << 14) ^ u64::from(round);
        fastrand::Rng::with_seed(seed).shuffle(order);
    }
}
