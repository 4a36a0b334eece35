//! Table of round trips under load: one line per case, with the load rising from left to right. So a column has all
//! engines at one load.

use super::{block_in_words, estimate, thousands};
use crate::data::{Arrivals, BlockKey, Connection};
use crate::plan::{LOADS_PCT, once_each};
use crate::results::row::{Load, Row, Status};
use crate::term::table::{Columns, Table};
use crate::text::digits::number;

/// Returns the table of clients that wait and of the same cases at shares of their rate. Rows at other loads are not in
/// it.
pub(super) fn table(rows: &[(&Row, Load)]) -> Table {
    let columns = columns();
    let (mut table, mut last) = (columns.empty(), String::new());
    for case in cases(rows) {
        let heading = case.heading();
        if last != heading {
            table.text(&*heading);
        }
        last = heading;
        table.row(columns.cells(&case));
    }
    if rows.iter().any(|(row, _)| lacks_p99(row)) {
        table.text(BLANK);
    }
    table
}

/// A case alone and at each load, with one kind of arrivals. `None`: it is only alone.
struct Measured<'a> {
    key: Key,
    arrivals: Option<Arrivals>,
    /// Its rows with their loads. At least one.
    rows: Vec<(&'a Row, Load)>,
}

/// Values that a case has at every load.
type Key = (BlockKey, String, Connection);

impl Measured<'_> {
    fn at(&self, load: Load) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|(_, other)| *other == load).map(|(row, _)| *row)
    }

    fn heading(&self) -> String {
        let alone = self.at(Load::Alone);
        let block = block_in_words(alone.unwrap_or(self.rows[0].0));
        let arrivals = self.arrivals.filter(|it| *it != Arrivals::default());
        match arrivals.filter(|_| alone.is_some()) {
            Some(arrivals) => format!("-- {block}, {arrivals}, round trips in us"),
            None => format!("-- {block}, round trips in us"),
        }
    }
}

/// Collects the rows of each case and kind of arrivals, in the order of the cases that wait.
fn cases<'a>(rows: &[(&'a Row, Load)]) -> Vec<Measured<'a>> {
    let (alone, loaded): (Vec<_>, Vec<_>) = rows.iter().partition(|(_, load)| *load == Load::Alone);
    let keys = once_each(alone.iter().chain(&loaded).map(|(row, _)| key(row)));
    let mut cases = Vec::new();
    for case in keys {
        let own = |rows: &[(&'a Row, Load)]| -> Vec<(&'a Row, Load)> {
            let own = rows.iter().filter(|(row, _)| key(row) == case);
            own.copied().collect()
        };
        let (alone, loaded) = (own(&alone), own(&loaded));
        let mut kinds = once_each(loaded.iter().map(|(row, _)| row.arrivals));
        if kinds.is_empty() {
            kinds.push(None);
        }
        cases.extend(kinds.into_iter().map(|arrivals| {
            let loaded = loaded.iter().filter(|(row, _)| row.arrivals == arrivals);
            Measured {
                key: case.clone(),
                arrivals,
                rows: alone.iter().chain(loaded).copied().collect(),
            }
        }));
    }
    cases
}

fn key(row: &Row) -> Key {
    let block = BlockKey {
        rate: None,
        arrivals: None,
        ..row.block()
    };
    (block, row.label(), row.connection)
}

/// Returns the columns of the table, for a case alone and at each load.
fn columns<'a>() -> Columns<'a, Measured<'a>> {
    let [low, middle, high] = [10, 50, 90].map(Load::Share);
    Columns::<Measured>::default()
        .word("engine", |case| case.key.1.clone())
        .spare(1, "kreq/s", |case| {
            let alone = case.at(Load::Alone);
            number(thousands(alone.and_then(|row| row.received_pps)), 1)
        })
        .number("alone\np50", at(Load::Alone, p50))
        .number("alone\np99", at(Load::Alone, p99))
        .spare(4, "10 %\np50", at(low, p50))
        .spare(2, "10 %\np99", at(low, p99))
        .spare(5, "50 %\np50", at(middle, p50))
        .spare(3, "50 %\np99", at(middle, p99))
        .number("90 %\np50", at(high, p50))
        .number("90 %\np99", at(high, p99))
}

/// Fails the build if the number of loads differs from the number that the table has columns for.
const _: () = assert!(LOADS_PCT.len() == 3);

fn at(load: Load, cell: fn(&Row) -> String) -> impl Fn(&Measured) -> String {
    move |case| {
        let Some(row) = case.at(load) else {
            return String::new();
        };
        let cell = cell(row);
        let kept_up = || case.rows.iter().any(|(other, _)| other.kept_up_above(row));
        if cell == OVER && kept_up() {
            return UNCLEAR.to_owned();
        }
        cell
    }
}

fn p50(row: &Row) -> String {
    match row.status {
        // A rate above capacity has responses, but no valid round trips.
        _ if row.answered_of_overload_pct().is_some() => OVER.to_owned(),
        Status::Failed => "failed".to_owned(),
        _ => estimate(row.p50_us(), 1),
    }
}

fn p99(row: &Row) -> String {
    estimate(row.p99_us(), 1)
}

fn lacks_p99(row: &Row) -> bool {
    let is_over = row.answered_of_overload_pct().is_some();
    !is_over && row.rtt_p50_us.is_some() && row.rtt_p99_us.is_none()
}

const OVER: &str = "over";
const UNCLEAR: &str = "unclear";

/// Explains the columns.
pub(super) const LEGEND: &str = "\n\
    Round trips in microseconds: half of them, and 99 of 100, take no longer. alone: each client waits for its answer, \
    kreq/s of them. 10 %, 50 %, 90 %: so much of this engine's best rate in three trials before (with --load: of what it \
    bears without loss) is asked, when it is due, and round trips count from then. over: that is more than is answered. unclear: so it seems, \
    but more was answered at a higher rate.";

/// See [`Row::rtt_p99_us`].
const BLANK: &str = "No p99: of fewer than 1,000 requests, or 1 % had no answer.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::{of_key, ordinary_row};

    #[test]
    fn a_cell_without_a_99th_percentile_has_its_reason() {
        let row = Row {
            case: of_key("std:std/2t/300B/connected/v4/rr"),
            rtt_p50_us: Some(20.0),
            rtt_p99_us: Some(90.0),
            ..ordinary_row()
        };
        let drawn = |row: &Row| table(&[(row, Load::Alone)]).draw(80);
        assert!(!drawn(&row).contains("No p99"));
        let few = Row {
            rtt_p99_us: None,
            ..row
        };
        assert!(drawn(&few).contains("No p99"), "{}", drawn(&few));
    }
}
