//! Chart of CPU time per datagram.

use maud::Markup;

use super::bars::BarMetric;
use super::cases::drawable;
use super::panels::Facet;
use crate::results::row::Row;

pub(super) const ABOUT: &str = "CPU time of all threads per datagram received: the middle of the windows, with its 95 % \
                                interval within this run. Less is better. Plain: receivers, or threads that do both; hatched: senders.";

const METRIC: BarMetric = BarMetric {
    unit: "ns",
    value: |row| {
        [
            row.cpu_ns_per_packet,
            row.cpu_ns_per_packet_low,
            row.cpu_ns_per_packet_high,
        ]
    },
    hatched: of_senders,
};

/// Draws the engines by CPU time.
pub(super) fn draw(facets: &[Facet], panel: &str) -> Markup {
    METRIC.draw(facets, panel)
}

/// Returns the part of the CPU time that is not the receivers'. 0 if the same threads send and receive.
fn of_senders(row: &Row) -> f64 {
    let all = row.cpu_ns_per_packet.and_then(drawable);
    let receivers = row.receiver_cpu_ns_per_packet.and_then(drawable);
    let senders = row.sender_cpu_ns_per_packet.and_then(drawable);
    match (all, receivers, senders) {
        (Some(all), Some(receivers), Some(_)) => all - receivers,
        _ => 0.0,
    }
}
