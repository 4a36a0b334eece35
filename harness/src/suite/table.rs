//! Published and measured side by side, for people, as wide as the terminal.

use super::{Beside, Cell, Published};
use crate::columns::Columns;
use crate::export::table::{number, reach_pct};
use crate::fold;
use crate::stats::Estimate;

/// What the columns say.
pub const COLUMNS: [&str; 8] = ["", "", "published", "ratio", "here", "+-%", "ratio", "+-%"];
const TABLE: Columns = Columns {
    headings: &COLUMNS,
    words: 2,
    leaves: &[5, 4, 2],
    longest: 30,
};

/// Draws the tables, each with its own heading, in so many columns of the terminal.
pub fn draw(tables: &[Beside], width: u16) -> String {
    let tables = tables.iter().map(|table| of_one(table, width.into()));
    tables.collect::<Vec<String>>().join("\n")
}

fn of_one(beside: &Beside, room: usize) -> String {
    let published = beside.published;
    let mut cells = Vec::new();
    for line in &beside.lines {
        for (n, (cell, column)) in line.cells.iter().zip(&published.columns).enumerate() {
            let name = if n == 0 { line.name } else { "" };
            let words = [name.to_owned(), column.clone()];
            cells.push(words.into_iter().chain(numbers(cell)).collect());
        }
    }
    let heading = format!("== {}\n{}\n", published.title, sources(published));
    let mut text = fold::text(&heading, room) + &TABLE.draw(&cells, room).text();
    if !published.note.is_empty() {
        text += &fold::text(&format!("{}\n", published.note), room);
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
            reach_pct(Some(it.middle), it.low, it.high)
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
