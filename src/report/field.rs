//! Sections of the tools of the field: of a listener its rates, losses and silences over time, of a soak its events.

use maud::{Markup, html};
use udpbench_field::listen::log::ListenLog;
use udpbench_field::listen::row::Row;
use udpbench_field::logs::FieldLog;
use udpbench_field::soak::event::{Event, Kind};
use udpbench_field::soak::log::SoakLog;

use super::chart::{Parts, time_line, time_series};
use super::tables::table;
use crate::host::facts::InterfaceKind;
use crate::results::row::Network;
use crate::term::table::{Columns, Table};
use udpbench_field::time::time_text;

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
    let windows = |lost: fn(&Row) -> bool| -> Parts {
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
    let seconds = rows
        .last()
        .map(part)
        .map_or(0.0, |(start, length)| start + length);
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
    let lanes: Vec<(&str, Parts)> = Kind::ALL.into_iter().map(lane).collect();
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
