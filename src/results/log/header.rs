//! First lines of logs: what all kinds share, and the header of a sweep.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Event, FORMAT};
use crate::data::Case;
use crate::plan::{Plan, Schedule, Wire};
use crate::results::earlier_runs::EarlierRuns;
use crate::results::row::Environment;

/// Header of a kind of logs. It describes the task.
pub trait Kind: Clone + Serialize + DeserializeOwned {
    /// Any other line.
    type Event: Clone + Debug + Serialize + DeserializeOwned;
    /// Name in the first line.
    const NAME: &'static str;
    /// Name of such a log in messages.
    const WHAT: &'static str;

    /// Returns what is impossible in an event by itself.
    fn impossible(_event: &Self::Event) -> Option<String> {
        None
    }
}

/// Circumstances that every header has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Version of the program.
    pub version: String,
    /// Start time of the program, UTC, as in RFC 3339.
    pub started_at: String,
    /// Words of the command line.
    pub command_line: Vec<String>,
}

impl Run {
    /// Returns the circumstances of this process.
    pub fn new(started_at: &str, command_line: Vec<String>) -> Self {
        Self {
            version: crate::VERSION.to_owned(),
            started_at: started_at.to_owned(),
            command_line,
        }
    }
}

/// Returns the first line of a log. Its kind and format come first, for people.
///
/// # Errors
/// Fails if the header cannot be written as JSON.
pub(super) fn first<K: Kind>(header: &K) -> serde_json::Result<Value> {
    let mut first = json!({ "kind": K::NAME, "format": FORMAT });
    if let Value::Object(fields) = serde_json::to_value(header)? {
        for (name, value) in fields {
            first[name] = value;
        }
    }
    Ok(json!({ "header": first }))
}

/// Facts that all windows of a sweep share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// Circumstances of the run.
    #[serde(flatten)]
    pub run: Run,
    /// Board as given on the command line: `auto`, a name or a file.
    pub board_asked: String,
    /// CPUs as given on the command line (`--pin`). Empty: the CPUs of the board's profile.
    pub pin_asked: String,
    /// Number and length of the rounds and windows, and their settings.
    pub schedule: Schedule,
    /// Cases in blocks, each with the decision whether it runs.
    pub plan: Plan,
    /// Facts that all rows share.
    pub environment: Environment,
    /// The remote host and the network path to it. Absent: all threads are on this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// Earlier runs of cases of the plan that were found before the first window.
    #[serde(default)]
    pub earlier_runs: Vec<EarlierRuns>,
}

impl Kind for Header {
    type Event = Event;
    const NAME: &'static str = "sweep";
    const WHAT: &'static str = "the log of a sweep";

    fn impossible(event: &Event) -> Option<String> {
        event.impossible()
    }
}

impl Header {
    /// Returns the rates of a case in earlier runs, in datagrams received per second.
    pub fn earlier_pps(&self, case: &Case) -> &[f64] {
        let key = case.key();
        let found = self.earlier_runs.iter().find(|runs| runs.case == key);
        found.map_or(&[], |runs| &runs.received_pps)
    }
}
