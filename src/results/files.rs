//! Results of a sweep, computed from its log. Rows in other files are only written: named one of them, the log
//! beside it is read. The earlier runs of a case are in the logs of the same folder.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::data::Case;
use crate::error::UsageError;
use crate::results::export::Format;
use crate::results::export::selection::{ColumnSet, Selection};
use crate::results::log::{EarlierRuns, Log, Run};
use crate::results::replay::Replay;
use crate::results::row::{Environment, Row, RowInput, Status};
use crate::term::{escape, shell};

/// Results of a sweep.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Name of the file, as it was given.
    pub name: String,
    /// Name of the log.
    pub log: String,
    /// One row per case, in the order of the plan.
    pub rows: Vec<Row>,
    /// Start, command and version of the run.
    pub run: Run,
    /// Columns of a short CSV.
    pub columns: Selection,
}

impl Results {
    /// Returns the command that resumes a sweep in which no case has ended. `None`: some case has ended.
    pub fn resume_command(&self) -> Option<String> {
        let has = |status| self.rows.iter().any(|row| row.status == status);
        let is_begun = self.rows.is_empty() || has(Status::Interrupted) && !has(Status::Ok);
        is_begun.then(|| format!("udpbench resume {}", shell::word(&self.log)))
    }

    /// Reads the log of a sweep: see [`log_of`].
    ///
    /// # Errors
    /// Fails if there is no log, or if it cannot be read or is invalid. The error names the file, the line and the
    /// problem.
    pub fn open(path: &Path) -> Result<Self, UsageError> {
        let results = Self::from_log(Log::open("FILE", &log_of(path)?)?)?;
        Ok(Self {
            name: escape::name(path),
            ..results
        })
    }

    /// Computes the rows of a log.
    ///
    /// # Errors
    /// Fails if an event is impossible after the events before it. The error names the file, the line and the
    /// problem.
    pub fn from_log(log: Log) -> Result<Self, UsageError> {
        let begin = |header| Ok(Replay::new(header));
        let (replay, mut rows) = log.replay(begin, Replay::take)?;
        rows.extend(replay.rest());
        Ok(Self {
            log: log.name.clone(),
            name: log.name,
            rows,
            run: log.header.run,
            columns: Selection::of_plan(ColumnSet::Short, &log.header.plan, &log.header.schedule),
        })
    }
}

/// Returns the log that a name stands for: itself, or the one beside a file of rows.
///
/// # Errors
/// Fails if there is none, or for a folder.
pub fn log_of(path: &Path) -> Result<PathBuf, UsageError> {
    let refused = |problem: &str| UsageError::file(&escape::name(path), 0, problem);
    if path.is_dir() {
        return Err(refused("a folder: name one or more logs (.jsonl) in it"));
    }
    if !path.is_file() || !matches!(Format::of_name(path), Ok(Some(_))) {
        return Ok(path.to_owned());
    }
    let log = ["jsonl", "jsonl.gz"].map(|extension| path.with_extension(extension));
    let found = log.iter().find(|log| log.is_file()).cloned();
    found.ok_or_else(|| {
        let missing = escape::name(&log[0]);
        refused(&format!(
            "rows are only written, and their log is not beside them: name {missing}, wherever it is"
        ))
    })
}

/// Largest number of files that are read: the last ones by name, since default names begin with the time.
const MOST_FILES: usize = 20;
/// Smallest number of runs that say by how much the next one may differ: of two, it would be by anything.
const FEWEST: usize = 4;
/// Size of the largest file that is read. A default run writes a tenth of it; larger ones would delay the start.
const MOST_BYTES: u64 = 4 << 20;

/// Finds the earlier runs of these cases in the logs of a folder. Cases at given rates have none: the rate is no
/// result. Files that cannot be read, those of interrupted runs, and cases from whose threads other programs took the
/// CPUs are skipped.
pub fn earlier_runs<'a>(
    folder: &Path,
    cases: impl Iterator<Item = &'a Case>,
    environment: &Environment,
) -> Vec<EarlierRuns> {
    let newest = newest(folder);
    among(
        newest.iter().filter_map(|path| rows(path)),
        cases,
        environment,
    )
}

fn among<'a>(
    runs: impl Iterator<Item = Vec<Row>>,
    cases: impl Iterator<Item = &'a Case>,
    environment: &Environment,
) -> Vec<EarlierRuns> {
    let is_complete = |rows: &Vec<Row>| rows.iter().all(|row| row.status != Status::Interrupted);
    let cases: Vec<&Case> = cases.filter(|case| case.rate.is_none()).collect();
    let Some(first) = cases.first() else {
        return Vec::new();
    };
    let machine = Row::new(&RowInput::skipped(first, String::new()), environment).machine_id;
    let mut rates: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    // A run may be in several files.
    let mut known = HashSet::new();
    for row in runs.filter(is_complete).flatten() {
        let counts = row.status == Status::Ok
            && !row.lost_cpu_time()
            && row.machine_id == machine
            && known.insert((row.case.key(), row.started_at, row.seed));
        let is_positive = |pps: &f64| pps.is_finite() && *pps > 0.0;
        if let Some(pps) = row.received_pps.filter(|pps| counts && is_positive(pps)) {
            rates.entry(row.case.key()).or_default().push(pps);
        }
    }
    let runs = cases.into_iter().filter_map(|case| {
        let case = case.key();
        let received_pps = rates.remove(&case).filter(|rates| rates.len() >= FEWEST)?;
        Some(EarlierRuns { case, received_pps })
    });
    runs.collect()
}

/// Returns the last logs of a folder by name.
fn newest(folder: &Path) -> Vec<PathBuf> {
    // A file name alone has the empty folder.
    let entries = fs::read_dir(Path::new(".").join(folder));
    let paths = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let is_log = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
    };
    let mut logs: Vec<PathBuf> = paths.filter(is_log).collect();
    logs.sort_unstable();
    logs.split_off(logs.len().saturating_sub(MOST_FILES))
}

/// Reads the rows of a run. `None`: the file is too large, or no log of a sweep.
fn rows(path: &Path) -> Option<Vec<Row>> {
    let file = fs::metadata(path).ok()?;
    if !file.is_file() || file.len() > MOST_BYTES {
        return None;
    }
    Some(Results::from_log(Log::open("FILE", path).ok()?).ok()?.rows)
}

#[cfg(test)]
mod tests;
