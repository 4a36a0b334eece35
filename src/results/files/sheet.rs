//! Reading of the rows of a CSV file that udpbench wrote or a spreadsheet saved again, with other separators, marks
//! and encodings. Ambiguous files are refused.

use std::collections::BTreeMap;

use csv::{ReaderBuilder, StringRecord, Trim};

use super::column::Column;
use super::{decimal_mark, validation};
use crate::data::Case;
use crate::error::UsageError;
use crate::results::export;
use crate::results::export::selection::Selection;
use crate::results::row::{self, Holds, Machine, Row};
use crate::term::escape;
use crate::term::text_file::line_at;

/// Columns that every file must have. All others may be missing.
const NEEDED: [&str; 5] = ["received_pps", "loss_pct", "status", "rounds", "started_at"];

const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

const NO_RESULTS: &str = "not results of udpbench: the first line has no column `case`";

/// Fix for a file that a spreadsheet damaged.
const AGAIN: &str = "have the file made again: udpbench summarize RUN.jsonl -o RUN.csv; for a spreadsheet, -o RUN.xlsx";

/// Cells of a CSV file, by line.
struct Sheet<'a> {
    name: &'a str,
    separator: u8,
    columns: Vec<Column>,
    header: StringRecord,
    /// Columns of a row that the file lacks.
    missing: Vec<&'static str>,
    text: &'a str,
    /// Records, each with the byte offset in the text at which it begins.
    records: Vec<(usize, StringRecord)>,
}

/// Parses the rows of a file in which every line is complete, and the columns that it has. Missing columns are
/// filled in as far as they follow from the case.
///
/// # Errors
/// Fails if a line, a column or a cell cannot be from udpbench. The error names it and the fix.
pub(super) fn rows(name: &str, text: &str) -> Result<(Vec<Row>, Selection), UsageError> {
    // Old Mac files end lines with a carriage return.
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
        if let Some((column, problem)) = validation::contradiction(&row) {
            return Err(sheet.cell(*at, &column, problem));
        }
        // Skipped cases have no start time, and their rows are the same in any run.
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
    let columns = Selection::having(|name| !sheet.missing.contains(&name));
    Ok((rows, columns))
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
        let names = row::Column::ALL.iter().map(|column| column.name);
        let mut sheet = Self {
            name,
            separator,
            columns,
            missing: names
                .filter(|name| header.iter().all(|it| it != *name))
                .collect(),
            header,
            text,
            records: Vec::new(),
        };
        sheet.check_header()?;
        for record in reader.into_records() {
            let record = record.map_err(refused)?;
            // Spreadsheets write lines of empty cells.
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
            let numbers = self
                .columns
                .iter()
                .zip(record)
                .filter(|(column, cell)| column.holds().is_number() && !cell.trim().is_empty());
            numbers.map(|(column, cell)| decimal_mark::Cell {
                at: *at,
                column: &column.name,
                text: cell.trim(),
                has_decimals: column.holds() == Holds::Decimals,
            })
        });
        decimal_mark::decimal_mark(cells, self.separator).map_err(|(cell, problem)| {
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
        let mut cells = self.header.iter().zip(record);
        let key = cells.find(|(name, _)| *name == "case");
        let (_, key) = key.unwrap_or_default();
        let Some(case) = Case::of_key(key) else {
            return Err(self.cell(at, "case", format!("{key:?} is no key of a case")));
        };
        let mut fields = export::csv::fields(&Row::of_case(&case)).unwrap_or_default();
        let cells = self.columns.iter().zip(record);
        fields.extend(cells.map(|(column, cell)| (column.name.clone(), column.value(cell))));
        serde_json::from_value(fields.into()).map_err(|error| {
            let mut cells = self.columns.iter().zip(record);
            match cells.find(|(column, cell)| !column.takes(cell)) {
                Some((column, cell)) => self.cell(at, &column.name, format!("{cell:?}: {error}")),
                None => self.refused(at, &error.to_string()),
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

    /// Returns the line number of a byte offset. For messages only: counting lines for each record would take a
    /// minute for a large file.
    fn line(&self, at: usize) -> usize {
        line_at(self.text.as_bytes(), at)
    }
}

/// Returns the separator of the cells in the header.
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

/// Returns the byte offset at which a record begins. After CR LF, the position that the reader reports is that of
/// the end of the previous line.
fn start_of(text: &str, record: &StringRecord) -> usize {
    let at = record.position().map_or(0, csv::Position::byte);
    let at = usize::try_from(at).unwrap_or(0);
    let is_end = |byte: &&u8| [b'\r', b'\n'].contains(byte);
    at + text.as_bytes().iter().skip(at).take_while(is_end).count()
}
