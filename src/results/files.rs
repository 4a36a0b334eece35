//! Results of a sweep, computed from its log. Rows in other files are only written: named one of them, or a folder, the
//! log beside it is read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::UsageError;
use crate::host::facts::Host;
use crate::results::export::Format;
use crate::results::export::selection::{ColumnSet, Selection};
use crate::results::log::{Log, Run};
use crate::results::replay::Replay;
use crate::results::row::{Row, Status};
use crate::term::escape;
use crate::term::shell;

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
    /// The machine.
    pub host: Host,
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
            host: log.header.environment.host,
        })
    }
}

/// Returns the log that a name stands for: itself, the one beside a file of rows, or the only one in a folder.
///
/// # Errors
/// Fails if there is none, or if a folder has several.
pub fn log_of(path: &Path) -> Result<PathBuf, UsageError> {
    let refused = |problem: &str| UsageError::file(&escape::name(path), 0, problem);
    if path.is_dir() {
        let mut logs = logs_in(path);
        return match logs.len() {
            0 => Err(refused("a folder without a log (.jsonl): name a log")),
            1 => Ok(logs.remove(0)),
            _ => {
                let names = logs.iter().map(|log| shell::path(log));
                let names = names.collect::<Vec<_>>().join(" ");
                Err(refused(&format!(
                    "a folder with several logs: name one or more of {names}"
                )))
            }
        };
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

/// Returns the logs in a folder, by name.
pub(super) fn logs_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_log = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
    };
    let mut logs: Vec<PathBuf> = paths.filter(is_log).collect();
    logs.sort_unstable();
    logs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the log that `asked` stands for in a directory with these files, or the error without the directory's
    /// name.
    fn found(files: &[&str], asked: &str) -> Result<String, String> {
        let place = tempfile::tempdir().expect("a directory");
        fs::create_dir(place.path().join("folder")).expect("created");
        for name in files {
            fs::write(place.path().join(name), "").expect("written");
        }
        let without = |text: String| text.replace(&format!("{}/", place.path().display()), "");
        match log_of(&place.path().join(asked)) {
            Ok(log) => Ok(without(log.display().to_string())),
            Err(error) => Err(without(error.to_string())),
        }
    }

    #[test]
    fn rows_stand_for_the_log_beside_them() {
        let plain = ["a.csv", "a.json", "a.md", "a.jsonl", "b.csv"];
        for rows in ["a.csv", "a.json", "a.md", "a.jsonl"] {
            assert_eq!(found(&plain, rows), Ok("a.jsonl".to_owned()), "{rows}");
        }
        let compressed = ["a.csv", "a.jsonl.gz"];
        assert_eq!(found(&compressed, "a.csv"), Ok("a.jsonl.gz".to_owned()));
        let missing = "b.csv: rows are only written, and their log is not beside them: name b.jsonl, wherever it is";
        assert_eq!(found(&plain, "b.csv"), Err(missing.to_owned()));
    }

    #[test]
    fn other_names_are_names_of_logs() {
        for name in ["a.jsonl", "a.jsonl.gz", "a", "a.jsonl.saved"] {
            assert_eq!(found(&[name], name), Ok(name.to_owned()));
        }
        // Reading it says why it cannot be read.
        assert_eq!(found(&[], "absent.csv"), Ok("absent.csv".to_owned()));
        assert_eq!(log_of(Path::new("/dev/stdin")), Ok("/dev/stdin".into()));
    }

    #[test]
    fn a_folder_stands_for_its_only_log() {
        let one = ["folder/a.csv", "folder/a.jsonl"];
        assert_eq!(found(&one, "folder"), Ok("folder/a.jsonl".to_owned()));
        let none = "folder: a folder without a log (.jsonl): name a log".to_owned();
        assert_eq!(found(&["folder/a.csv"], "folder"), Err(none));
        let several = found(&["folder/b.jsonl.gz", "folder/a.jsonl"], "folder");
        let names =
            "a folder with several logs: name one or more of folder/a.jsonl folder/b.jsonl.gz";
        assert_eq!(several, Err(format!("folder: {names}")));
    }
}
