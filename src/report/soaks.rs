//! Section of a soak: its events on a time line, and the tables of the terminal.

use maud::{Markup, html};

use super::chart::{Parts, time_line};
use super::tables::table;
use crate::soak::event::{Event, Kind};
use crate::soak::log::SoakLog;
use crate::soak::time_text;
use crate::term::table::{Columns, Table};

const SECOND_NS: f64 = 1e9;
/// Events in the table, at most. The log has all.
const MAX_LISTED: usize = 100;

/// Returns the results of a soak.
pub(super) fn found(log: &SoakLog) -> Markup {
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
    let seconds = |ns: u64| ns as f64 / SECOND_NS;
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
