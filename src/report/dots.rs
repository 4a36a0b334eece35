//! Charts of throughput and CPU time. A panel has the cases of one kind of sockets. Its facets, side by side, differ in
//! payload, threads and other parameters. A facet has for each engine a dot with its interval on a logarithmic axis,
//! which all charts of a panel share, beside its ratio to std. Engines are sorted by value within their technique.
//! Losses are written beside the values.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::chart::{Drawn, Look, Scale, Track, Tracks, dot, key};
use super::labels::{self, drawable, plain};
use crate::data::{BlockKey, Connection, Ip, Payload};
use crate::results::row::{Interval, Row, Status};
use crate::text::digits::{interval_text, signed};
use crate::verdict::quality::LOSSY_PCT;
use crate::verdict::rank::Technique;

/// Quantity of a chart.
pub(super) struct MetricChart {
    /// Description of the drawing.
    about: &'static str,
    unit: &'static str,
    value: fn(&Row) -> Interval,
    ratio: fn(&Row) -> Interval,
    /// Sign of the order: the best engine has the largest product of this and its value.
    best: f64,
}

/// Throughput.
pub(super) const SPEED: MetricChart = MetricChart {
    about: "Thousand datagrams received per second (kpps), on a logarithmic axis. Further right is faster. A dot is the middle of the windows, its line the 95 % interval within \
                this run. A hollow dot lost 1 % or more of what was sent: the loss is beside its value.",
    unit: "kpps",
    value: |row| row.pps().map(|pps| pps.map(|pps| pps / 1000.0)),
    ratio: Row::to_std,
    best: 1.0,
};

/// CPU time per datagram.
pub(super) const CPU: MetricChart = MetricChart {
    about: "CPU time of all threads per datagram received, in nanoseconds, drawn in the same way. Further left is cheaper. \
                Lost datagrams make the sender seem cheaper than it is.",
    unit: "ns",
    value: Row::cpu_ns,
    ratio: Row::cpu_to_std,
    best: -1.0,
};

impl MetricChart {
    /// Draws the charts of all rows, by kind of sockets.
    pub(super) fn charts(&self, rows: &[Row]) -> Markup {
        let panels = panels(rows);
        let has_ratios = rows.iter().any(|row| (self.ratio)(row)[0].is_some());
        html! {
            @if panels.is_empty() { p { "No case was measured." } } @else { (legend(panels.values().flat_map(BTreeMap::values).flatten())) }
            p .legend {
                (self.about)
                @if has_ratios {
                    " Times std: relative to std on connected sockets in the same rounds, with its interval; std is the dashed line."
                }
            }
            @for ((ip, connection), facets) in &panels {
                @if panels.len() > 1 { h4 { (ip) ", " (connection) } }
                .facets {
                    @let scale = scale(facets.values().flatten().map(|row| (self.value)(row)));
                    @for ((block, payload), rows) in facets {
                        (self.chart(&labels::name(block, *payload), rows, scale))
                    }
                }
            }
        }
    }

    fn chart(&self, name: &str, rows: &[&Row], scale: Scale) -> Markup {
        let is_std = |row: &&&Row| row.connection == Connection::Connected && row.label() == "std";
        let std = rows.iter().find(is_std);
        let std = std.and_then(|row| (self.value)(row)[0]);
        let columns = [self.unit, "times std"];
        let tracks = Tracks {
            reference: std.and_then(drawable),
            ..Tracks::new(&columns, name, scale)
        };
        tracks.draw(&self.tracks(rows))
    }

    /// Returns the engines by technique, each below the technique's name, and the best first.
    fn tracks(&self, all: &[&Row]) -> Vec<Track> {
        let rank = |row: &Row| {
            let value = (self.value)(row)[0].and_then(drawable);
            value.map_or(f64::NEG_INFINITY, |value| self.best * value)
        };
        let mut tracks = Vec::new();
        for technique in Technique::ALL {
            let mut rows = all.to_vec();
            rows.retain(|row| Technique::of(&row.case) == technique);
            rows.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
            if !rows.is_empty() && all.len() > 1 {
                tracks.push(Track {
                    label: technique.name().to_owned(),
                    ..Track::default()
                });
            }
            tracks.extend(rows.into_iter().map(|row| self.track(row)));
        }
        tracks
    }

