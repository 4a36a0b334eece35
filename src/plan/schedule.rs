//! The schedule of a plan: rounds, durations and the shuffled order; the settings of a window, and the model of the
//! time that its trial takes: warm-up, window, and the waits around them. During a run, the time left is also estimated
//! from what trials have taken.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Plan, Planned};
use crate::data::Case;
use crate::host::board::Cooldown;
use crate::sys::files::Root;
use crate::text::duration::ns;
#[cfg(feature = "calibration")]
use crate::workload::delay::Delay;

/// Longest time in which the idle power is measured, before the first window and after the last one.
const LONGEST_IDLE: Duration = Duration::from_millis(1500);
/// Shortest time in which the idle power is measured.
const SHORTEST_IDLE: Duration = Duration::from_millis(150);
/// Share of the time of all windows after which either measurement of the idle power ends: one tenth.
const IDLE_SHARE: u32 = 10;
/// Share of that time that the machine, and a meter that averages, have to come to rest before: one third.
pub const REST_SHARE: u32 = 3;
/// Time after which nothing will move any more between two hosts, also with empty queues here: datagrams that the path
/// lost look like datagrams in flight. Longer than the queues of interfaces and switches hold datagrams. Every trial
/// between two hosts waits for it.
pub const QUIET_ON_A_PATH: Duration = Duration::from_millis(200);
/// Window of a verification: long enough for every buffer of a batch and every turn of a ring.
pub const VERIFYING: Duration = Duration::from_millis(20);
/// Round trips one after the other in a trial between two hosts: the requests in the table of
/// `trial/messages/message.rs`, and two probes of each flow.
const ROUND_TRIPS_ON_A_PATH: u32 = 9;
/// Time of a trial for sockets, threads, queues that are soon empty, and the final accounting.
const SOCKETS_AND_THREADS: Duration = Duration::from_millis(5);
/// Time until a new process has replaced an agent.
const NEW_PROCESS: Duration = Duration::from_millis(10);

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
        let limit = self.until.map_or(self.rounds, |_| Until::MAX_ROUNDS);
        self.rounds.max(limit)
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
            if self.verify {
                verifying += settings.time_around(case) + VERIFYING;
            }
        }
        if !round.is_zero() {
            round = round.saturating_add(settings.time_of_restart());
        }
        let rounds = round.saturating_mul(self.rounds);
        rounds.saturating_add(verifying)
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

/// Settings that every window of a sweep shares.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Settings {
    /// Time between the start of the threads and the opening of the window.
    #[serde(rename = "warmup_ns", with = "ns")]
    pub warmup: Duration,
    /// Length of a window.
    #[serde(rename = "window_ns", with = "ns")]
    pub window: Duration,
    /// True if the kernels are asked why they drop packets.
    pub drop_reasons: bool,
    /// Meter of the machine's power. `None`: it is not metered.
    pub meter: Option<Meter>,
    /// Root of the file system that sensors are read from.
    #[serde(skip, default)]
    pub root: Root,
    /// Time of a request to the other host, with its answer. Zero on one host, and if it is unknown.
    #[serde(skip, default)]
    pub request_time: Duration,
    /// Artificial delay of the senders, to check that comparisons find it.
    #[cfg(feature = "calibration")]
    pub delay: Option<Delay>,
}

/// Meter of the power of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meter {
    /// A sensor of the machine, by its name.
    Sensor(String),
    /// A command for a shell, which prints watts.
    Command(String),
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sensor(name) => f.write_str(name),
            Self::Command(_) => f.write_str("--power-command"),
        }
    }
}

impl Settings {
    /// Estimates how long one trial on one host takes, with everything that belongs to it.
    pub fn time_per_window(&self) -> Duration {
        self.traffic_time()
            .saturating_add(SOCKETS_AND_THREADS + self.request_time)
    }

    /// Estimates how long one trial of a case takes, with everything that belongs to it.
    pub fn time_of(&self, case: &Case) -> Duration {
        self.traffic_time().saturating_add(self.time_around(case))
    }

    /// Estimates the time of a trial of a case outside its warm-up and window.
    pub fn time_around(&self, case: &Case) -> Duration {
        if case.direction.is_none() {
            return SOCKETS_AND_THREADS + self.request_time;
        }
        SOCKETS_AND_THREADS + QUIET_ON_A_PATH + self.request_time * ROUND_TRIPS_ON_A_PATH
    }

    /// Estimates the time until new processes have replaced the agents.
    pub fn time_of_restart(&self) -> Duration {
        NEW_PROCESS + self.request_time
    }

    /// Returns the time from the start of the threads until the window closes.
    pub fn traffic_time(&self) -> Duration {
        self.warmup.saturating_add(self.window)
    }
}
