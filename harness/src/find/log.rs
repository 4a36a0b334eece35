//! What is to be done, and what happened, as JSON Lines: the file that every answer follows from, and from which a search
//! goes on.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{burst, cliff, idle, knob, lossless};
use crate::data::Sample;
use crate::duration::ns;
use crate::error::UsageError;
use crate::log::Kind;
use crate::plan::{Plan, Settings, Wire};
use crate::platform::host::Host;
use crate::platform::knob::Knobs;
use crate::row::Environment;

/// The only format that is read. Counts up when a reader of the old format would misread the new one.
pub const FORMAT: u32 = 1;

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The first line, and only that.
    Find(Box<Header>),
    /// A trial is over.
    Trial {
        /// Of which case of the plan, from 0.
        case: usize,
        /// Which setting had the value that is tried, from 0. Absent: all were as they are.
        #[serde(skip_serializing_if = "Option::is_none")]
        knob: Option<usize>,
        /// What was counted.
        sample: Box<Sample>,
    },
    /// A trial could not be made, or its packet counts did not add up: it is made once more.
    Repeated {
        /// Of which case.
        case: usize,
        /// Why.
        reason: String,
    },
    /// A case could not be measured, and has no more trials.
    Failed {
        /// Which one.
        case: usize,
        /// Why.
        reason: String,
    },
    /// A setting could not be tried in a case, and is not tried there any more.
    GivenUp {
        /// Of which case.
        case: usize,
        /// Which setting.
        knob: usize,
        /// Why.
        reason: String,
    },
    /// It ended before it was complete: by a signal, or the other host is gone.
    Interrupted {},
    /// It goes on.
    Resumed {
        /// When, UTC.
        at: String,
    },
}

/// What is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// The highest rate without loss.
    Lossless(lossless::Asked),
    /// The byte at which something jumps.
    Cliff(cliff::Asked),
    /// The silence after which something is different.
    Idle(idle::Asked),
    /// The longest train of datagrams that is taken whole.
    Burst(burst::Asked),
    /// The settings that help.
    Knob(knob::Asked),
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
    /// What is searched for.
    pub question: Question,
    /// For no longer than this, each case.
    #[serde(rename = "max_time_ns", with = "ns")]
    pub max_time: Duration,
    /// How trials are made; each has a window of its own.
    pub settings: Settings,
    /// The cases.
    pub plan: Plan,
    /// The circumstances.
    pub environment: Environment,
    /// The machine.
    pub host: Host,
    /// Of a search for trains, what a datagram takes up in the receive buffer of a socket on loopback, in bytes, by its
    /// payload, also in bytes. Absent, or empty: no such search.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub truesizes: BTreeMap<u32, u32>,
    /// The settings of this host that are tried. Absent: no search for settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knobs: Option<Knobs>,
    /// The other host. Absent: all threads are on this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}

/// What a file holds.
pub type Log = crate::log::Log<Header, Event>;

/// Reads what a file of that name holds.
///
/// # Errors
/// The line that is not what it should be, and how.
pub fn parse(name: &str, bytes: &[u8]) -> Result<Log, UsageError> {
    let kind = Kind {
        key: "find",
        what: "a log of udpbench find",
        format: FORMAT,
    };
    Log::read(name, bytes, kind, |line| match line {
        Event::Find(header) => Ok(*header),
        other => Err(other),
    })
}
