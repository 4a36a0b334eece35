//! Logs of all kinds: JSON Lines, one per event, written as soon as it happens. All reported results follow from these
//! files: see [`crate::results::replay`] for those of sweeps.
//!
//! The first line is the header of its [`Kind`], each other one an event of this kind. `docs/RESULTS.md` describes the
//! format for people who only have the file, `docs/raw.schema.json` for programs.

mod event;
pub mod line;
mod read;
mod write;

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use self::event::added;
pub use self::event::{Event, Of, Side, Window};
pub use self::read::{End, Log, is_of, run_of};
pub use self::write::LogWriter;
use crate::data::Case;
use crate::plan::{Plan, Schedule, Wire};
use crate::results::row::Environment;

/// Version of the format of all logs, the only one that is read. It increases when a reader of the old format would
/// misread the new one.
pub const FORMAT: u32 = 3;

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

/// Rates of one case in earlier runs on the same machine. They show how far the next run may differ from this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlierRuns {
    /// Key of the case.
    pub case: String,
    /// Datagrams received per second in each run, at least four.
    pub received_pps: Vec<f64>,
}

#[cfg(test)]
mod tests;
