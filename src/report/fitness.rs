//! Sections on the validity of the numbers: the accounting of datagrams, and the warnings.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::number;
use crate::results::files::Results;
use crate::results::row::Row;

/// Returns the datagrams of all cases, by outcome.
pub(super) fn accounting(file: &Results) -> Markup {
    let rows = &file.rows;
    let sum = |count: fn(&Row) -> Option<u64>| -> i128 {
        rows.iter().filter_map(count).map(i128::from).sum()
    };
    let unaccounted: i128 = rows
        .iter()
        .filter_map(|row| row.unaccounted_packets)
        .map(i128::from)
        .sum();
    let unread = sum(|row| row.unread_packets);
    let faulty = rows
        .iter()
        .filter(|row| row.unaccounted_packets.is_some_and(|count| count != 0))
        .count();
    let entries = [
        ("sent", sum(|row| row.sent_packets)),
        ("received", sum(|row| row.received_packets)),
        ("refused at senders", sum(|row| row.refused_packets)),
        ("dropped at sockets", sum(|row| row.dropped_socket_packets)),
        (
            "dropped in the kernel",
            sum(|row| row.dropped_kernel_packets),
        ),
        ("left unread", unread),
        ("unaccounted for", unaccounted),
    ];
    if rows.iter().all(|row| row.sent_packets.is_none()) {
        return html! { p { "No case has datagram counts." } };
    }
    html! {
        p { @if faulty == 0 { "Every datagram of every case is accounted for." }
            @else { strong { (number::counted(faulty, "case")) " with datagrams unaccounted for." } } }
        .scroll tabindex="0" role="region" aria-label="Datagram accounting" {
            table {
                caption { "Datagrams of all cases, by outcome" }
                thead { tr { th scope="col" { "outcome" } th scope="col" { "datagrams" } } }
                tbody {
                    @for (name, count) in entries {
                        tr { th scope="row" { (name) } td { (number::grouped(count)) } }
                    }
                }
            }
        }
    }
}

/// Returns each distinct warning, with the number of its cases.
pub(super) fn warnings(file: &Results) -> Markup {
    let rows = &file.rows;
    let mut warnings: BTreeMap<String, usize> = BTreeMap::new();
    for warning in rows.iter().flat_map(|row| &row.warnings) {
        *warnings.entry(warning.line()).or_default() += 1;
    }
    let mut warnings: Vec<(String, usize)> = warnings.into_iter().collect();
    warnings.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let contaminated = rows
        .iter()
        .filter(|row| row.contaminated_windows.is_some_and(|it| it > 0));
    let contaminated = contaminated.count();
    let warned = rows.iter().filter(|row| !row.warnings.is_empty()).count();
    html! {
        @if warnings.is_empty() {
            p {
                "No case has a warning"
                @if contaminated > 0 {
                    "; " (number::counted(contaminated, "case")) " of " (number::grouped(rows.len() as i128))
                    " had windows in which other programs took CPU time"
                }
                "."
            }
        }
        @else {
            p {
                strong { (number::counted(warned, "case")) " of " (number::grouped(rows.len() as i128)) }
                " with a warning."
            }
            .scroll tabindex="0" role="region" aria-label="Warnings" {
                table .words {
                    caption { "Warnings, and in how many cases" }
                    thead { tr { th scope="col" { "cases" } th scope="col" { "warning" } } }
                    tbody {
                        @for (warning, count) in warnings {
                            tr { th scope="row" { (number::grouped(count as i128)) } td { (warning) } }
                        }
                    }
                }
            }
        }
    }
}
