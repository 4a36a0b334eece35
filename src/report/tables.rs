//! Section of all numbers: as tables, and as downloadable CSV.

use maud::{Markup, PreEscaped, html};

use super::number;
use crate::results::export::table::blocks;
use crate::results::files::Results;
use crate::results::row::Row;
use crate::term::table::Table;

/// Returns a table of the terminal as HTML.
pub(super) fn table(caption: &str, table: &Table) -> Markup {
    let is_named = table
        .headings()
        .nth(1)
        .is_some_and(|(_, is_number)| !is_number);
    html! {
        .scroll tabindex="0" role="region" aria-label=(caption) {
            table .named[is_named] {
                caption { (caption) }
                thead { tr { @for (name, _) in table.headings() { th scope="col" { (name) } } } }
                tbody {
                    // HTML does not need these end tags, and large sweeps have thousands.
                    @for row in table.rows() {
                        tr;
                        @for (n, cell) in row.iter().enumerate() {
                            @if n == 0 { th scope="row" { (cell) } } @else { td; (cell) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the tables of the terminal, one for each block.
pub(super) fn results(file: &Results) -> Markup {
    html! {
        @for (heading, block) in &blocks(&file.rows) { (table(heading, block)) }
    }
}

/// Returns the tables of each file.
pub(super) fn tables(files: &[Results]) -> Markup {
    html! {
        p .paper { "The table of the columns that differ is too wide for paper: the page and the CSV have it." }
        p {
            "Columns are named as in the CSV, and explained in docs/COLUMNS.md. An empty cell has no value."
        }
        @for (n, file) in files.iter().enumerate() {
            @if files.len() > 1 { h4 { (super::board::shown(file, files)) } }
            (buttons(n, file))
            @let cells = Cells::of(&file.rows);
            (differing(&cells))
            (common(&cells))
        }
    }
}

/// Returns the download button of a file. It is hidden if scripts do not run.
fn buttons(n: usize, file: &Results) -> Markup {
    let name = std::path::Path::new(&file.name).file_stem();
    let name = name.map_or_else(|| "results".into(), std::ffi::OsStr::to_string_lossy);
    html! {
        p {
            button type="button" hidden data-rows=(n) data-name={ (name) ".csv" } {
                "Download the rows as CSV"
            }
        }
    }
}

/// Returns the rows of each file as CSV, for the download buttons. The CSV is a JSON string without `<`, so that no
/// text in the rows can end the script element.
pub(super) fn data(files: &[Results]) -> Markup {
    html! {
        @for (n, file) in files.iter().enumerate() {
            @let text = serde_json::to_string(&csv(&file.rows)).unwrap_or_default();
            script type="application/json" id={ "rows-" (n) } {
                (PreEscaped(text.replace('<', "\\u003c")))
            }
        }
    }
}

/// Returns the rows as CSV, in the format of a sweep.
fn csv<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        // Writing to memory cannot fail, and every row has the same columns.
        let _ = writer.serialize(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// The cells of the rows, in the format of the CSV.
struct Cells {
    header: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

/// Range of the columns that identify the case, from the first to before the second. The key in the first column of
/// the CSV contains the same information.
const OF_THE_CASE: [&str; 2] = ["engine", "pin"];
/// Columns that are shown elsewhere: reasons have a section of their own.
const SAID_ELSEWHERE: [&str; 2] = ["case", "reason"];

impl Cells {
    /// Reads the cells of the rows, sorted for comparison. The CSV keeps the order of the file.
    fn of(rows: &[Row]) -> Self {
        let mut rows: Vec<&Row> = rows.iter().collect();
        rows.sort_by_cached_key(|row| (row.block(), row.label(), row.connection));
        let text = csv(rows);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        Self {
            header: reader.headers().cloned().unwrap_or_default(),
            rows: reader.into_records().flatten().collect(),
        }
    }

    fn name(&self, column: usize) -> &str {
        self.header.get(column).unwrap_or_default()
    }

    /// Returns the columns with the same value in all rows.
    fn constant(&self) -> Vec<usize> {
        if self.rows.len() < 2 {
            return Vec::new();
        }
        let first = self.rows.first();
        let cell = |column| first.and_then(|row| row.get(column));
        let same = |column: &usize| {
            self.rows
                .iter()
                .all(|row| row.get(*column) == cell(*column))
        };
        (0..self.header.len()).filter(same).collect()
    }

    /// Returns the columns that distinguish rows and are not shown elsewhere.
    fn varying(&self) -> Vec<usize> {
        let constant = self.constant();
        let place = |name: &str| (0..self.header.len()).find(|&column| self.name(column) == name);
        let [first, end] = OF_THE_CASE.map(|name| place(name).unwrap_or_default());
        let tells = |column: &usize| {
            let is_said =
                SAID_ELSEWHERE.contains(&self.name(*column)) || (first..end).contains(column);
            !constant.contains(column) && !is_said
        };
        (0..self.header.len()).filter(tells).collect()
    }

    /// Returns the text of a cell. For warnings, which are sentences, their number.
    fn shown(&self, row: &csv::StringRecord, column: usize) -> String {
        let text = row.get(column).unwrap_or_default();
        if self.name(column) == "warnings" && !text.is_empty() {
            return text.split("; ").count().to_string();
        }
        text.to_owned()
    }
}

fn differing(cells: &Cells) -> Markup {
    let columns = cells.varying();
    let rows = number::counted(cells.rows.len(), "row");
    html! {
        details .screen {
            summary { "Columns that differ: " (rows) ", " (number::counted(columns.len(), "column")) }
            .scroll tabindex="0" role="region" aria-label="All rows" {
                table .rows {
                    caption {
                        "All cases, by threads, payload and ip. Warnings are counted; the CSV has their text."
                    }
                    thead {
                        tr {
                            th scope="col" { "case" }
                            @for &column in &columns { th scope="col" { (cells.name(column)) } }
                        }
                    }
                    tbody {
                        @for row in &cells.rows {
                            // HTML does not need these end tags, and large sweeps have 20,000 cells.
                            tr;
                            th scope="row" { (row.get(0).unwrap_or_default()) }
                            @for &column in &columns { td; (cells.shown(row, column)) }
                        }
                    }
                }
            }
        }
    }
}

fn common(cells: &Cells) -> Markup {
    let columns = cells.constant();
    let Some(row) = cells.rows.first().filter(|_| cells.rows.len() > 1) else {
        return html! {};
    };
    html! {
        details {
            summary { "The same in all rows: " (number::counted(columns.len(), "column")) }
            .scroll tabindex="0" role="region" aria-label="The same in all rows" {
                table .words {
                    caption { "Columns with the same value in all rows" }
                    thead { tr { th scope="col" { "column" } th scope="col" { "value" } } }
                    tbody {
                        @for column in columns {
                            tr {
                                th scope="row" { (cells.name(column)) }
                                td { (row.get(column).unwrap_or_default()) }
                            }
                        }
                    }
                }
            }
        }
    }
}
