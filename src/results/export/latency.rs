//! Table of round trips under load: one line per case, with the load rising from left to right.

use std::collections::BTreeMap;

use super::table::{below, block_in_words, number, thousands};
use crate::data::{Arrivals, BlockKey};
use crate::plan::LOADS_PCT;
use crate::results::row::{Row, Status};
use crate::term::table::Columns;

/// Draws the results of `latency` in a table of `width` terminal columns, and below it the remarks on skips,
/// failures and warnings.
pub fn draw(rows: &[Row], width: u16) -> String {
    let rows: Vec<Row> = rows.iter().map(Row::escaped_for_terminal).collect();
    let columns = columns();
    let (mut table, mut last) = (columns.empty(), String::new());
    for alone in rows.iter().filter(|row| is_alone(row)) {
        for (arrivals, loads) in loads_of(alone, &rows) {
            let heading = heading(alone, arrivals);
            if last != heading {
                table.text(&*heading);
            }
            last = heading;
            let all = std::iter::once(alone).chain(loads).collect();
            table.row(columns.cells(&all));
        }
    }
    if !table.is_empty() {
        table.text(LEGEND);
    }
    table.draw(width.into()) + &below(&rows, width)
}

/// Returns the columns of the table, for a case alone and at each load.
fn columns<'a>() -> Columns<'a, Vec<&'a Row>> {
    let p99 = |row: &Row| number(row.rtt_p99_us, 1);
    Columns::<Vec<&Row>>::default()
        .word("engine", |rows| rows[0].label())
        .spare(3, "kreq/s", |rows| {
            number(thousands(rows[0].received_pps), 1)
        })
        .number("alone\np50", nth(0, p50))
        .number("alone\np99", nth(0, p99))
        .spare(1, "10 %\np50", nth(1, p50))
        .spare(2, "10 %\np99", nth(1, p99))
        .spare(4, "50 %\np50", nth(2, p50))
        .spare(5, "50 %\np99", nth(2, p99))
        .number("90 %\np50", nth(3, p50))
        .number("90 %\np99", nth(3, p99))
}

/// Fails the build if the number of loads differs from the number that the table has columns for.
const _: () = assert!(LOADS_PCT.len() == 3);

fn nth(n: usize, cell: fn(&Row) -> String) -> impl Fn(&Vec<&Row>) -> String {
    move |rows| rows.get(n).map_or_else(String::new, |row| cell(row))
}

fn p50(row: &Row) -> String {
    match row.status {
        // A rate above capacity has responses, but no valid round trips.
        Status::Ok if row.rtt_p50_us.is_none() && row.target_pps.is_some() => "over".to_owned(),
        Status::Failed => "failed".to_owned(),
        _ => number(row.rtt_p50_us, 1),
    }
}

fn is_alone(row: &Row) -> bool {
    row.status != Status::Skipped && row.target_pps.is_none()
}

const LEGEND: &str = "\n\
    Round trips in microseconds: half of them, and 99 of 100, take no longer. alone: each client waits for its answer, \
    kreq/s of them. 10 %, 50 %, 90 %: so much of what they reached (with --load: bear without loss) is asked, when it is due, \
    and round trips count from then. over: that is more than is answered.";

fn heading(row: &Row, arrivals: Option<Arrivals>) -> String {
    let arrivals = arrivals.filter(|arrivals| *arrivals != Arrivals::default());
    let arrivals = arrivals.map_or_else(String::new, |arrivals| format!(", {arrivals}"));
    format!("-- {}{arrivals}", block_in_words(row))
}

/// Returns the rows of the same case at each load, lowest first, for each kind of arrivals. A case without loads
/// gets one empty entry.
fn loads_of<'a>(alone: &Row, rows: &'a [Row]) -> BTreeMap<Option<Arrivals>, Vec<&'a Row>> {
    let key = |row: &Row| {
        let block = BlockKey {
            rate: None,
            arrivals: None,
            ..row.block()
        };
        (block, row.label(), row.connection)
    };
    let is_load = |row: &&Row| row.target_pps.is_some() && key(row) == key(alone);
    let mut loads: BTreeMap<Option<Arrivals>, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(is_load) {
        loads.entry(row.arrivals).or_default().push(row);
    }
    for rows in loads.values_mut() {
        rows.sort_by_key(|row| row.target_pps);
    }
    if loads.is_empty() {
        loads.insert(None, Vec::new());
    }
    loads
}
