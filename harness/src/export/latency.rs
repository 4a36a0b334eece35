//! Round trips under load, for people: a line for each case, what it is asked from left to right.

use std::collections::BTreeMap;

use super::table::{below, block_in_words, number};
use crate::columns::{Columns, trimmed};
use crate::data::{Arrivals, BlockKey};
use crate::fold;
use crate::plan::LOADS_PCT;
use crate::row::{Row, Status};

/// Draws what `latency` found, in so many columns of the terminal, and says below what the numbers cannot.
pub fn draw(rows: &[Row], width: u16) -> String {
    let room = usize::from(width);
    let rows: Vec<Row> = rows.iter().map(Row::shown).collect();
    let (mut headings, mut all) = (Vec::new(), Vec::new());
    for alone in rows.iter().filter(|row| is_alone(row)) {
        for (arrivals, loads) in loads_of(alone, &rows) {
            headings.push(heading(alone, arrivals));
            all.push(cells(alone, &loads));
        }
    }
    let mut text = String::new();
    if !all.is_empty() {
        let drawn = TABLE.draw(&all, room);
        text += &trimmed(&drawn.header);
        for (n, (heading, row)) in headings.iter().zip(&drawn.rows).enumerate() {
            if n == 0 || headings[n - 1] != *heading {
                text += &(fold::cut(heading, room) + "\n");
            }
            text += &trimmed(row);
        }
        text += &fold::text(LEGEND, room);
        text += &drawn.not_shown;
    }
    below(&mut text, &rows, width);
    text
}

const TABLE: Columns = Columns {
    headings: &[
        "engine",
        "kreq/s",
        "alone\np50",
        "alone\np99",
        "10 %\np50",
        "10 %\np99",
        "50 %\np50",
        "50 %\np99",
        "90 %\np50",
        "90 %\np99",
    ],
    words: 1,
    leaves: &[4, 5, 1, 6, 7],
    longest: 18,
};

/// Of the rates for which the table has columns.
const _: () = assert!(LOADS_PCT.len() == 3);

fn is_alone(row: &Row) -> bool {
    row.status != Status::Skipped && row.rate_asked_rps.is_none()
}

const LEGEND: &str = "\n\
    Round trips in microseconds: half of them, and 99 of 100, take no longer. alone: each client waits for its answer, \
    kreq/s of them. 10 %, 50 %, 90 %: so much of what they reached (with --load: bear without loss) is asked, when it is due, \
    and round trips count from then. over: that is more than is answered.\n";

fn heading(row: &Row, arrivals: Option<Arrivals>) -> String {
    let arrivals = arrivals.filter(|arrivals| *arrivals != Arrivals::default());
    let arrivals = arrivals.map_or_else(String::new, |arrivals| format!(", {arrivals}"));
    format!("-- {}{arrivals}", block_in_words(row))
}

fn cells(row: &Row, loads: &[&Row]) -> Vec<String> {
    let kreq_s = row.received_pps.map(|pps| pps / 1000.0);
    let mut cells = vec![row.label(), number(kreq_s, 1)];
    for row in std::iter::once(&row).chain(loads) {
        let half = match row.status {
            // A rate above capacity has answers, but no round trips.
            Status::Ok if row.rtt_p50_us.is_none() && row.rate_asked_rps.is_some() => {
                "over".to_owned()
            }
            Status::Failed => "failed".to_owned(),
            _ => number(row.rtt_p50_us, 1),
        };
        cells.extend([half, number(row.rtt_p99_us, 1)]);
    }
    cells.resize(TABLE.headings.len(), String::new());
    cells
}

/// The same case at each of the rates, the lowest first, for each kind of arrivals. One without rates is there, too.
fn loads_of<'a>(alone: &Row, rows: &'a [Row]) -> BTreeMap<Option<Arrivals>, Vec<&'a Row>> {
    let key = |row: &Row| {
        let block = BlockKey {
            rate: None,
            arrivals: None,
            ..row.block()
        };
        (block, row.label(), row.connection)
    };
    let is_load = |row: &&Row| row.rate_asked_rps.is_some() && key(row) == key(alone);
    let mut loads: BTreeMap<Option<Arrivals>, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(is_load) {
        loads.entry(row.arrivals).or_default().push(row);
    }
    for rows in loads.values_mut() {
        rows.sort_by_key(|row| row.rate_asked_rps);
    }
    if loads.is_empty() {
        loads.insert(None, Vec::new());
    }
    loads
}
