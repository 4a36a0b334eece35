//! Published and measured values side by side, for people, in the width of the terminal.

use super::{Cell, Published, PublishedComparison};
use crate::results::export::table::{interval_text, number};
use crate::stats::Estimate;
use crate::term::fold;
use crate::term::table::{Columns, Table};

/// Draws the tables, each with its own heading, for a terminal of `width` columns.
pub fn draw(tables: &[PublishedComparison], width: u16) -> String {
    let tables = tables.iter().map(|table| of_one(table, width.into()));
    tables.collect::<Vec<String>>().join("\n")
}

fn of_one(beside: &PublishedComparison, room: usize) -> String {
    let published = beside.published;
    let heading = format!("== {}\n{}\n", published.title, sources(published));
    let mut text = fold::text(&heading, room) + &table(beside).draw(room);
    if !published.note.is_empty() {
        text += &fold::text(&format!("{}\n", published.note), room);
    }
    text
}

/// Returns the table of published and measured values, line by line.
pub fn table(beside: &PublishedComparison) -> Table {
    let columns = columns();
    let mut table = columns.empty();
    for line in &beside.lines {
        let cells = line.cells.iter().zip(&beside.published.columns);
        for (n, (cell, column)) in cells.enumerate() {
            let name = if n == 0 { line.name } else { "" };
            table.row(columns.cells(&(name, &**column, cell)));
        }
    }
    table
}

/// Returns the columns. Each row has the name of a line, the name of a cell, and the cell.
fn columns<'a>() -> Columns<'a, (&'a str, &'a str, &'a Cell)> {
    Columns::<(&str, &str, &Cell)>::default()
        .word("", |(name, ..)| (*name).to_owned())
        .word("", |(_, column, _)| (*column).to_owned())
        .spare(3, "published", |(.., cell)| {
            let value = cell.published.map(|value| value.to_string());
            value.unwrap_or_default()
        })
        .number("ratio", |(.., cell)| ratio(cell.published_ratio))
        .spare(2, "here", |(.., cell)| number(middle(cell.measured), 1))
        .spare(1, "+-%", |(.., cell)| reach(cell.measured))
        .number("ratio", |(.., cell)| ratio(middle(cell.ratio)))
        .number("+-%", |(.., cell)| reach(cell.ratio))
}

fn reach(of: Option<Estimate>) -> String {
    interval_text(
        middle(of),
        of.and_then(|of| of.low),
        of.and_then(|of| of.high),
    )
}

fn middle(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| estimate.middle)
}

/// Explains both kinds of numbers: units, machine, and base of the ratios.
pub fn sources(published: &Published) -> String {
    format!(
        "published: {}, {}; here: {}; ratios to {} of each",
        published.unit,
        published.hardware,
        published.figure.unit(),
        published
            .columns
            .first()
            .map_or("the first", String::as_str)
    )
}

/// Formats a ratio with three decimals. Small ratios are powers of ten.
fn ratio(value: Option<f64>) -> String {
    match value {
        Some(value) if value > 0.0 && value < 0.01 => format!("{value:.1e}"),
        value => number(value, 3),
    }
}
