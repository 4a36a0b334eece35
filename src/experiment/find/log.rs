//! What is to be done: the first line of the log of a search.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{burst, cliff, idle, knob, lossless};
use crate::host::facts::Host;
use crate::host::knob::Knobs;
use crate::plan::{Plan, Settings, Wire};
use crate::results::log::First;
use crate::results::row::Environment;
use crate::term::duration::ns;

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
    /// [`FORMAT`](crate::results::log::FORMAT).
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
    /// payload, also in bytes. Empty: no such search.
    pub truesizes: BTreeMap<u32, u32>,
    /// The settings that are tried. Absent: no search for settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knobs: Option<Knobs>,
    /// The other host. Absent: all threads are on this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}

impl First for Header {
    const KEY: &'static str = "find";
    const WHAT: &'static str = "a log of udpbench find";
}
