//! What is to be done: the first line of the log of a comparison.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::host::facts::Host;
use crate::plan::{Plan, Settings};
use crate::results::log::{First, Side};
use crate::results::row::Environment;
use crate::term::duration::ns;

/// What is to be done, and where.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`](crate::results::log::FORMAT).
    pub format: u32,
    /// As it was typed.
    pub command_line: Vec<String>,
    /// When the program started, UTC.
    pub started_at: String,
    /// Rounds in all; with [`Header::until`], from one look to the next.
    pub rounds: u32,
    /// What more rounds are measured for, if anything.
    pub until: Option<Until>,
    /// Of the shuffles.
    pub seed: u32,
    /// What was there before.
    pub a: Setup,
    /// What is asked about.
    pub b: Setup,
    /// The circumstances.
    pub environment: Environment,
    /// The machine.
    pub host: Host,
}

/// More rounds until each pair and each part has its verdict.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Until {
    /// Looks at most, each with an equal part of all errors.
    pub looks: u32,
    /// For no longer than this.
    #[serde(rename = "max_time_ns", with = "ns")]
    pub max_time: Duration,
}

/// One side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The program. `None`: this one.
    pub program: Option<String>,
    /// What it says of itself.
    pub version: String,
    /// Its own options, as they were typed.
    pub options: Vec<String>,
    /// The command that makes the machine that of this side.
    pub before: Option<String>,
    /// How its windows are run.
    pub settings: Settings,
    /// Its cases.
    pub plan: Plan,
}

impl Setup {
    /// What its program is called.
    pub fn name(&self) -> &str {
        self.program.as_deref().unwrap_or("this udpbench")
    }
}

impl Header {
    /// One side.
    pub fn setup(&self, side: Side) -> &Setup {
        match side {
            Side::A => &self.a,
            Side::B => &self.b,
        }
    }

    /// The most rounds that there may be.
    pub fn most_rounds(&self) -> u32 {
        let looks = self.until.map_or(1, |until| until.looks);
        self.rounds.saturating_mul(looks)
    }
}

impl First for Header {
    const KEY: &'static str = "ab";
    const WHAT: &'static str = "a log of udpbench ab";
}
