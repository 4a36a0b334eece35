//! What is to be done, and what happened, as JSON Lines: the file that every verdict follows from, and from which
//! a comparison goes on.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Side;
use crate::data::Sample;
use crate::duration::ns;
use crate::error::UsageError;
use crate::log::Kind;
use crate::plan::{Plan, Settings};
use crate::platform::host::Host;
use crate::row::Environment;

/// The only format that is read. Counts up when a reader of the old format would misread the new one.
pub const FORMAT: u32 = 1;

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The first line, and only that.
    Ab(Box<Header>),
    /// A window is over.
    Window {
        /// Of which side.
        side: Side,
        /// Of which pair, from 0.
        pair: usize,
        /// What was counted.
        sample: Box<Sample>,
    },
    /// A window could not be measured, or its packet counts did not add up: it is measured once more.
    Repeated {
        /// Of which side.
        side: Side,
        /// Of which pair, from 0.
        pair: usize,
        /// In which round.
        round: u32,
        /// Why.
        reason: String,
    },
    /// A case could not be measured, and its pair is not tried again.
    Failed {
        /// Of which side.
        side: Side,
        /// Of which pair, from 0.
        pair: usize,
        /// In which round.
        round: u32,
        /// Why.
        reason: String,
    },
    /// A signal ended it.
    Interrupted {},
    /// It goes on. Pairs that lack a side in the round that was cut off are measured anew.
    Resumed {
        /// When, UTC.
        at: String,
    },
}

/// What is to be done, and where.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
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

/// What a file holds.
pub type Log = crate::log::Log<Header, Event>;

/// Reads what a file of that name holds.
///
/// # Errors
/// The line that is not what it should be, and how.
pub fn parse(name: &str, bytes: &[u8]) -> Result<Log, UsageError> {
    let kind = Kind {
        key: "ab",
        what: "a log of udpbench ab",
        format: FORMAT,
    };
    Log::read(name, bytes, kind, |line| match line {
        Event::Ab(header) => Ok(*header),
        other => Err(other),
    })
}
