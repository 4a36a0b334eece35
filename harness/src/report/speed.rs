//! Throughput: over payload, or engine by engine.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::cases::{by_block, by_setting, drawable, labels, line_label, line_labels};
use super::chart::{
    DotRow, Dots, First, LOOKS, Line, Lines, Look, Mark, Over, Shape, figure, key, legend,
};
use crate::data::Connection;
use crate::results::Results;
use crate::row::Row;

/// Lines over payload where there are few engines and several payloads; otherwise dots, block by block.
pub(super) fn charts(file: &Results) -> Markup {
    let measured: Vec<&Row> = file
        .rows
        .iter()
        .filter(|row| received(row).is_some())
        .collect();
    if measured.is_empty() {
        return html! { p { "No case has a packet rate." } };
    }
    let payloads: BTreeSet<usize> = measured
        .iter()
        .map(|row| row.payload_bytes.bytes())
        .collect();
    let is_few = line_labels(&measured).len() <= LOOKS;
    if payloads.len() >= 3 && is_few {
        let payloads: Vec<usize> = payloads.into_iter().collect();
        lines(file, &payloads)
    } else {
        dots(file)
    }
}

const PAYLOAD: Over = Over {
    name: "payload",
    axis: "payload in bytes",
    unit: " B",
    fits: false,
};

fn received(row: &Row) -> Option<f64> {
    row.received_pps.and_then(drawable)
}

fn lines(file: &Results, payloads: &[usize]) -> Markup {
    let settings = by_setting(&file.rows, received);
    let all: Vec<&Row> = file
        .rows
        .iter()
        .filter(|row| received(row).is_some())
        .collect();
    let labels = line_labels(&all);
    let steps: Vec<String> = payloads.iter().map(usize::to_string).collect();
    html! {
        p {
            "Each point is the middle of the windows, with its interval. The payload axis is not to scale."
        }
        .charts {
            @for (setting, rows) in &settings {
                @let caption = setting.to_string();
                @let picture = |axis| Lines { axis, over: PAYLOAD, steps: &steps, caption: &caption };
                @let packets = of_engines(&labels, rows, payloads, pps);
                @let megabits = of_engines(&labels, rows, payloads, mbps);
                (figure(&caption, &html! {
                    p .legend { (legend(&packets)) }
                    (picture("Mb/s").draw(&megabits)) (picture("packets/s").draw(&packets))
                }))
            }
        }
    }
}

/// A line for each engine, in the same colour in every picture.
fn of_engines(
    labels: &[String],
    rows: &[&Row],
    payloads: &[usize],
    mark: impl Fn(&Row, Look) -> Option<Mark>,
) -> Vec<Line> {
    let line = |(n, label): (usize, &String)| {
        let own = rows.iter().filter(|row| line_label(row) == *label);
        let look = Look::nth(n);
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
    let lines = labels.iter().enumerate().map(line);
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

fn dots(file: &Results) -> Markup {
    html! {
        p .legend {
            "Each dot is the middle of the windows, with its interval, cut off at the edge of the chart. "
            (connections()) (key("r", "┆", "std, connected"))
        }
        .charts {
            @for (block, rows) in by_block(&file.rows, received) {
                @let caption = block.to_string();
                @let megabits = block.payload.bytes() as f64 * 8.0 / 1e6;
                (Dots {
                    axis: "packets/s",
                    second: (megabits > 0.0).then_some(("Mb/s", megabits)),
                    reference: reference(&rows, received),
                    caption: &caption,
                    first: First::Largest,
                }.draw(per_engine(&rows, |row| pps(row, look(row.connection)).into_iter().collect())))
            }
        }
    }
}

/// The legend of filled and hollow marks.
pub(super) fn connections() -> Markup {
    html! {
        (key("c1", "●", "connected")) (key("c2", "○", "unconnected"))
    }
}

/// How a connection looks where each engine has a row.
pub(super) fn look(connection: Connection) -> Look {
    let is_connected = connection == Connection::Connected;
    Look {
        colour: if is_connected { 1 } else { 2 },
        shape: Shape::Circle,
        filled: is_connected,
    }
}

/// A row for each engine.
pub(super) fn per_engine(rows: &[&Row], marks: impl Fn(&Row) -> Vec<Mark>) -> Vec<DotRow> {
    let row = |label: String| {
        let own = rows.iter().filter(|row| row.label() == label);
        DotRow {
            marks: own.flat_map(|row| marks(row)).collect(),
            label,
        }
    };
    labels(rows).into_iter().map(row).collect()
}

/// The value that the others are held against.
pub(super) fn reference(rows: &[&Row], value: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
    let reference = rows.iter().find(|row| row.is_reference());
    reference.and_then(|row| value(row)).and_then(drawable)
}
