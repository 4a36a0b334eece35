//! Sections of the tools of the field: of a listener its rates, losses and silences over time, of a soak its events.
//! They have charts over time: what lasted from when to when, one lane per kind; and values, a point per window.

use std::fmt::Write as _;

use maud::{Markup, html};
use udpbench_field::listen::log::ListenLog;
use udpbench_field::listen::row::Row;
use udpbench_field::logs::FieldLog;
use udpbench_field::soak::event::{Event, Kind};
use udpbench_field::soak::log::SoakLog;
use udpbench_field::time::time_text;

use super::chart::{Drawn, Scale, Track, Tracks};
use super::labels::plain;
use super::tables::table;
use crate::host::facts::InterfaceKind;
use crate::results::row::Network;
use crate::term::table::{Columns, Table};

/// Events in the table, at most. The log has all.
const MAX_LISTED: usize = 100;

/// Returns the beginning of the id of the section, and its heading.
pub(super) fn title(log: &FieldLog) -> (&'static str, &'static str) {
    match log {
        FieldLog::Soak(_) => ("soak", "Was the path always there"),
        FieldLog::Listen(_) => ("listen", "What came in"),
    }
}

/// Returns the machine. Between two hosts, both.
pub(super) fn machine(log: &FieldLog) -> String {
    let (machine, to) = match log {
        FieldLog::Soak(log) => (&log.header.machine, log.header.to.as_ref()),
        FieldLog::Listen(log) => (&log.header.machine, None),
    };
    to.map_or_else(|| machine.clone(), |to| format!("{machine} to {to}"))
}

/// Returns what is between the ends. `None`: not known, as the other end is no udpbench.
pub(super) fn network(log: &FieldLog) -> Option<Network> {
    let FieldLog::Soak(log) = log else {
        return None;
    };
    Some(match (&log.header.to, log.header.interface_kind) {
        (None, _) => Network::Loopback,
        (Some(_), InterfaceKind::Veth) => Network::Veth,
        (Some(_), _) => Network::Wire,
    })
}

/// Returns the results.
pub(super) fn found(log: &FieldLog) -> Markup {
    match log {
        FieldLog::Soak(log) => soaked(log),
        FieldLog::Listen(log) => listened(log),
    }
}

/// Returns the results of a listener.
fn listened(log: &ListenLog) -> Markup {
    let rows: Vec<&Row> = log.rows().collect();
    let start = |row: &&Row| log.seconds_to(&row.opened_at);
    let rates = rows
        .iter()
        .map(|row| (start(row), row.datagrams_per_second));
    let rates: Vec<(f64, f64)> = rates.collect();
    html! {
        @for (name, line) in log.summary() { p { (name) " " (line) } }
        @if !rows.is_empty() {
            (time_series("Datagrams per second", &rates))
            p {
                "Silences are drawn as they were, losses as the windows that had some. "
                "Drops of kernel and nic are those of all programs."
            }
            (losses(log, &rows))
        }
    }
}

/// Draws when something was lost where, and when nothing came.
fn losses(log: &ListenLog, rows: &[&Row]) -> Markup {
    let part = |row: &&Row| (log.seconds_to(&row.opened_at), row.seconds);
    let windows = |lost: fn(&Row) -> bool| -> TimeSpans {
        rows.iter().filter(|row| lost(row)).map(part).collect()
    };
    let mut lanes = Vec::new();
    if log.header.gap_ns.is_some() {
        let silence = log
            .silences()
            .map(|it| (log.seconds_to(&it.began_at), it.ms / 1e3));
        lanes.push(("silence", silence.collect()));
    }
    if log.header.is_numbered {
        lanes.push(("missing", windows(|row| row.missing_numbers > 0)));
    }
    lanes.push(("socket", windows(|row| row.dropped_socket > 0)));
    lanes.push(("kernel", windows(|row| row.dropped_kernel() > 0)));
    lanes.push(("nic", windows(|row| row.dropped_nic > 0)));
    let last = rows.last().map(part);
    let seconds = last.map_or(0.0, |(start, length)| start + length);
    time_line("Silences and losses over time", seconds, &lanes)
}

/// Returns the results of a soak.
fn soaked(log: &SoakLog) -> Markup {
    let summary = log.summary();
    let events: Vec<&Event> = log.events().collect();
    let listed = &events[..events.len().min(MAX_LISTED)];
    html! {
        @for (name, line) in summary.lines() { p { (name) ": " (line) } }
        @if !events.is_empty() {
            (picture(log, &events))
            (table("Events by kind", &summary.table()))
            (table("Events", &events_table(log, listed)))
        }
        @if listed.len() < events.len() {
            p { "The table has the first " (MAX_LISTED) " of " (events.len()) " events; the log has all." }
        }
    }
}

