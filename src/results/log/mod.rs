//! The log of a sweep. [`crate::results::replay`] makes rows of it.

mod event;

use serde::{Deserialize, Serialize};

pub(crate) use self::event::added;
pub use self::event::{Event, Of, Side, Window};
use crate::data::Case;
pub use crate::log::{End, FORMAT, Kind, LogWriter, Run, is_of, line, run_of};
use crate::plan::{Plan, Schedule, Wire};
use crate::results::row::Environment;

/// A log that was read, of a sweep unless another kind is named.
pub type Log<K = Header> = crate::log::Log<K>;

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
