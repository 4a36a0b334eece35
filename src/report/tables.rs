//! Section of all numbers: as tables, and as downloadable CSV.

use std::borrow::Cow;

use maud::{Markup, PreEscaped, html};

use super::number;
use crate::results::export::csv::{encode, texts};
use crate::results::export::table::blocks;
use crate::results::files::Results;
use crate::results::row::{Column, Holds, Over, Row};
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

/// Returns the rows of each file for the download buttons, in JSON without `<`, so that no text in the rows can end the
/// script element.
pub(super) fn data(files: &[Results]) -> Markup {
    html! {
        @for (n, file) in files.iter().enumerate() {
            @let text = serde_json::to_string(&compact(&file.rows)).unwrap_or_default();
            script type="application/json" id={ "rows-" (n) } {
                (PreEscaped(text.replace('<', "\\u003c")))
            }
        }
    }
}

/// Returns the cells of the CSV: the names of the columns, the cells that are the same in all rows by the index of their
/// column, and the others as text, a line for each row, with tabs between them. `page.js` makes the CSV of it. A run has
/// the same host and settings in all rows, which would else be most of the page. No cell has a tab or a line break.
fn compact(rows: &[Row]) -> serde_json::Value {
    let csv = encode(rows).unwrap_or_default();
    let mut reader = csv::Reader::from_reader(&csv[..]);
    let names = reader.headers().cloned().unwrap_or_default();
    let rows: Vec<csv::StringRecord> = reader.records().flatten().collect();
    let same = |n: &usize| rows.iter().all(|row| row.get(*n) == rows[0].get(*n));
    let (same, own): (Vec<usize>, Vec<usize>) = (0..names.len()).partition(same);
    let cells = |row: &csv::StringRecord| {
        let own = own.iter().filter_map(|n| row.get(*n));
        own.collect::<Vec<&str>>().join("\t")
    };
    let lines: Vec<String> = rows.iter().map(cells).collect();
    let same = same
        .into_iter()
        .map(|n| (n.to_string(), rows[0].get(n).into()));
    serde_json::json!({
        "names": names.iter().collect::<Vec<&str>>(),
        "same": same.collect::<serde_json::Map<_, _>>(),
        "rows": lines.join("\n"),
    })
}

/// Rows and the texts of their cells by column. Most columns have one value: they are kept once.
struct Cells<'r> {
    /// Sorted for comparison. The CSV keeps the order of the file.
    rows: Vec<&'r Row>,
    /// The cells of each column, in the order of the rows. A single one: all are the same.
    columns: Vec<(&'static Column, Vec<String>)>,
}

impl<'r> Cells<'r> {
    fn of(rows: &'r [Row]) -> Self {
        let mut rows: Vec<&Row> = rows.iter().collect();
        rows.sort_by_cached_key(|row| (row.block(), row.label(), row.connection));
        let columns = Column::ALL.iter().map(|column| (column, Vec::new()));
        let mut columns: Vec<(&Column, Vec<String>)> = columns.collect();
        for (n, row) in rows.iter().enumerate() {
            let mut texts = texts(row);
            for (column, cells) in &mut columns {
                let text = texts.remove(column.name).unwrap_or_default();
                let is_same = cells.len() == 1;
                if is_same && cells[0] == text {
                    continue;
                }
                if is_same {
                    *cells = vec![cells[0].clone(); n];
                }
                cells.push(text);
            }
        }
        Self { rows, columns }
    }

    fn is_constant(&self, cells: &[String]) -> bool {
        self.rows.len() > 1 && cells.len() == 1
    }

    /// Returns the columns with the same value in all of several rows, and the value.
    fn constant(&self) -> impl Iterator<Item = (&'static Column, &str)> {
        let columns = self.columns.iter();
        let constant = columns.filter(|(_, cells)| self.is_constant(cells));
        constant.map(|(column, cells)| (*column, &*cells[0]))
    }

    /// Returns the columns that distinguish rows and are not shown elsewhere, each with its cells.
    fn varying(&self) -> impl Iterator<Item = &(&'static Column, Vec<String>)> {
        let columns = self.columns.iter();
        columns.filter(|(column, cells)| !is_elsewhere(column) && !self.is_constant(cells))
    }
}

/// Returns whether a column is shown elsewhere: the key of the case has the settings of the plan, tables have intervals,
/// and reasons have a section of their own.
fn is_elsewhere(column: &Column) -> bool {
    let is_bound = ["_low", "_high"]
        .iter()
        .any(|end| column.name.ends_with(end));
    is_bound || column.over == Over::Plan || column.holds == Holds::Sentence
}

/// Returns the text of a cell of a row. For warnings, which are sentences, their number.
fn shown<'c>(row: &Row, column: &Column, cell: &'c str) -> Cow<'c, str> {
    match (column.holds, row.warnings.len()) {
        (Holds::Sentences, 0) => Cow::default(),
        (Holds::Sentences, count) => count.to_string().into(),
        _ => cell.into(),
    }
}

fn differing(cells: &Cells) -> Markup {
    let columns: Vec<_> = cells.varying().collect();
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
                            @for (column, _) in &columns { th scope="col" { (column.name) } }
                        }
                    }
                    tbody {
                        @for (n, row) in cells.rows.iter().enumerate() {
                            // HTML does not need these end tags, and large sweeps have 20,000 cells.
                            tr;
                            th scope="row" { (row.case.key()) }
                            @for (column, cells) in &columns { td; (shown(row, column, &cells[n])) }
                        }
                    }
                }
            }
        }
    }
}

fn common(cells: &Cells) -> Markup {
    let (columns, empty): (Vec<_>, Vec<_>) =
        cells.constant().partition(|(_, value)| !value.is_empty());
    if columns.is_empty() {
        return html! {};
    }
    html! {
        details {
            summary {
                "The same in all rows: " (number::counted(columns.len(), "column"))
                @if !empty.is_empty() { "; " (empty.len()) " more are empty" }
            }
            .scroll tabindex="0" role="region" aria-label="The same in all rows" {
                table .words {
                    caption { "Columns with the same value in all rows" }
                    thead { tr { th scope="col" { "column" } th scope="col" { "value" } } }
                    tbody {
                        @for (column, value) in columns {
                            tr {
                                th scope="row" { (column.name) }
                                td { (value) }
                            }
                        }
                    }
                }
            }
        }
    }
}
