//! Logs of all kinds: JSON Lines, one per event, written as soon as it happens. All reported results follow from these
//! files.
//!
//! The first line is the header of its [`Kind`], each other one an event of this kind. `docs/RESULTS.md` describes the
//! format for people who only have the file, `docs/raw.schema.json` for programs.

pub mod line;
pub mod name;
pub mod output_file;
mod read;
mod write;

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::read::{End, Log, is_of, plain, run_of};
pub use self::write::{LogWriter, first_line};

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
