//! Charts of throughput over payload, for few engines and several payloads.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::cases::{by_chart, drawable, line_label, line_labels};
use super::chart::{LOOKS, Line, Lines, Look, Mark, Over, figure, legend};
use super::engines;
use crate::results::files::Results;
use crate::results::row::Row;

/// Returns the function that draws the charts of a file. `None`: too many engines, or fewer than three payloads.
pub(super) fn charts(files: &[Results]) -> Option<fn(&Results) -> Markup> {
    let rows = || files.iter().flat_map(|file| &file.rows);
    let measured: Vec<&Row> = rows().filter(|row| received(row).is_some()).collect();
    let is_few = line_labels(&measured).len() <= LOOKS;
    (payloads(&measured).len() >= 3 && is_few).then_some(of_file)
}

fn payloads(rows: &[&Row]) -> Vec<usize> {
    let payloads = rows.iter().map(|row| row.payload_bytes.bytes());
    let payloads: BTreeSet<usize> = payloads.collect();
    Vec::from_iter(payloads)
}

const PAYLOAD: Over = Over {
    name: "payload",
    axis: "payload in bytes",
    unit: " B",
    is_log: false,
};

fn received(row: &Row) -> Option<f64> {
    row.received_pps.and_then(drawable)
}

fn of_file(file: &Results) -> Markup {
    let charts = by_chart(&file.rows, received);
    let mut all: Vec<&Row> = file
        .rows
        .iter()
        .filter(|row| received(row).is_some())
        .collect();
    all.sort_by_cached_key(|row| engines::order(row));
    let payloads = payloads(&all);
    let labels = looks(&all);
    let steps: Vec<String> = payloads.iter().map(usize::to_string).collect();
    html! {
        p {
            "Each point is the middle of the windows, with its 95 % interval within this run. The payload axis is not to scale."
        }
        .charts {
            @for (chart, rows) in &charts {
                @let caption = chart.to_string();
                @let picture = |axis| Lines { axis, over: PAYLOAD, steps: &steps, caption: &caption };
                @let packets = of_engines(&labels, rows, &payloads, pps);
                @let megabits = of_engines(&labels, rows, &payloads, mbps);
                (figure(&caption, &html! {
                    p .legend { (legend(&packets)) }
                    (picture("Mb/s").draw(&megabits)) (picture("packets/s").draw(&packets))
                }))
            }
        }
    }
}

/// Returns the engines with their looks, which are equal in every chart.
fn looks(rows: &[&Row]) -> Vec<(String, Look)> {
    let mut firsts: Vec<&Row> = Vec::new();
    for row in rows {
        if firsts
            .iter()
            .all(|first| line_label(first) != line_label(row))
        {
            firsts.push(row);
        }
    }
    let labels = firsts.iter().map(|row| line_label(row));
    labels.zip(engines::looks(&firsts)).collect()
}

/// Returns a line for each engine.
fn of_engines(
    labels: &[(String, Look)],
    rows: &[&Row],
    payloads: &[usize],
    mark: impl Fn(&Row, Look) -> Option<Mark>,
) -> Vec<Line> {
    let line = |(label, look): &(String, Look)| {
        let look = *look;
        let own = rows.iter().filter(|row| line_label(row) == *label);
        let point = |row: &&Row| {
            let step = payloads.binary_search(&row.payload_bytes.bytes()).ok()?;
            Some((step, mark(row, look)?))
        };
        let mut marks: Vec<(usize, Mark)> = own.filter_map(point).collect();
        marks.sort_by_key(|(step, _)| *step);
        Line {
            label: label.clone(),
            look,
            marks,
        }
    };
    let lines = labels.iter().map(line);
    lines.filter(|line| !line.marks.is_empty()).collect()
}

fn pps(row: &Row, look: Look) -> Option<Mark> {
    let value = row.received_pps.and_then(drawable)?;
    Some(Mark {
        value,
        low: row.received_pps_low,
        high: row.received_pps_high,
        look,
    })
}

fn mbps(row: &Row, look: Look) -> Option<Mark> {
    let value = row.received_mbps.and_then(drawable)?;
    Some(Mark {
        value,
        low: row.received_mbps_low,
        high: row.received_mbps_high,
        look,
    })
}
