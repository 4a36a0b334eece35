//! Results from a file: the rows of a CSV, or of raw samples, which are reckoned again.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use csv::{Position, StringRecord};

use crate::error::UsageError;
use crate::host::Host;
use crate::raw::{Line, Log};
use crate::reckoning;
use crate::record::Record;
use crate::sample::Sample;

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Results {
    /// The file, as it was named.
    pub name: String,
    /// One per case, in the order of the file.
    pub rows: Vec<Record>,
    /// Every window, in the order in which they were measured. Empty: the file has only rows.
    pub windows: Vec<Sample>,
    /// The machine. `None`: the file has only rows.
    pub host: Option<Host>,
}

impl Results {
    /// Reads a file of either kind; the first byte tells which.
    ///
    /// # Errors
    /// When it cannot be read, holds no rows, or something in it is not what it should be: the file, the
    /// line, and what is wrong.
    pub fn open(path: &Path) -> Result<Self, UsageError> {
        let name = path.display().to_string();
        let refused = |error: &io::Error| UsageError::file(&name, 0, &error.to_string());
        let file = File::open(path).map_err(|error| refused(&error))?;
        let mut file = BufReader::new(file);
        let first = file.fill_buf().map_err(|error| refused(&error))?.first();
        if first == Some(&b'{') {
            return Self::from_raw(&Log::open(path)?);
        }
        Self::from_csv(&name, file)
    }

    /// Reckons the rows of raw samples.
    ///
    /// # Errors
    /// As for [`Results::open`].
    pub fn from_raw(log: &Log) -> Result<Self, UsageError> {
        let (reckoning, mut rows) = reckoning::replay(log)?;
        rows.extend(reckoning.unfinished());
        let window = |line: &Line| match line {
            Line::Window(sample) => Some(Sample::clone(sample)),
            _ => None,
        };
        Ok(Self {
            name: log.name.clone(),
            rows,
            windows: log.lines.iter().filter_map(window).collect(),
            host: Some(log.header.host.clone()),
        })
    }

    /// Reads the rows of a CSV file.
    ///
    /// # Errors
    /// As for [`Results::open`].
    pub fn from_csv(name: &str, text: impl io::Read) -> Result<Self, UsageError> {
        let mut reader = csv::Reader::from_reader(text);
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
            let fields = fields.map_err(|error| refused(&error))?;
            let row = fields.deserialize(Some(&columns));
            let row: Record = row.map_err(|error| refused(&error))?;
            if let Some(problem) = no_number(&columns, &fields, &row) {
                return Err(UsageError::file(name, line_of(fields.position()), &problem));
            }
            rows.push(row);
        }
        Ok(Self {
            name: name.to_owned(),
            rows,
            windows: Vec::new(),
            host: None,
        })
    }
}

const NO_RESULTS: &str = "these are no results of udpbench: the first line names no column `case`";

fn line_of(position: Option<&Position>) -> usize {
    let line = position.map_or(1, Position::line);
    usize::try_from(line).unwrap_or(0)
}

/// What stands where a number should and is none, like `NaN` or `1e999`: nothing that is measured is, and
/// whoever compares numbers need not think of it.
fn no_number(columns: &StringRecord, fields: &StringRecord, row: &Record) -> Option<String> {
    let is_endless = |field: &str| field.parse().is_ok_and(|number: f64| !number.is_finite());
    let mut suspects = columns
        .iter()
        .zip(fields)
        .filter(|(_, field)| is_endless(field));
    let (column, field) = suspects.find(|(column, _)| {
        // JSON has no such numbers, so they become null. A text stays one: a board may be called `inf`.
        let json = serde_json::to_value(row).unwrap_or_default();
        json.get(column).is_some_and(serde_json::Value::is_null)
    })?;
    Some(format!(
        "{column}: {field} is no number; leave the field empty where none was measured"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    fn csv_of(row: &Record) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(row).expect("into memory");
        String::from_utf8(writer.into_inner().expect("into memory")).expect("UTF-8")
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_line_and_column() {
        for (number, shown) in [(f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf")] {
            let row = Record {
                cv_pct: Some(number),
                ..record()
            };
            let error = Results::from_csv("x.csv", csv_of(&row).as_bytes()).expect_err("refused");
            assert_eq!(
                error.to_string(),
                format!(
                    "x.csv, line 2: cv_pct: {shown} is no number; leave the field empty where none was \
                     measured"
                )
            );
        }
        let row = Record {
            model: "Infinity".to_owned(),
            ..record()
        };
        let results = Results::from_csv("x.csv", csv_of(&row).as_bytes()).expect("a text is one");
        assert_eq!(results.rows, [row]);
    }
}
