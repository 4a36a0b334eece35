//! Section of a listener: its datagrams per second, losses and silences over time.

use maud::{Markup, html};

use super::chart::{time_line, time_series};
use crate::listen::log::ListenLog;
use crate::listen::row::Row;

/// Returns the results of a listener.
pub(super) fn found(log: &ListenLog) -> Markup {
    let rows: Vec<&Row> = log.rows().collect();
    html! {
        @for (name, line) in log.summary() { p { (name) " " (line) } }
        @if !rows.is_empty() {
            (rate(log, &rows))
            (losses(log, &rows))
        }
    }
}

fn rate(log: &ListenLog, rows: &[&Row]) -> Markup {
    let point = |row: &&Row| (log.seconds_to(&row.opened_at), row.datagrams_per_second);
    let points: Vec<(f64, f64)> = rows.iter().map(point).collect();
    time_series("Datagrams per second", &points)
}

/// Draws when something was lost where, and when nothing came.
fn losses(log: &ListenLog, rows: &[&Row]) -> Markup {
    let windows = |lost: fn(&Row) -> bool| {
        let with_some = rows.iter().filter(|row| lost(row));
        let parts = with_some.map(|row| (log.seconds_to(&row.opened_at), row.seconds));
        parts.collect::<Vec<_>>()
    };
    let silences = log.silences();
    let silences = silences.map(|it| (log.seconds_to(&it.began_at), it.ms / 1e3));
    let mut lanes = vec![
        ("socket", windows(|row| row.dropped_socket > 0)),
        ("kernel", windows(|row| row.dropped_kernel() > 0)),
        ("nic", windows(|row| row.dropped_nic > 0)),
    ];
    if log.header.is_numbered {
        lanes.insert(0, ("missing", windows(|row| row.missing_numbers > 0)));
    }
    if log.header.gap_ns.is_some() {
        lanes.insert(0, ("silence", silences.collect()));
    }
    let last = rows
        .last()
        .map(|row| (log.seconds_to(&row.opened_at), row.seconds));
    let seconds = last.map_or(0.0, |(start, length)| start + length);
    html! {
        p {
            "Silences are drawn as they were, losses as the windows that had some. "
            "Drops of kernel and nic are those of all programs."
        }
        (time_line("Silences and losses over time", seconds, &lanes))
    }
}
