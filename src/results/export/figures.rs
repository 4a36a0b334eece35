//! The figures of a row that are followed from run to run, for formats of continuous integration.

use crate::results::row::{Row, Status};

/// A figure of a row. All but the rate are better the smaller they are.
pub(super) struct Figure {
    /// Name of the column, with hyphens.
    pub(super) name: &'static str,
    /// Unit.
    pub(super) unit: &'static str,
    /// Estimate.
    pub(super) value: f64,
    /// Interval of the estimate, if it is known.
    pub(super) interval: Option<(f64, f64)>,
}

/// Returns the figures of a row that was measured. Empty for other rows.
pub(super) fn figures(row: &Row) -> Vec<Figure> {
    if row.status != Status::Ok {
        return Vec::new();
    }
    let figure = |name, unit, value: Option<f64>, low: Option<f64>, high: Option<f64>| {
        Some(Figure {
            name,
            unit,
            value: value?,
            interval: low.zip(high),
        })
    };
    let all = [
        figure(
            RATE,
            "1/s",
            row.received_pps,
            row.received_pps_low,
            row.received_pps_high,
        ),
        figure(
            "cpu-ns-per-packet",
            "ns",
            row.cpu_ns_per_packet,
            row.cpu_ns_per_packet_low,
            row.cpu_ns_per_packet_high,
        ),
        figure(
            "rtt-p50-us",
            "us",
            row.rtt_p50_us,
            row.rtt_p50_us_low,
            row.rtt_p50_us_high,
        ),
        figure("loss-pct", "%", row.loss_pct, None, None),
    ];
    all.into_iter().flatten().collect()
}

/// Name of the figure that is better the larger it is.
pub(super) const RATE: &str = "received-pps";
