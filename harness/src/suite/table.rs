//! Published and measured side by side, for people, at most 100 columns wide.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{Beside, Cell, Published};
use crate::export::table::{half_width_pct, number, wrapped};
use crate::stats::Estimate;

/// What the columns say.
pub const COLUMNS: [&str; 8] = ["", "", "published", "ratio", "here", "+-%", "ratio", "+-%"];
/// How many of them are words; the others are numbers.
const WORDS: usize = 2;

/// Draws the tables, each with its own heading.
pub fn draw(tables: &[Beside]) -> String {
    let tables = tables.iter().map(of_one);
    tables.collect::<Vec<String>>().join("\n")
}

fn of_one(beside: &Beside) -> String {
    let published = beside.published;
    let mut text = wrapped([format!("== {}", published.title), sources(published)]);
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(COLUMNS);
    for column in table.column_iter_mut().skip(WORDS) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in &beside.lines {
        for (n, (cell, column)) in line.cells.iter().zip(&published.columns).enumerate() {
            let name = if n == 0 { line.name } else { "" };
            let words = [name.to_owned(), column.clone()];
            table.add_row(words.into_iter().chain(numbers(cell)));
        }
    }
    for line in table.lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if !published.note.is_empty() {
        text += &wrapped([published.note.clone()]);
    }
    text
}

/// What the two kinds of numbers are.
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

/// The numbers of a line.
pub fn numbers(cell: &Cell) -> [String; 6] {
    let middle = |it: Option<Estimate>| it.map(|it| it.middle);
    let width = |it: Option<Estimate>| {
        it.map_or_else(String::new, |it| {
            half_width_pct(Some(it.middle), it.low, it.high)
        })
    };
    [
        cell.published
            .map_or_else(String::new, |value| value.to_string()),
        ratio(cell.published_ratio),
        number(middle(cell.measured), 1),
        width(cell.measured),
        ratio(middle(cell.ratio)),
        width(cell.ratio),
    ]
}

/// With three decimals, or in powers of ten where these would say nothing.
fn ratio(value: Option<f64>) -> String {
    match value {
        Some(value) if value > 0.0 && value < 0.01 => format!("{value:.1e}"),
        value => number(value, 3),
    }
}
