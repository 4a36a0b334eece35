//! Results from a file: the rows of a CSV, or of raw samples, which are computed again.

mod figures;

use std::io;
use std::path::Path;

use csv::{Position, StringRecord};
use serde_json::Value;

use crate::data::Sample;
use crate::error::UsageError;
use crate::escape;
use crate::export;
use crate::log::{Event, Log};
use crate::platform::host::Host;
use crate::replay;
use crate::row::{Machine, Row, Status};
use crate::shell;
use crate::sys::files::{self, Kind};

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
        if bytes.first() == Some(&b'{') {
            return Self::from_raw(&Log::parse(&name, &bytes)?);
        }
        Self::from_csv(&name, &bytes[..])
    }

    /// Computes the rows of raw samples.
    ///
    /// # Errors
    /// As for [`Results::open`].
    pub fn from_raw(log: &Log) -> Result<Self, UsageError> {
        let (replay, mut rows) = replay::replay(log)?;
        rows.extend(replay.unfinished());
        rows.extend(replay.skipped());
        let window = |line: &Event| match line {
            Event::Window(sample) => Some(Sample::clone(sample)),
            _ => None,
        };
        Ok(Self {
            name: log.name.clone(),
            rows,
            windows: log.lines.iter().filter_map(window).collect(),
            host: Some(log.header.host.clone()),
            is_torn: false,
        })
    }

    /// Reads the rows of a CSV file.
    ///
    /// # Errors
    /// As for [`Results::open`].
    pub fn from_csv(name: &str, mut text: impl io::Read) -> Result<Self, UsageError> {
        let mut bytes = Vec::new();
        text.read_to_end(&mut bytes)
            .map_err(|error| UsageError::file(name, 0, &error.to_string()))?;
        let whole = whole_lines(&bytes);
        let mut reader = csv::Reader::from_reader(whole);
        let refused = |error: &csv::Error| {
            let problem = match error.kind() {
                csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
                _ => error.to_string(),
            };
            UsageError::file(name, line_of(error.position()), &problem)
        };
        let columns = reader.headers().map_err(|error| refused(&error))?.clone();
        // Else whatever the first line holds would pass for a header with no rows below it.
        if !columns.iter().any(|column| column == "case") {
            return Err(UsageError::file(name, 1, NO_RESULTS));
        }
        let mut rows = Vec::new();
        for fields in reader.records() {
            let fields = export::csv::read(&fields.map_err(|error| refused(&error))?);
            let row = fields.deserialize(Some(&columns));
            let row: Row = row.map_err(|error| refused(&error))?;
            let problem = no_number(&columns, &fields, &row);
            if let Some(problem) = problem.or_else(|| figures::contradiction(&row)) {
                return Err(UsageError::file(name, line_of(fields.position()), &problem));
            }
            rows.push(row);
        }
        Ok(Self {
            name: name.to_owned(),
            rows,
            windows: Vec::new(),
            host: None,
            is_torn: whole.len() < bytes.len(),
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

/// Up to the end of the last line that has one; a header alone needs none.
fn whole_lines(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte == b'\n');
    end.map_or(text, |end| &text[..=end])
}

const NO_RESULTS: &str = "not results of udpbench: the first line has no column `case`";

/// What holds rows in a shape that is not read again, by its beginning.
fn only_written(bytes: &[u8]) -> Option<&'static str> {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or(bytes);
    match bytes {
        [b'[', ..] => Some("JSON"),
        [b'P', b'K', ..] => Some("a workbook"),
        // An event of raw samples has one field, which is its kind.
        [b'{', ..] => serde_json::from_slice::<Value>(line)
            .is_ok_and(|row| row.get("case").is_some())
            .then_some("JSON Lines of rows"),
        _ => None,
    }
}

fn line_of(position: Option<&Position>) -> usize {
    let line = position.map_or(1, Position::line);
    usize::try_from(line).unwrap_or(0)
}

/// What stands where a number should and is none, like `NaN` or `1e999`: nothing that is measured is, and
/// numbers can be compared without a thought of it.
fn no_number(columns: &StringRecord, fields: &StringRecord, row: &Row) -> Option<String> {
    let is_endless = |field: &str| field.parse().is_ok_and(|number: f64| !number.is_finite());
    let mut suspects = columns
        .iter()
        .zip(fields)
        .filter(|(_, field)| is_endless(field));
    let (column, field) = suspects.find(|(column, _)| {
        // JSON has no such numbers, so they become null. A text stays one: a board may be called `inf`.
        let json = serde_json::to_value(row).unwrap_or_default();
        json.get(column).is_some_and(Value::is_null)
    })?;
    Some(format!(
        "{column}: {field} is not a number; leave the field empty if there is none"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::ordinary_row;

    fn csv_of(row: &Row) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(row).expect("into memory");
        String::from_utf8(writer.into_inner().expect("into memory")).expect("UTF-8")
    }

    #[test]
    fn a_line_without_its_end_is_left_out_whatever_it_says() {
        let rows = [ordinary_row(), ordinary_row()];
        let whole = crate::export::csv::shape(&rows).expect("rows have a shape");
        for cut in 1..40 {
            let torn = &whole[..whole.len() - cut];
            let results = Results::from_csv("x.csv", torn).expect("a row is whole");
            assert_eq!((results.rows.len(), results.is_torn), (1, true), "{cut}");
        }
        let results = Results::from_csv("x.csv", &whole[..]).expect("rows");
        assert_eq!((results.rows.len(), results.is_torn), (2, false));
    }

    #[test]
    fn the_rows_of_several_machines_are_told_apart() {
        let emulated = Row {
            virtualization: "qemu/tcg".to_owned(),
            ..ordinary_row()
        };
        let rows = [ordinary_row(), emulated.clone(), ordinary_row()];
        let csv = crate::export::csv::shape(&rows).expect("rows have a shape");
        let results = Results::from_csv("x.csv", &csv[..]).expect("rows");
        let machines = results.by_machine();
        let rows: Vec<usize> = machines.iter().map(|file| file.rows.len()).collect();
        assert_eq!(rows, [2, 1]);
        assert_eq!(machines[1].rows, [emulated]);
        assert!(machines[1].name.starts_with("x.csv (") && !machines[1].name.contains('/'));
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_line_and_column() {
        for (number, shown) in [(f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf")] {
            let row = Row {
                cv_pct: Some(number),
                ..ordinary_row()
            };
            let error = Results::from_csv("x.csv", csv_of(&row).as_bytes()).expect_err("refused");
            assert_eq!(
                error.to_string(),
                format!(
                    "x.csv, line 2: cv_pct: {shown} is not a number; leave the field empty if there \
                     is none"
                )
            );
        }
        let row = Row {
            model: "Infinity".to_owned(),
            ..ordinary_row()
        };
        let results = Results::from_csv("x.csv", csv_of(&row).as_bytes()).expect("a text is one");
        assert_eq!(results.rows, [row]);
    }
}
