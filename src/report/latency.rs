//! Section of round-trip times, by engine and load.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::chart::{Look, Track, Tracks, key};
use super::dots;
use super::labels::{self, drawable};
use crate::data::{Arrivals, BlockKey, Connection, Rate, Workload};
use crate::results::row::{Load, Row, Status};

/// Cases that differ only in engine and load, by load.
type RowsByLoad<'a> = BTreeMap<LoadKey, Vec<&'a Row>>;

/// A load, its rate if that was given, and how requests arrive, in the order of the page.
type LoadKey = (Load, Option<Rate>, Option<Arrivals>);

/// Draws the charts of all rows. `None`: there are no round trips.
pub(super) fn charts(rows: &[Row]) -> Option<Markup> {
    let groups = groups(rows);
    let charts = html! {
        @for (block, loads) in &groups {
            h4 { (block) }
            (by_load(loads))
        }
    };
    (!groups.is_empty()).then_some(charts)
}

/// Groups the rows that answer requests. Groups without any round trip are left out.
fn groups(rows: &[Row]) -> BTreeMap<BlockKey, RowsByLoad<'_>> {
    let rows = rows.iter().filter(|row| row.workload == Workload::Rr);
    let rows: Vec<&Row> = rows.collect();
    let mut groups: BTreeMap<BlockKey, RowsByLoad> = BTreeMap::new();
    for (row, load) in rows.iter().zip(Load::of_rows(&rows)) {
        let of_row = row.block();
        let block = BlockKey {
            rate: None,
            arrivals: None,
            ..of_row
        };
        let key = match (load, row.target_pps) {
            (Some(load @ Load::Share(_)), _) => (load, None, of_row.arrivals),
            (_, None) => (Load::Alone, None, None),
            (_, rate) => (Load::Rate, rate, of_row.arrivals),
        };
        let loads = groups.entry(block).or_default();
        loads.entry(key).or_default().push(row);
    }
    groups.retain(|_, loads| loads.values().flatten().any(|row| us(row).is_some()));
    groups
}

fn us(row: &Row) -> Option<f64> {
    row.rtt_p50_us.and_then(drawable)
}

/// Draws the median and the 99th percentile of each engine, in a chart for each load. All have one axis.
fn by_load(loads: &RowsByLoad) -> Markup {
    let rows = loads.values().flatten();
    let scale = dots::scale(rows.flat_map(|row| [row.p50_us(), row.p99_us()]));
    html! {
        p .legend {
            "Round trips in microseconds on a logarithmic axis, with 95 % intervals within this run. Further left is better. "
            @if loads.len() > 1 {
                "Alone: each client waits for its response. Other loads: requests come at that share of the engine's best rate in three "
                "trials before, or at that rate, whether or not the last response is there. "
            }
            (key("c7", "●", "half of the requests took no longer")) (key("c7", "◇", "99 % took no longer"))
        }
        .facets {
            @for (load, rows) in loads {
                (Tracks::new(&["p50 µs", "p99 µs"], &caption(*load), scale).draw(&tracks(rows)))
            }
        }
    }
}

/// Returns the name of a load: `alone`, `at 50 % load`, `at 1000/s, poisson`.
fn caption((load, rate, arrivals): LoadKey) -> String {
    let load = match (load, rate) {
        (Load::Share(pct), _) => format!("at {pct} % load"),
        (_, Some(rate)) => format!("at {rate}/s"),
        (_, None) => "alone".to_owned(),
    };
    let arrivals = arrivals.map(|arrivals| format!(", {arrivals}"));
    load + &arrivals.unwrap_or_default()
}

/// Returns the engines, the shortest median first.
fn tracks(rows: &[&Row]) -> Vec<Track> {
    let mut rows = rows.to_vec();
    let length = |row: &Row| us(row).unwrap_or(f64::INFINITY);
    rows.sort_by(|one, other| length(one).total_cmp(&length(other)));
    rows.into_iter().map(track).collect()
}

fn track(row: &Row) -> Track {
    let colour = labels::colour(labels::group(row));
    let looks = ["●", "◇"].map(|sign| Look { colour, sign });
    let quantiles = [row.p50_us(), row.p99_us()];
    let mut values = quantiles.map(|it| dots::figure(it, row));
    if row.status == Status::Ok && row.rtt_p50_us.is_none() && row.target_pps.is_some() {
        values = ["overload", ""].map(|why| (String::new(), why.to_owned()));
    }
    let label = match row.connection {
        Connection::Connected => row.label(),
        Connection::Unconnected => format!("{}, unconnected", row.label()),
    };
    let drawn = quantiles.into_iter().zip(looks);
    let drawn = drawn.flat_map(|(quantile, look)| dots::drawn(quantile, look));
    Track {
        label,
        drawn: drawn.collect(),
        values: values.into(),
        ..Track::default()
    }
}
