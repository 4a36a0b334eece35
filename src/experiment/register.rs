//! Logs of experiments other than sweeps: reads them, and gives their results as a table or as rows. A new experiment
//! adds one branch to each function here.

use std::path::Path;

use serde_json::Value;
#[cfg(feature = "field")]
use udpbench_field::logs::FieldLog;

use crate::error::UsageError;
use crate::experiment::ab::{self, AbComparison};
use crate::experiment::find;
use crate::results::export::Conclusion;
use crate::results::log::{Log, is_of};
use crate::session::Logged;
use crate::verdict::judge::table::Detail;

/// Results of an experiment, read from its log.
#[derive(Debug)]
pub enum ExperimentResults {
    /// Log of `udpbench find`.
    Search(Box<find::Record>),
    /// Log of `udpbench ab`.
    Sides(Box<AbComparison>),
    /// Log of `udpbench soak` or `udpbench listen`.
    #[cfg(feature = "field")]
    Field(FieldLog),
}

impl ExperimentResults {
    /// Reads a log. `None`: it is the log of a sweep, or no log.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read. The error names the faulty line, if there is one.
    pub fn open(flag: &'static str, path: &Path) -> Result<Option<Self>, UsageError> {
        Ok(if is_of::<find::header::FindHeader>(path) {
            let record = find::Record::of(&Log::open(flag, path)?)?;
            Some(Self::Search(record.into()))
        } else if is_of::<ab::header::AbHeader>(path) {
            let comparison = AbComparison::of(&Log::open(flag, path)?)?;
            Some(Self::Sides(comparison.into()))
        } else {
            #[cfg(feature = "field")]
            let found = FieldLog::open(flag, path)?.map(Self::Field);
            #[cfg(not(feature = "field"))]
            let found = None;
            found
        })
    }

    /// Draws the results as a table for people. `width` is in terminal columns.
    pub fn table(&self, width: u16) -> String {
        match self {
            Self::Search(record) => find::table::answers(record).draw(width),
            Self::Sides(it) => {
                let judgement = ab::judge(it, it.question);
                ab::table::draw(it, &judgement, Detail::Changes, width)
            }
            #[cfg(feature = "field")]
            Self::Field(log) => log.text(width),
        }
    }

    /// Returns what is concluded from the results: the verdict of a comparison.
    pub fn conclusion(&self) -> Conclusion {
        match self {
            Self::Sides(it) if it.header().tunings.is_none() => {
                let judgement = ab::judge(it, it.question);
                Conclusion::of_comparison(judgement.is_worse(), judgement.is_inconclusive())
            }
            _ => Conclusion::default(),
        }
    }

    /// Returns the results as rows for programs.
    pub fn rows(&self) -> Vec<Value> {
        match self {
            Self::Search(record) => find::rows::rows(record),
            Self::Sides(it) => ab::rows(it, &ab::judge(it, it.question)),
            #[cfg(feature = "field")]
            Self::Field(log) => log.rows(),
        }
    }
}
