//! CPU time per datagram, and loss.

use maud::{Markup, html};

use super::cases::{by_block, drawable};
use super::chart::{DotRow, Dots, First, Look, Mark, Shape, key};
use super::speed::{connections, look, per_engine, reference};
use crate::data::Connection;
use crate::results::Results;
use crate::row::Row;

/// CPU time per datagram: of all threads, of the senders, of the receivers.
pub(super) fn cpu(file: &Results) -> Markup {
    let blocks = by_block(&file.rows, |row| row.cpu_ns_per_packet);
    if blocks.is_empty() {
        return html! { p { "No case has a CPU time." } };
    }
    html! {
        p .legend {
            "CPU time in ns: of all threads and of the receivers per datagram received, of the senders per "
            "datagram sent. Lower is better. Hollow marks are unconnected sockets. "
            (key("c1", "●", "all threads")) (key("c2", "▲", "senders")) (key("c3", "■", "receivers"))
            (key("r", "┆", "all threads of std, connected"))
        }
        .charts {
            @for (block, rows) in blocks {
                (Dots {
                    axis: "ns per datagram",
                    second: None,
                    reference: reference(&rows, |row| row.cpu_ns_per_packet),
                    caption: &block.to_string(),
                    first: First::Smallest,
                }.draw(per_engine(&rows, sides)))
            }
        }
    }
}

fn sides(row: &Row) -> Vec<Mark> {
    let filled = row.connection == Connection::Connected;
    let side = |value: Option<f64>, colour, shape| {
        let value = value.and_then(drawable)?;
        Some(Mark {
            value,
            low: None,
            high: None,
            look: Look {
                colour,
                shape,
                filled,
            },
        })
    };
    let sides = [
        side(row.sender_cpu_ns_per_packet, 2, Shape::Triangle),
        side(row.receiver_cpu_ns_per_packet, 3, Shape::Square),
        side(row.cpu_ns_per_packet, 1, Shape::Circle),
    ];
    sides.into_iter().flatten().collect()
}

/// Datagrams sent and not received; blocks without loss are only named.
pub(super) fn loss(file: &Results) -> Markup {
    let blocks = by_block(&file.rows, |row| row.loss_pct);
    if blocks.is_empty() {
        return html! { p { "The loss of no case is known." } };
    }
    let lossless = |rows: &[&Row]| {
        rows.iter()
            .all(|row| row.loss_pct.is_none_or(|loss| loss == 0.0))
    };
    let (without, with): (Vec<_>, Vec<_>) =
        blocks.into_iter().partition(|(_, rows)| lossless(rows));
    let without: Vec<String> = without.iter().map(|(block, _)| block.to_string()).collect();
    html! {
        @if !without.is_empty() { p { "No loss with " (without.join("; ")) "." } }
        @if !with.is_empty() {
            p .legend {
                "In % of the datagrams sent; engines without loss are left out. " (connections())
            }
            .charts {
                @for (block, rows) in with {
                    (Dots {
                        axis: "% lost",
                        second: None,
                        reference: None,
                        caption: &block.to_string(),
                        first: First::LargestShare,
                    }.draw(losses(&rows)))
                }
            }
        }
    }
}

/// An engine without loss on either kind of sockets has no row.
fn losses(rows: &[&Row]) -> Vec<DotRow> {
    let mark = |row: &Row| {
        let value = row.loss_pct.and_then(drawable)?;
        Some(Mark {
            value,
            low: None,
            high: None,
            look: look(row.connection),
        })
    };
    let mut rows = per_engine(rows, |row| mark(row).into_iter().collect());
    rows.retain(|row| row.marks.iter().any(|mark| mark.value > 0.0));
    rows
}
