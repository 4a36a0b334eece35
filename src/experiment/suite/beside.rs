//! Published and measured values side by side. Ratios compare values of one machine, never values of two machines.

use std::cmp::Reverse;

use super::{Published, PublishedRow, Suite};
use crate::results::export::table::{interval_text, number};
use crate::results::row::{Row, Status};
use crate::stats::Estimate;
use crate::term::fold;
use crate::term::table::{Columns, Table};

/// Rows of one sweep.
pub type Swept<'a> = &'a [Row];

/// Published table, with the measured values beside it.
#[derive(Debug)]
pub struct PublishedComparison<'a> {
    /// Published table.
    pub published: &'a Published,
    /// Published and measured values, line by line.
    pub table: Table,
}

/// Published value, with the nearest measured value.
struct Cell<'a> {
    /// Name of the line. Empty if the cell is not the first one of it.
    line: &'a str,
    column: &'a str,
    published: Option<f64>,
    /// Ratio of the published value to the first one of the line. `None`: this is it, or a value is missing.
    published_ratio: Option<f64>,
    measured: Option<Estimate>,
    /// Ratio of the measured value to the first one of the line.
    ratio: Option<Estimate>,
}

/// Returns the published tables of a suite, with the values that its sweeps have measured.
pub fn beside<'a>(suite: &'a Suite, sweeps: &[Swept]) -> Vec<PublishedComparison<'a>> {
    let columns = Columns::<Cell>::default()
        .word("", |cell| cell.line.to_owned())
        .word("", |cell| cell.column.to_owned())
        .spare(3, "published", |cell| {
            let value = cell.published.map(|value| value.to_string());
            value.unwrap_or_default()
        })
        .number("ratio", |cell| ratio_text(cell.published_ratio))
        .spare(2, "here", |cell| number(middle(cell.measured), 1))
        .spare(1, "+-%", |cell| reach(cell.measured))
        .number("ratio", |cell| ratio_text(middle(cell.ratio)))
        .number("+-%", |cell| reach(cell.ratio));
    let of_one = |published: &'a Published| {
        let lines = published.rows.iter();
        let cells = lines.flat_map(|line| cells(published, line, sweeps));
        PublishedComparison {
            published,
            table: columns.table(cells),
        }
    };
    suite.published.iter().map(of_one).collect()
}

fn cells<'a>(published: &'a Published, line: &'a PublishedRow, sweeps: &[Swept]) -> Vec<Cell<'a>> {
    let figure = published.figure;
    // A sweep that has measured more of these cases side by side comes first.
    let mut sweeps = sweeps.to_vec();
    let held = |swept: &Swept| {
        let keys = line.cases.iter();
        keys.filter(|key| find(&[swept], key).is_some()).count()
    };
    sweeps.sort_by_key(|swept| Reverse(held(swept)));
    let found: Vec<Option<&Row>> = line.cases.iter().map(|key| find(&sweeps, key)).collect();
    let values = line.values.iter();
    let values: Vec<Option<f64>> = values
        .map(|&it| Some(it).filter(|it| it.is_finite()))
        .collect();
    let cell = |(n, column): (usize, &'a String)| {
        let of_first = values[n].zip(values[0]).filter(|_| n > 0);
        let rows = found[n].zip(found[0]).filter(|_| n > 0);
        Cell {
            line: if n == 0 { &line.name } else { "" },
            column,
            published: values[n],
            published_ratio: of_first.map(|(value, first)| value / first),
            measured: found[n].and_then(|row| figure.of(row)),
            ratio: rows.and_then(|(row, first)| figure.of(row)?.over(figure.of(first)?)),
        }
    };
    published.columns.iter().enumerate().map(cell).collect()
}

/// Returns the row of a case. If several sweeps have it, the first one counts.
fn find<'a>(sweeps: &[Swept<'a>], key: &str) -> Option<&'a Row> {
    let mut rows = sweeps.iter().flat_map(|rows| rows.iter());
    rows.find(|row| row.status == Status::Ok && row.case.key() == key)
}

/// Draws the tables, each with its own heading, for a terminal of `width` columns.
pub fn draw(tables: &[PublishedComparison], width: u16) -> String {
    let room = usize::from(width);
    let tables = tables
        .iter()
        .map(|PublishedComparison { published, table }| {
            let heading = format!("== {}\n{}\n", published.title, sources(published));
            let mut text = fold::text(&heading, room) + &table.draw(room);
            if !published.note.is_empty() {
                text += &fold::text(&format!("{}\n", published.note), room);
            }
            text
        });
    tables.collect::<Vec<String>>().join("\n")
}

/// Explains both kinds of numbers: units, machine, and base of the ratios.
pub fn sources(published: &Published) -> String {
    format!(
        "published: {}, {}; here: {}; ratios to {} of each",
        published.unit,
        published.hardware,
        published.figure.unit(),
        published.columns[0]
    )
}

fn reach(of: Option<Estimate>) -> String {
    let (low, high) = (of.and_then(|of| of.low), of.and_then(|of| of.high));
    interval_text(middle(of), low, high)
}

fn middle(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| estimate.middle)
}

/// Formats a ratio with three decimals. Small ratios are powers of ten.
fn ratio_text(value: Option<f64>) -> String {
    match value {
        Some(value) if value > 0.0 && value < 0.01 => format!("{value:.1e}"),
        value => number(value, 3),
    }
}
