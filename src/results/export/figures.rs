//! The figures of a row that are followed from run to run, for formats of continuous integration.

use crate::results::row::{Interval, Row, Status};

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
    let figure = |name, unit, [value, low, high]: Interval| {
        Some(Figure {
            name,
            unit,
            value: value?,
            interval: low.zip(high),
        })
    };
    let all = [
        figure(RATE, "1/s", row.pps()),
        figure("cpu-ns-per-packet", "ns", row.cpu_ns()),
        figure("rtt-p50-us", "us", row.p50_us()),
        figure("loss-pct", "%", [row.loss_pct, None, None]),
    ];
    all.into_iter().flatten().collect()
}

/// Name of the figure that is better the larger it is.
pub(super) const RATE: &str = "received-pps";
