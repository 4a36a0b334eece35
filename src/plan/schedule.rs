//! How a plan is gone through: how often, how long, and in which order.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Plan, Planned};
use crate::host::board::Cooldown;
use crate::sys::files::Root;
use crate::term::duration::ns;
#[cfg(feature = "calibration")]
use crate::workload::delay::Delay;

/// How every window of a sweep is run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Settings {
    /// Time between the start of the threads and the opening of the window.
    #[serde(rename = "warmup_ns", with = "ns")]
    pub warmup: Duration,
    /// How long a window is open.
    #[serde(rename = "window_ns", with = "ns")]
    pub window: Duration,
    /// Whether the kernels are asked why they drop packets.
    pub drop_reasons: bool,
    /// Where sensors are read.
    #[serde(skip, default)]
    pub root: Root,
    /// What slows engines down, to see whether that is found.
    #[cfg(feature = "calibration")]
    pub delay: Option<Delay>,
}

/// How a plan is gone through.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// How each window is run.
    pub settings: Settings,
    /// Windows per case; with [`Schedule::until`], at least.
    pub rounds: u32,
    /// What more rounds are measured for, if anything.
    pub until: Option<Until>,
    /// Whether the datagrams of each case are looked at first.
    pub verify: bool,
    /// Traffic once before the first block.
    #[serde(rename = "soak_ns", with = "ns")]
    pub soak: Duration,
    /// When to wait before a round of a block.
    pub cooldown: Option<Cooldown>,
    /// Of the shuffles.
    pub seed: u32,
}

/// What more rounds are measured for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// Half the width of every 95 % interval of a block, in percent of its estimate.
    pub half_width_pct: f64,
    /// For no longer than this, over all blocks.
    #[serde(rename = "max_time_ns", with = "ns")]
    pub max_time: Duration,
}

impl Until {
    /// Beyond it, no interval gets narrower in a lifetime.
    pub const MAX_ROUNDS: u32 = 10_000;
}

/// Sockets, threads, draining and closing the books.
const BETWEEN_WINDOWS: Duration = Duration::from_millis(4);

impl Settings {
    /// About how long a window takes, with all that belongs to it.
    pub fn time_per_window(&self) -> Duration {
        let traffic = self.warmup.saturating_add(self.window);
        traffic.saturating_add(BETWEEN_WINDOWS)
    }
}

impl Schedule {
    /// How many windows a plan has at least.
    pub fn windows(&self, plan: &Plan) -> u64 {
        plan.runnable().count() as u64 * u64::from(self.rounds)
    }

    /// The most windows that a case may have.
    pub fn most_rounds(&self) -> u32 {
        match self.until {
            None => self.rounds,
            Some(_) => self.rounds.max(Until::MAX_ROUNDS),
        }
    }

    /// About how long one of them takes, with all that belongs to it.
    pub fn time_per_window(&self) -> Duration {
        self.settings.time_per_window()
    }

    /// About how long a plan takes, without cool-downs and `--until`.
    pub fn expected_time(&self, plan: &Plan) -> Duration {
        let windows = u32::try_from(self.windows(plan)).unwrap_or(u32::MAX);
        let measuring = self.time_per_window().saturating_mul(windows);
        self.soak.saturating_add(measuring)
    }

    /// The time after which a plan that works is over: with all of `--max-time`, and every cool-down at its longest.
    pub fn longest_time(&self, plan: &Plan) -> Duration {
        let until = self.until.map_or(Duration::ZERO, |until| until.max_time);
        let blocks = u32::try_from(self.order_of_blocks(plan, 1).len()).unwrap_or(u32::MAX);
        let cooldown = self.cooldown.map_or(Duration::ZERO, |it| it.at_most);
        self.expected_time(plan)
            .saturating_add(until)
            .saturating_add(cooldown.saturating_mul(blocks))
    }

    /// The blocks in which something runs, by their place in the plan, in the order of this round. Every round has
    /// a seed of its own, so that a sweep that is resumed goes on in the order in which it would have gone on.
    pub fn order_of_blocks(&self, plan: &Plan, round: u32) -> Vec<usize> {
        let blocks = plan.blocks.iter().enumerate();
        let runs = blocks.filter(|(_, block)| block.cases.iter().any(Planned::runs));
        let mut order: Vec<usize> = runs.map(|(number, _)| number).collect();
        self.shuffle(&mut order, 0, round);
        order
    }

    /// The places of `count` cases in one round of a block.
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
