//! Reading of result files: rows from a CSV, or rows computed again from raw samples.

mod column;
mod decimal_mark;
mod sheet;
#[cfg(test)]
mod tests;
mod validation;

use std::io;
use std::path::Path;

use serde_json::Value;

use crate::data::Sample;
use crate::error::UsageError;
use crate::host::facts::Host;
use crate::results::export;
use crate::results::export::selection::{ColumnSet, Selection};
use crate::results::log::{Event, Log};
use crate::results::replay::Replay;
use crate::results::row::{Machine, Row, Status};
use crate::sys::files::{self, Kind};
use crate::term::escape;
use crate::term::shell;
use crate::term::text_file;

/// Content of a result file.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Name of the file, as given.
    pub name: String,
    /// One row per case, in the order of the file.
    pub rows: Vec<Row>,
    /// Windows, in the order in which they were measured. Empty: the file has only rows.
    pub windows: Vec<Sample>,
    /// The machine. `None`: the file has only rows.
    pub host: Option<Host>,
    /// Columns of the file. For a log, the columns of the CSV of its run.
    pub columns: Selection,
    /// True if the last line of a CSV had no newline and was left out. A program that is killed can leave such a
    /// line.
    pub is_torn: bool,
}

impl Results {
    /// Returns the command that resumes a sweep in which no case has ended. `None`: some case has ended, or the file
    /// has only rows.
    pub fn resume_command(&self) -> Option<String> {
        let is_log = self.host.is_some();
        let has = |status| self.rows.iter().any(|row| row.status == status);
        let is_begun = self.rows.is_empty() || has(Status::Interrupted) && !has(Status::Ok);
        (is_log && is_begun).then(|| format!("udpbench --resume {}", shell::word(&self.name)))
    }

    /// Reads a file of rows or of raw samples. The beginning of the file tells which.
    ///
    /// # Errors
    /// Fails if the file cannot be read, holds no rows, or is invalid. The error names the file, the line and the
    /// problem.
    pub fn open(path: &Path) -> Result<Self, UsageError> {
        let name = escape::name(path);
        let refused = |error: io::Error| UsageError::file(&name, 0, &error.to_string());
        // Read once, because a pipe can be read only once.
        let bytes = files::read_whole(path, Kind::FileOrPipe).map_err(refused)?;
        if let Some(kind) = only_written(&bytes) {
            let problem = format!(
                "{kind}, which is only written; name the CSV or the raw samples of that sweep"
            );
            return Err(UsageError::file(&name, 0, &problem));
        }
        if bytes.starts_with(b"\x1f\x8b") {
            return Err(UsageError::file(
                &name,
                0,
                "it is compressed: gunzip it first",
            ));
        }
        let text = text_file::decode(&name, &bytes)?;
        if text.starts_with('{') {
            return Self::from_raw(&Log::parse(&name, text.as_bytes())?);
        }
        let mut results = Self::from_text(&name, &text)?;
        if !results.columns.is_all() {
            let log = files::read_whole(&path.with_extension("jsonl"), Kind::File);
            let log = log.ok().and_then(|bytes| Log::parse(&name, &bytes).ok());
            let whole = log.and_then(|log| Self::from_raw(&log).ok());
            results.complete(&whole.unwrap_or_default().rows);
        }
        Ok(results)
    }

    /// Replaces each row by the row of the log for the same case, if the two agree in all columns of the file.
    fn complete(&mut self, whole: &[Row]) {
        let cells = |row: &Row| -> Vec<Option<String>> {
            let mut texts = export::csv::texts(row);
            let columns = self.columns.columns();
            columns.map(|column| texts.remove(column.name)).collect()
        };
        for row in &mut self.rows {
            let is_it = |it: &&Row| it.case == row.case && cells(it) == cells(row);
            if let Some(found) = whole.iter().find(is_it) {
                *row = found.clone();
            }
        }
    }

    /// Computes the rows of raw samples.
    ///
    /// # Errors
    /// Fails if an event is impossible after the events before it. The error names the file, the line and the
    /// problem.
    pub fn from_raw(log: &Log) -> Result<Self, UsageError> {
        let begin = |header| Ok(Replay::new(header));
        let (replay, mut rows) = log.replay(begin, Replay::contradiction, Replay::take)?;
        rows.extend(replay.rest());
        let window = |line: &Event| match line {
            Event::Window(window) => Some(window.sample.clone()),
            _ => None,
        };
        Ok(Self {
            name: log.name.clone(),
            rows,
            windows: log.lines.iter().filter_map(window).collect(),
            host: Some(log.header.host.clone()),
            columns: Selection::of_plan(ColumnSet::Short, &log.header.plan, &log.header.schedule),
            is_torn: false,
        })
    }

    /// Reads the rows of a CSV file that udpbench wrote or a spreadsheet saved again.
    ///
    /// # Errors
    /// Fails if the file holds no rows or is invalid. The error names the file, the line and the problem.
    pub fn from_csv(name: &str, bytes: &[u8]) -> Result<Self, UsageError> {
        Self::from_text(name, &text_file::decode(name, bytes)?)
    }

    fn from_text(name: &str, text: &str) -> Result<Self, UsageError> {
        let end = text.rfind('\n');
        // A header alone needs no newline.
        let whole = end.map_or(text, |end| &text[..=end]);
        let (rows, columns) = sheet::rows(name, whole)?;
        Ok(Self {
            name: name.to_owned(),
            rows,
            columns,
            is_torn: whole.len() < text.len(),
            ..Self::default()
        })
    }

    /// Splits the results by machine, in order of appearance. A file may have rows of several machines.
    pub fn by_machine(self) -> Vec<Self> {
        let machines = Machine::each(&self.rows);
        if machines.len() <= 1 {
            return vec![self];
        }
        let of_machine = |(machine, rows): (Machine, Vec<Row>)| Self {
            // The name serves as a file name, and must not look like one in another directory.
            name: format!("{} ({})", self.name, machine.to_string().replace('/', "-")),
            rows,
            ..self.clone()
        };
        machines.into_iter().map(of_machine).collect()
    }
}

/// Recognizes by its beginning a format with rows that udpbench writes but does not read, and returns its name.
fn only_written(bytes: &[u8]) -> Option<&'static str> {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or(bytes);
    match bytes {
        [b'[', ..] => Some("JSON"),
        [b'P', b'K', ..] | [0xd0, 0xcf, 0x11, 0xe0, ..] => Some("a workbook"),
        // An event of raw samples has a single field, named after its kind, and so no `case`.
        [b'{', ..] => serde_json::from_slice::<Value>(line)
            .is_ok_and(|row| row.get("case").is_some())
            .then_some("JSON Lines of rows"),
        _ => None,
    }
}
