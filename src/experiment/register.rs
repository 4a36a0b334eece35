//! Logs of experiments other than sweeps: reads them, and gives their results as a table or as rows. A new experiment
//! adds one branch to each function here.

use std::path::Path;

use serde_json::Value;

use crate::error::UsageError;
use crate::experiment::ab::{self, Comparison};
use crate::experiment::find;
use crate::listen;
use crate::listen::log::ListenLog;
use crate::results::export::Conclusion;
use crate::results::log::{Log, is_of};
use crate::session::Logged;
use crate::soak;
use crate::soak::event::Event;
use crate::soak::log::SoakLog;
use crate::verdict::judge::table::Detail;

/// Results of an experiment, read from its log.
#[derive(Clone, Debug)]
pub enum ExperimentResults {
    /// Log of `udpbench find`.
    Search(Box<find::Record>),
    /// Log of `udpbench ab`.
    Sides(Box<Comparison>),
    /// Log of `udpbench soak`.
    Soak(Box<SoakLog>),
    /// Log of `udpbench listen`.
    Listen(Box<ListenLog>),
}

impl ExperimentResults {
    /// Reads a log. `None`: it is the log of a sweep, or no log.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read. The error names the faulty line, if there is one.
    pub fn open(flag: &'static str, path: &Path) -> Result<Option<Self>, UsageError> {
        Ok(if is_of::<find::header::Header>(path) {
            let record = find::Record::of(&Log::open(flag, path)?)?;
            Some(Self::Search(record.into()))
        } else if is_of::<ab::header::Header>(path) {
            let comparison = Comparison::of(&Log::open(flag, path)?)?;
            Some(Self::Sides(comparison.into()))
        } else if is_of::<soak::log::Header>(path) {
            Some(Self::Soak(SoakLog::open(flag, path)?.into()))
        } else if is_of::<listen::log::Header>(path) {
            Some(Self::Listen(ListenLog::open(flag, path)?.into()))
        } else {
            None
        })
    }

    /// Draws the results as a table for people. `width` is in terminal columns.
    pub fn table(&self, width: u16) -> String {
        match self {
            Self::Search(record) => find::table::answers(record).draw(width),
            Self::Sides(it) => {
                let judgement = ab::judge(&it.record, it.question);
                ab::table::draw(&it.record, &judgement, Detail::Changes, width)
            }
            Self::Soak(log) => log.summary().text(width),
            Self::Listen(log) => log.text(width),
        }
    }

    /// Returns what is concluded from the results: the verdict of a comparison.
    pub fn conclusion(&self) -> Conclusion {
        match self {
            Self::Sides(it) if it.header().tunings.is_none() => {
                let judgement = ab::judge(&it.record, it.question);
                Conclusion::of_comparison(judgement.is_worse(), judgement.is_inconclusive())
            }
            _ => Conclusion::default(),
        }
    }

    /// Returns the results as rows for programs.
    pub fn rows(&self) -> Vec<Value> {
        match self {
            Self::Search(record) => find::rows::rows(record),
            Self::Sides(it) => ab::rows(&it.record, &ab::judge(&it.record, it.question)),
            Self::Soak(log) => log.events().map(Event::row).collect(),
            Self::Listen(log) => {
                let rows = log.rows().map(serde_json::to_value);
                rows.map(Result::unwrap_or_default).collect()
            }
        }
    }
}
