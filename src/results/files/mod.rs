//! Results from a file: the rows of a CSV, or of raw samples, which are computed again.

mod figures;
mod numbers;
mod sheet;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use serde_json::Value;

use crate::data::Sample;
use crate::error::UsageError;
use crate::host::facts::Host;
use crate::results::export;
use crate::results::export::selection::{Asked, Selection};
use crate::results::log::{Event, Log};
use crate::results::replay::Replay;
use crate::results::row::{Machine, Row, Status};
use crate::sys::files::{self, Kind};
use crate::term::escape;
use crate::term::shell;
use crate::term::text;

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// The file, as it was named.
    pub name: String,
    /// One per case, in the order of the file.
    pub rows: Vec<Row>,
    /// Every window, in the order in which they were measured. Empty: the file has only rows.
    pub windows: Vec<Sample>,
    /// The machine. `None`: the file has only rows.
    pub host: Option<Host>,
    /// The columns that it has; those of the CSV of its run, if it is a log.
    pub columns: Selection,
    /// Whether the last line of a CSV had no end and was left out: a program that was killed leaves such a line.
    pub is_torn: bool,
}

impl Results {
    /// What goes on with a sweep of which no case has ended yet. `None`: some have, or only rows are known of it.
    pub fn resume_command(&self) -> Option<String> {
        let is_log = self.host.is_some();
        let has = |status| self.rows.iter().any(|row| row.status == status);
        let is_begun = self.rows.is_empty() || has(Status::Interrupted) && !has(Status::Ok);
        (is_log && is_begun).then(|| format!("udpbench --resume {}", shell::word(&self.name)))
    }

    /// Reads a file of either kind; its beginning tells which.
    ///
    /// # Errors
    /// When it cannot be read, holds no rows, or something in it is not what it should be: the file, the
    /// line, and what is wrong.
    pub fn open(path: &Path) -> Result<Self, UsageError> {
        let name = escape::name(path);
        let refused = |error: io::Error| UsageError::file(&name, 0, &error.to_string());
        // Read once: a pipe is empty after that.
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
        let text = text::decode(&name, &bytes)?;
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

    /// Puts in the place of each row the one of the log, if that agrees with it in all columns that the file has.
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
    /// As for [`Results::open`].
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
            columns: Selection::of_plan(Asked::Short, &log.header.plan, &log.header.schedule),
            is_torn: false,
        })
    }

    /// Reads the rows of a CSV file, as udpbench wrote it or a spreadsheet saved it again.
    ///
    /// # Errors
    /// As for [`Results::open`].
    pub fn from_csv(name: &str, bytes: &[u8]) -> Result<Self, UsageError> {
        Self::from_text(name, &text::decode(name, bytes)?)
    }

    fn from_text(name: &str, text: &str) -> Result<Self, UsageError> {
        let end = text.rfind('\n');
        // A header alone needs no end of its line.
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

    /// The rows of each machine by themselves, in order of appearance: a file may have those of several.
    pub fn by_machine(self) -> Vec<Self> {
        let machines = Machine::each(&self.rows);
        if machines.len() <= 1 {
            return vec![self];
        }
        let of_machine = |(machine, rows): (Machine, Vec<Row>)| Self {
            // A name of a file, without what would look like its directory.
            name: format!("{} ({})", self.name, machine.to_string().replace('/', "-")),
            rows,
            ..self.clone()
        };
        machines.into_iter().map(of_machine).collect()
    }
}

/// What holds rows in a shape that is not read again, by its beginning.
fn only_written(bytes: &[u8]) -> Option<&'static str> {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or(bytes);
    match bytes {
        [b'[', ..] => Some("JSON"),
        [b'P', b'K', ..] | [0xd0, 0xcf, 0x11, 0xe0, ..] => Some("a workbook"),
        // An event of raw samples has one field, which is its kind.
        [b'{', ..] => serde_json::from_slice::<Value>(line)
            .is_ok_and(|row| row.get("case").is_some())
            .then_some("JSON Lines of rows"),
        _ => None,
    }
}
