//! Logs of the tools of the field that were read.

use std::path::Path;

use serde_json::Value;

use crate::error::UsageError;
use crate::listen::log::{ListenHeader, ListenLog};
use crate::log::{Log, Run, is_of};
use crate::soak::event::Event;
use crate::soak::log::{SoakHeader, SoakLog};

/// A log of one of these tools.
#[derive(Clone, Debug)]
pub enum FieldLog {
    /// Log of `udpbench soak`.
    Soak(Box<SoakLog>),
    /// Log of `udpbench listen`.
    Listen(Box<ListenLog>),
}

impl FieldLog {
    /// Reads a log. `None`: it is of another kind, or no log.
    ///
    /// # Errors
    /// Fails if the log cannot be read. The error names the faulty line, if there is one.
    pub fn open(flag: &'static str, path: &Path) -> Result<Option<Self>, UsageError> {
        Ok(if is_of::<SoakHeader>(path) {
            Some(Self::Soak(Box::new(Log::open(flag, path)?.into())))
        } else if is_of::<ListenHeader>(path) {
            Some(Self::Listen(Box::new(Log::open(flag, path)?.into())))
        } else {
            None
        })
    }

    /// Returns the circumstances of the run.
    pub fn run(&self) -> &Run {
        match self {
            Self::Soak(log) => &log.header.run,
            Self::Listen(log) => &log.header.run,
        }
    }

    /// Draws the results for people. `width` is in terminal columns.
    pub fn text(&self, width: u16) -> String {
        match self {
            Self::Soak(log) => log.summary().text(width),
            Self::Listen(log) => log.text(width),
        }
    }

    /// Returns the results as rows for programs: events of a soak, windows of a listener.
    pub fn rows(&self) -> Vec<Value> {
        match self {
            Self::Soak(log) => log.events().map(Event::row).collect(),
            Self::Listen(log) => {
                let rows = log.rows().map(serde_json::to_value);
                rows.map(Result::unwrap_or_default).collect()
            }
        }
    }
}
