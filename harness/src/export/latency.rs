//! Round trips under load, for people: a line for each case, what it is asked from left to right.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::table::{below, block_in_words, number};
use crate::data::{Arrivals, BlockKey};
use crate::plan::LOADS_PCT;
use crate::row::{Row, Status};

/// Draws what `latency` found, at most 100 columns wide, and says below, in so many columns, what the numbers cannot.
pub fn draw(rows: &[Row], width: u16) -> String {
    let rows: Vec<Row> = rows.iter().map(Row::shown).collect();
    let mut text = String::new();
    let mut last = None;
    for alone in rows.iter().filter(|row| is_alone(row)) {
        for (arrivals, loads) in loads_of(alone, &rows) {
            if last.replace((alone.block(), arrivals)) != Some((alone.block(), arrivals)) {
                header(&mut text, alone, arrivals);
            }
            line(&mut text, alone, &loads);
        }
    }
    if !text.is_empty() {
        text.push_str(LEGEND);
    }
    below(&mut text, &rows, width);
    text
}

fn is_alone(row: &Row) -> bool {
    row.status != Status::Skipped && row.rate_asked_rps.is_none()
}

const LEGEND: &str = "
Round trips in microseconds: half of them, and 99 of 100, take no longer. alone: each client waits
for its answer, kreq/s of them. 10 %, 50 %, 90 %: so much of what they reached is asked, when it is
due, and round trips count from then. over: that is more than is answered.
";

fn header(text: &mut String, row: &Row, arrivals: Option<Arrivals>) {
    let arrivals = arrivals.filter(|arrivals| *arrivals != Arrivals::default());
    let arrivals = arrivals.map_or_else(String::new, |arrivals| format!(", {arrivals}"));
    let _ = writeln!(text, "-- {}{arrivals}", block_in_words(row));
    let _ = write!(text, "{:18} {:>7}  {:^15}", "engine", "kreq/s", "alone");
    for load in LOADS_PCT {
        let _ = write!(text, "  {:^15}", format!("{load} %"));
    }
    let _ = write!(text, "\n{:18} {:>7}", "", "");
    for _ in 0..=LOADS_PCT.len() {
        let _ = write!(text, "  {:>7} {:>7}", "p50", "p99");
    }
    text.push('\n');
}

fn line(text: &mut String, row: &Row, loads: &[&Row]) {
    let kreq_s = row.received_pps.map(|pps| pps / 1000.0);
    let _ = write!(text, "{:18.18} {:>7}", row.label(), number(kreq_s, 1));
    for row in std::iter::once(&row).chain(loads) {
        let half = match row.status {
            // A rate above capacity has answers, but no round trips.
            Status::Ok if row.rtt_p50_us.is_none() && row.rate_asked_rps.is_some() => {
                "over".to_owned()
            }
            Status::Failed => "failed".to_owned(),
            _ => number(row.rtt_p50_us, 1),
        };
        let _ = write!(text, "  {half:>7} {:>7}", number(row.rtt_p99_us, 1));
    }
    text.push('\n');
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