    fn track(&self, row: &Row) -> Track {
        let estimate = (self.value)(row);
        let loss_pct = row.loss_pct.and_then(drawable);
        let loss_pct = loss_pct.filter(|pct| *pct >= LOSSY_PCT);
        let look = Look {
            colour: labels::colour(labels::group(row)),
            sign: if loss_pct.is_none() { "●" } else { "○" },
        };
        let mut value = figure(estimate, row);
        if let (Some(pct), Some(_)) = (loss_pct, estimate[0].and_then(drawable)) {
            let about = format!("{}, {pct:.0} % lost", value.1);
            about.trim_start_matches(", ").clone_into(&mut value.1);
        }
        Track {
            label: labels::line_label(row),
            drawn: drawn(estimate, look),
            values: vec![value, with_reach((self.ratio)(row))],
            ..Track::default()
        }
    }
}

/// Returns the legend of colours.
fn legend<'a>(rows: impl Iterator<Item = &'a &'a Row>) -> Markup {
    let groups = rows.map(|row| labels::group(row));
    let named = groups.map(|group| {
        let name = group.map_or("other", |group| group.name());
        (labels::colour(group), name)
    });
    let groups: BTreeSet<(u8, &str)> = named.collect();
    html! {
        p .legend { @for (colour, name) in groups { (key(&format!("c{colour}"), "●", name)) } }
    }
}

/// Returns a logarithmic axis for all values, with some room around them. Intervals that are much wider end at the
/// edge.
pub(super) fn scale(estimates: impl Iterator<Item = Interval>) -> Scale {
    const BEYOND: f64 = 1.5;
    let values = estimates.filter_map(|[value, ..]| value.and_then(drawable));
    let values = values.filter(|value| *value > 0.0);
    let ends = values.flat_map(|value| [value / BEYOND, value * BEYOND]);
    Scale::logarithmic(ends.collect::<Vec<f64>>())
}

/// Returns the mark of a value with its interval.
pub(super) fn drawn(estimate: Interval, look: Look) -> Vec<Drawn> {
    let at = estimate[0].and_then(drawable);
    at.map_or_else(Vec::new, |at| dot(at, interval(estimate), look))
}

fn interval([_, low, high]: Interval) -> Option<(f64, f64)> {
    low.zip(high).filter(|(low, high)| low <= high)
}

/// Returns the value and the reach of its interval. Without a value, says why.
pub(super) fn figure(estimate: Interval, row: &Row) -> (String, String) {
    let (value, reach) = with_reach(estimate);
    let why = match row.status {
        Status::Ok if value.is_empty() => "not known".to_owned(),
        Status::Ok => return (value, reach),
        status => status.to_string(),
    };
    (value, [reach, why].join(" ").trim().to_owned())
}

/// Returns the value and the reach of its interval. Empty: not known.
fn with_reach(estimate: Interval) -> (String, String) {
    let Some(value) = estimate[0].and_then(drawable) else {
        return (String::new(), String::new());
    };
    // That of std to itself has no width.
    let ends = interval(estimate).filter(|(low, high)| low < high);
    let reach = ends.and_then(|(low, high)| interval_text(value, low, high));
    let reach = reach.map(|reach| format!("{} %", signed(&reach).replace("+-", "±")));
    (plain(value), reach.unwrap_or_default())
}

/// Rows of each facet: one for each engine, or pair of engines, over each transport. Facets differ in threads and other
/// parameters, then in payload.
type Facets<'a> = BTreeMap<(BlockKey, Payload), Vec<&'a Row>>;

/// Returns the facets of each kind of sockets.
fn panels(rows: &[Row]) -> BTreeMap<(Ip, Connection), Facets<'_>> {
    let mut panels = BTreeMap::<_, Facets>::new();
    for row in drawn_rows(rows) {
        let block = BlockKey {
            payload: Payload::MIN,
            transport: None,
            address: None,
            ip: Ip::V4,
            ..row.block()
        };
        let facets = panels.entry((row.ip, row.connection)).or_default();
        let facet = facets.entry((block, row.payload_bytes));
        facet.or_default().push(row);
    }
    panels
}

/// Returns the rows to draw. The rate of rows with a target rate was prescribed: they are returned only if no other row
/// was measured.
fn drawn_rows(rows: &[Row]) -> Vec<&Row> {
    let (unpaced, paced): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.target_pps.is_none());
    let is_measured = |row: &&Row| row.received_pps.and_then(drawable).is_some();
    if unpaced.iter().any(is_measured) {
        unpaced
    } else {
        paced
    }
}
