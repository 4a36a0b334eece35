//! What other experiments than sweeps have found, by their logs. One more is one more line at each place here.

use std::path::Path;

use serde_json::Value;

use crate::error::UsageError;
use crate::experiment::ab::{self, Comparison};
use crate::experiment::find;
use crate::results::log::{Log, is_of};
use crate::session::Logged;
use crate::verdict::compare::table::Detail;

/// A log that was read.
#[derive(Clone, Debug)]
pub enum Answers {
    /// Of `udpbench find`.
    Search(Box<find::Record>),
    /// Of `udpbench ab`.
    Sides(Box<Comparison>),
}

impl Answers {
    /// Reads a log. `None`: it is that of a sweep, or none.
    ///
    /// # Errors
    /// When it cannot be read, and the line that cannot be.
    pub fn open(flag: &'static str, path: &Path) -> Result<Option<Self>, UsageError> {
        Ok(if is_of::<find::log::Header>(path) {
            let record = find::Record::of(&Log::open(flag, path)?)?;
            Some(Self::Search(record.into()))
        } else if is_of::<ab::log::Header>(path) {
            let comparison = Comparison::of(&Log::open(flag, path)?)?;
            Some(Self::Sides(comparison.into()))
        } else {
            None
        })
    }

    /// The words of the command that it is of.
    pub fn command(&self) -> Vec<&'static str> {
        match self {
            Self::Search(record) => vec!["find", record.header().question.name()],
            Self::Sides(_) => vec!["ab"],
        }
    }

    /// For people: a table, so many columns wide.
    pub fn table(&self, width: u16) -> String {
        match self {
            Self::Search(record) => find::table::draw(record, width),
            Self::Sides(it) => {
                let judgement = ab::judge(&it.record, it.question);
                ab::table::draw(&it.record, &judgement, Detail::Changes, width)
            }
        }
    }

    /// For programs: rows.
    pub fn rows(&self) -> Vec<Value> {
        match self {
            Self::Search(record) => find::rows::rows(record),
            Self::Sides(it) => ab::rows::rows(&ab::judge(&it.record, it.question)),
        }
    }
}
