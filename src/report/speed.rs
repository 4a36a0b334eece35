//! Chart of throughput.

use maud::Markup;

use super::bars::BarMetric;
use super::panels::Facet;

pub(super) const ABOUT: &str = "Thousand datagrams received per second (kpps): the middle of the windows, with its 95 % \
                                interval within this run. More is better. A bar with » goes on beyond the axis.";

const METRIC: BarMetric = BarMetric {
    unit: "kpps",
    value: |row| {
        let values = [
            row.received_pps,
            row.received_pps_low,
            row.received_pps_high,
        ];
        values.map(|pps| pps.map(|pps| pps / 1000.0))
    },
    hatched: |_| 0.0,
};

/// Draws the engines by throughput.
pub(super) fn draw(facets: &[Facet], panel: &str) -> Markup {
    METRIC.draw(facets, panel)
}
