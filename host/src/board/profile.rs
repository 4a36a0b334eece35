//! Keys of a profile. [`super::rules`] checks their values.

use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::data::{Payload, Threads};

/// A board profile: a file in `boards/`. `boards/README.md` explains every key.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Name for `--board` and the results: lower-case letters, digits and dashes.
    pub name: String,
    /// Title for users.
    pub title: String,
    /// Places and dates of runs on hardware. Empty: never.
    pub verified_on: Vec<String>,
    /// Rust target triples that run on the board, the best first. At least one.
    pub targets: Vec<String>,
    /// Limits of the board, as sentences: things that it cannot do, or does not let measure well.
    pub limits: Vec<String>,
    /// Rules that recognise the board. A profile without any is never detected.
    #[serde(default)]
    pub detect: Detect,
    /// The CPUs that the placements rely on. [`Board::contradiction`] compares a host with them.
    pub cpus: Option<Cpus>,
    /// Values for options that the command line leaves out.
    pub defaults: Defaults,
    /// Durations of the phases before measuring.
    pub timing: Timing,
    /// Temperature and time limit for cooling down.
    pub cooldown: Option<Cooldown>,
    /// Temperatures at which heat slows the board down.
    pub throttle: Option<Throttle>,
    /// CPUs per thread count on loopback. Empty: computed from the topology, for any thread count.
    #[serde(default)]
    pub(super) loopback: Vec<Pinned>,
    /// CPUs per thread count if the other role is on another machine.
    #[serde(default)]
    pub(super) wire: Vec<Wired>,
}

/// Rules that recognise a board.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detect {
    /// Entries of `/proc/device-tree/compatible`, compared whole.
    #[serde(default)]
    pub compatible: Vec<String>,
    /// Texts of `/proc/device-tree/model`, without a revision, compared whole.
    #[serde(default)]
    pub model: Vec<String>,
}

/// The CPUs that the placements of a profile rely on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpus {
    /// Number of CPUs of the board, in all clusters.
    pub count: usize,
    /// Numbers of the CPUs with the highest `cpu_capacity`. Empty: all CPUs are alike.
    #[serde(default)]
    pub big: Vec<usize>,
}

/// Values for options that the command line leaves out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// Thread counts.
    pub threads: Vec<Threads>,
    /// Payloads, in bytes.
    pub payload: Vec<Payload>,
}

impl Defaults {
    /// Returns the defaults with only the thread counts for which `cpus` CPUs are enough. Keeps at least the
    /// smallest.
    pub fn on(&self, cpus: usize) -> Self {
        let least = self.threads.iter().min();
        let fits = |count: &&Threads| count.count() <= cpus || Some(*count) == least;
        Self {
            threads: self.threads.iter().filter(fits).copied().collect(),
            payload: self.payload.clone(),
        }
    }
}

/// Durations of the phases before measuring.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Time between the start of the bench threads and the start of each window.
    #[serde(deserialize_with = "duration")]
    pub warmup: Duration,
    /// Duration of traffic once before the first case, which ends the idle state of clocks and caches.
    #[serde(deserialize_with = "duration")]
    pub heat: Duration,
}

/// Limits for cooling down before the next round of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cooldown {
    /// Temperature in degrees Celsius. A round waits while the hottest zone is not below it.
    pub below_c: u16,
    /// Longest wait, over all rounds of a block.
    #[serde(deserialize_with = "duration", serialize_with = "duration_text")]
    pub at_most: Duration,
}

/// Temperatures at which heat slows a board down.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// Temperature in degrees Celsius from which firmware or kernel lower the clock.
    pub from_c: u16,
    /// Temperature in degrees Celsius from which firmware or kernel take their last measure: the deepest cut, or a
    /// shutdown.
    pub critical_c: Option<u16>,
}

/// The CPUs for one thread count on loopback.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pinned {
    pub(super) threads: Threads,
    pub(super) senders: Vec<usize>,
    pub(super) receivers: Vec<usize>,
}

/// The CPUs for one thread count of one role.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wired {
    pub(super) threads: Threads,
    pub(super) cpus: Vec<usize>,
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    crate::text::duration::parse(&text).map_err(D::Error::custom)
}

fn duration_text<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&humantime::format_duration(*duration))
}
