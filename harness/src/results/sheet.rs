//! The rows of a CSV file, as udpbench wrote it, or as a spreadsheet saved it again: with other separators, marks and
//! encodings. What cannot be read in one way alone is refused.

use std::collections::BTreeMap;

use csv::{ReaderBuilder, StringRecord, Trim};
use serde_json::{Map, Value};

use super::{figures, numbers};
use crate::error::UsageError;
use crate::row::{Machine, Row};
use crate::text::line_at;
use crate::{escape, export};

/// Without these a file is no ground for an answer; all others may be missing.
const NEEDED: [&str; 12] = [
    "received_mbps",
    "received_pps",
    "loss_pct",
    "cpu_ns_per_packet",
    "ratio_to_std",
    "ratio_to_std_low",
    "ratio_to_std_high",
    "cpu_ratio_to_std",
    "cpu_ratio_to_std_low",
    "cpu_ratio_to_std_high",
    "sent_packets",
    "received_packets",
];

const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

const NO_RESULTS: &str = "not results of udpbench: the first line has no column `case`";

/// The way out, after what a spreadsheet did to a file.
const AGAIN: &str = "have the file made again: udpbench summarize RUN.jsonl -o RUN.csv; for a spreadsheet, -o RUN.xlsx";

/// Cells in lines.
struct Sheet<'a> {
    name: &'a str,
    separator: u8,
    columns: Vec<Column>,
    header: StringRecord,
    text: &'a str,
    /// Each with the byte of the text at which it begins.
    records: Vec<(usize, StringRecord)>,
}

struct Column {
    name: String,
    holds: Holds,
}

/// What a column of [`Row`] holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    WholeNumbers,
    Decimals,
}