fn picture(log: &SoakLog, events: &[&Event]) -> Markup {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let lane = |kind: Kind| {
        let of_kind = events.iter().filter(|event| event.kind == kind);
        let parts = of_kind.map(|event| (seconds(event.start_ns), seconds(event.length_ns)));
        (kind.word(), parts.collect())
    };
    let lanes: Vec<(&str, TimeSpans)> = Kind::ALL.into_iter().map(lane).collect();
    time_line("Events over time", seconds(log.elapsed_ns()), &lanes)
}

fn events_table(log: &SoakLog, events: &[&Event]) -> Table {
    let host = log.header.far_end();
    let columns = Columns::<&Event>::default()
        .word("UTC", |event| event.at.clone())
        .word("event", |event| event.kind.word().to_owned())
        .number("length", |event| time_text(event.length_ns))
        .number("lost", |event| event.lost.to_string())
        .text("where", |event| event.place_text(host))
        .text("notes", |event| event.notes_text());
    columns.table(events)
}

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 180.0;

/// Spans of time, in their order: start and length in seconds.
type TimeSpans = Vec<(f64, f64)>;

/// Draws a lane for each name from top to bottom, beside the number of its parts.
fn time_line(caption: &str, seconds: f64, lanes: &[(&str, TimeSpans)]) -> Markup {
    let (unit, name) = time_unit(seconds);
    let scale = Scale::linear([seconds / unit]);
    let track = |(name, parts): &(&str, TimeSpans)| Track {
        label: (*name).to_owned(),
        drawn: joined(parts, seconds)
            .map(|(from, to)| Drawn::Interval {
                low: from / unit,
                high: to / unit,
            })
            .collect(),
        values: vec![(parts.len().to_string(), String::new())],
        ..Track::default()
    };
    let caption = format!("{caption}, in {name} since the start");
    let tracks: Vec<Track> = lanes.iter().map(track).collect();
    Tracks::new(&["number"], &caption, scale).draw(&tracks)
}

/// Returns the unit of an axis of this many seconds: its length in seconds, and its name.
fn time_unit(seconds: f64) -> (f64, &'static str) {
    match seconds {
        0.0..600.0 => (1.0, "seconds"),
        600.0..36_000.0 => (60.0, "minutes"),
        _ => (3600.0, "hours"),
    }
}

/// Returns start and end of the parts. Those that are less than a pixel apart are one.
fn joined(parts: &TimeSpans, seconds: f64) -> impl Iterator<Item = (f64, f64)> {
    let pixel = seconds / 400.0;
    let mut joined: TimeSpans = Vec::new();
    for (start, length) in parts {
        match joined.last_mut() {
            Some((_, end)) if *start < *end + pixel => *end = end.max(start + length),
            _ => joined.push((*start, start + length)),
        }
    }
    joined.into_iter()
}

/// Draws points: seconds since the first window, and a value. The caption has both ends of both axes.
fn time_series(caption: &str, points: &[(f64, f64)]) -> Markup {
    let most = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).fold(0.0, f64::max);
    let (last, highest) = (most(|point| point.0), most(|point| point.1));
    let share = |value: f64, most: f64| if most > 0.0 { value / most } else { 0.0 };
    // Rounded to whole pixels, so that thousands of windows in one pixel are drawn once.
    let pixels = points.iter().map(|(x, y)| {
        let (x, y) = (WIDTH * share(*x, last), HEIGHT * (1.0 - share(*y, highest)));
        (x.round(), y.round())
    });
    let mut pixels: Vec<_> = pixels.collect();
    pixels.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    pixels.dedup();
    // A path of round dots takes a tenth of the space of circles.
    let dots = pixels.iter().fold(String::new(), |mut path, (x, y)| {
        // Writing to a String cannot fail.
        let _ = write!(path, "M{x} {y}h0");
        path
    });
    let (unit, name) = time_unit(last);
    let (highest, length) = (plain(highest), plain(last / unit));
    let about =
        format!("{caption}: 0 to {highest}, from the first window to {length} {name} after it");
    html! {
        figure {
            figcaption { (about) }
            svg viewBox={ "-3 -3 " (WIDTH + 6.0) " " (HEIGHT + 6.0) } role="img" aria-label=(about) {
                path .points d=(dots) {}
            }
        }
    }
}
