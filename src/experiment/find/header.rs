//! First line of the log of a search: what to search for.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{axis, burst, lossless};
use crate::plan::{Plan, Settings, Wire};
use crate::results::log::{Event, Kind, Run};
use crate::results::row::Environment;
use crate::text::duration::ns;

/// Question of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Highest rate without loss.
    Lossless(lossless::LosslessQuestion),
    /// Value of a parameter from which on something changes.
    Axis(axis::AxisQuestion),
    /// Longest train of datagrams that arrives whole.
    Burst(burst::BurstQuestion),
}

/// First line of the log: what to search for, and on which machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// Circumstances of the run.
    #[serde(flatten)]
    pub run: Run,
    /// Question of the searches.
    pub question: Question,
    /// Time limit for each case.
    #[serde(rename = "max_time_ns", with = "ns")]
    pub max_time: Duration,
    /// Settings of the trials. Each trial has its own window instead.
    pub settings: Settings,
    /// Cases to search.
    pub plan: Plan,
    /// The machine.
    pub environment: Environment,
    /// Memory of a datagram in the receive buffer of a socket on loopback, in bytes, by its payload in bytes. Filled
    /// by a search for trains, else empty.
    pub truesizes: BTreeMap<u32, u32>,
    /// Remote host and its links. Absent: all threads are on this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}

impl Kind for Header {
    type Event = Event;
    const NAME: &'static str = "find";
    const WHAT: &'static str = "a log of udpbench find";

    fn impossible(event: &Event) -> Option<String> {
        event.impossible()
    }
}