/// Reads the rows of the text of a file, in which every line is whole.
///
/// # Errors
/// The line, the column and the cell that cannot be what udpbench wrote, and the way out.
pub(super) fn rows(name: &str, text: &str) -> Result<Vec<Row>, UsageError> {
    // Of old, a Mac ended lines with a carriage return.
    let of_mac = (!text.contains('\n')).then(|| text.replace('\r', "\n"));
    let mut sheet = Sheet::new(name, of_mac.as_deref().unwrap_or(text))?;
    let mark = sheet.decimal_mark()?;
    for (_, record) in &mut sheet.records {
        let cells = sheet.columns.iter().zip(&*record);
        *record = cells
            .map(|(column, cell)| column.plain(cell, mark))
            .collect();
    }
    let mut rows = Vec::new();
    let mut seen = BTreeMap::new();
    for (at, record) in &sheet.records {
        let row = sheet.row(*at, record)?;
        if let Some((column, problem)) = figures::contradiction(&row) {
            return Err(sheet.cell(*at, &column, problem));
        }
        // What was skipped never started, and looks the same in any run.
        if !row.started_at.is_empty() {
            let (case, started_at) = (row.case.clone(), row.started_at.clone());
            let key = (case, started_at, row.seed, Machine::of(&row));
            if let Some(first) = seen.insert(key, *at) {
                let problem = format!(
                    "the same case of the same run is in line {}: delete one of them",
                    sheet.line(first)
                );
                return Err(sheet.refused(*at, &problem));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

impl<'a> Sheet<'a> {
    fn new(name: &'a str, text: &'a str) -> Result<Self, UsageError> {
        let Some(separator) = separator(text) else {
            let mut lines = text.lines().take(20);
            let problem = match lines.position(|line| separator(line).is_some()) {
                Some(above) => format!(
                    "the header is in line {}: delete what is above it",
                    above + 1
                ),
                None => NO_RESULTS.to_owned(),
            };
            return Err(UsageError::file(name, 1, &problem));
        };
        let mut reader = reader(text, separator);
        let refused = |error: csv::Error| UsageError::file(name, 1, &error.to_string());
        let header = reader.headers().map_err(refused)?.clone();
        let columns = header.iter().map(Column::new).collect();
        let mut sheet = Self {
            name,
            separator,
            columns,
            header,
            text,
            records: Vec::new(),
        };
        sheet.check_header()?;
        for record in reader.into_records() {
            let record = record.map_err(refused)?;
            // A spreadsheet writes lines of empty cells.
            if record.iter().any(|cell| !cell.is_empty()) {
                let at = start_of(text, &record);
                sheet.check_record(at, &record)?;
                sheet.records.push((at, record));
            }
        }
        Ok(sheet)
    }

    fn check_header(&self) -> Result<(), UsageError> {
        let refused = |problem: String| Err(UsageError::file(self.name, 1, &problem));
        let count = |name: &str| self.header.iter().filter(|it| *it == name).count();
        if let Some(missing) = NEEDED.iter().find(|name| count(name) == 0) {
            return refused(format!(
                "no column {missing}: it was taken away or renamed; {AGAIN}"
            ));
        }
        let mut named = self.header.iter().filter(|name| !name.is_empty());
        match named.find(|name| count(name) > 1) {
            Some(name) => refused(format!(
                "two columns {}: delete one of them",
                escape::line(name)
            )),
            None => Ok(()),
        }
    }

    fn check_record(&self, at: usize, record: &StringRecord) -> Result<(), UsageError> {
        let (cells, columns) = (record.len(), self.columns.len());
        let problem = if is_header(record) {
            "a second header: two files were joined; name both of them instead".to_owned()
        } else if cells < columns || record.iter().skip(columns).any(|cell| !cell.is_empty()) {
            format!(
                "it has {cells} of {columns} cells: it is cut off, or separated in another way; {AGAIN}"
            )
        } else {
            return Ok(());
        };
        Err(self.refused(at, &problem))
    }

    fn decimal_mark(&self) -> Result<char, UsageError> {
        let cells = self.records.iter().flat_map(|(at, record)| {
            let numbers =
                self.columns.iter().zip(record).filter(|(column, cell)| {
                    column.holds != Holds::Text && !cell.trim().is_empty()
                });
            numbers.map(|(column, cell)| numbers::Cell {
                at: *at,
                column: &column.name,
                text: cell.trim(),
                has_decimals: column.holds == Holds::Decimals,
            })
        });
        numbers::decimal_mark(cells, self.separator).map_err(|(cell, problem)| {
            let is_plain = problem.ends_with(" is no number");
            let fix = if is_plain {
                String::new()
            } else {
                format!("; {AGAIN}")
            };
            self.cell(cell.at, cell.column, problem + &fix)
        })
    }

    fn row(&self, at: usize, record: &StringRecord) -> Result<Row, UsageError> {
        record.deserialize(Some(&self.header)).map_err(|error| {
            let why = match error.kind() {
                csv::ErrorKind::Deserialize { err, .. } => err.kind().to_string(),
                _ => error.to_string(),
            };
            let mut cells = self.columns.iter().zip(record);
            match cells.find(|(column, cell)| !column.takes(cell)) {
                Some((column, cell)) => self.cell(at, &column.name, format!("{cell:?}: {why}")),
                None => self.refused(at, &why),
            }
        })
    }

    fn refused(&self, at: usize, problem: &str) -> UsageError {
        UsageError::file(self.name, self.line(at), problem)
    }

    fn cell(&self, at: usize, column: &str, problem: String) -> UsageError {
        UsageError::Cell {
            file: self.name.to_owned(),
            line: self.line(at),
            column: column.to_owned(),
            problem,
        }
    }

    /// Only for messages: counting lines for each record would take a minute for a large file.
    fn line(&self, at: usize) -> usize {
        line_at(self.text.as_bytes(), at)
    }
}

impl Column {
    fn new(name: &str) -> Self {
        let holds = match () {
            () if takes(name, Value::from("x")) => Holds::Text,
            () if takes(name, Value::from(1.5)) => Holds::Decimals,
            () if takes(name, Value::from(1)) => Holds::WholeNumbers,
            // One of several words, or nothing that a row has.
            () => Holds::Text,
        };
        Self {
            name: name.to_owned(),
            holds,
        }
    }

    fn takes(&self, cell: &str) -> bool {
        let value = match self.holds {
            _ if cell.is_empty() => return true,
            Holds::Text => Value::from(cell),
            _ => serde_json::from_str(cell).unwrap_or_default(),
        };
        takes(&self.name, value)
    }

    /// The cell as udpbench writes it.
    fn plain(&self, cell: &str, mark: char) -> String {
        match self.holds {
            Holds::Text => export::csv::unquoted(cell).to_owned(),
            _ => cell.trim().replace(mark, "."),
        }
    }
}

/// Whether a row takes a value in a column. If not, serde says so before it misses the other columns.
fn takes(column: &str, value: Value) -> bool {
    let row = Map::from_iter([(column.to_owned(), value)]);
    let error = serde_json::from_value::<Row>(Value::Object(row)).err();
    error.is_some_and(|error| error.to_string().starts_with("missing field"))
}

/// What separates the cells of the header.
fn separator(text: &str) -> Option<u8> {
    let separates = |separator: &u8| reader(text, *separator).headers().is_ok_and(is_header);
    SEPARATORS.into_iter().find(separates)
}

fn is_header(record: &StringRecord) -> bool {
    let has = |name| record.iter().any(|cell| cell == name);
    has("case") && has("sender")
}

fn reader(text: &str, separator: u8) -> csv::Reader<&[u8]> {
    let mut form = ReaderBuilder::new();
    let form = form.delimiter(separator).flexible(true).trim(Trim::Headers);
    form.from_reader(text.as_bytes())
}

/// The byte at which a record begins. Its own position is that of the end of the line before, where that is CR LF.
fn start_of(text: &str, record: &StringRecord) -> usize {
    let at = record.position().map_or(0, csv::Position::byte);
    let at = usize::try_from(at).unwrap_or(0);
    let is_end = |byte: &&u8| [b'\r', b'\n'].contains(byte);
    at + text.as_bytes().iter().skip(at).take_while(is_end).count()
}
