//! Measures that engines are ranked by, and their columns in a row.

use super::estimate::{Figure, Reading};
use crate::results::row::Row;

/// A measure that engines are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Datagrams received per second; never datagrams sent.
    Speed,
    /// Median round trip of requests, in microseconds.
    RoundTrip,
    /// CPU time of all threads per datagram received.
    Cpu,
}

/// Choice of `--by`: one measure or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// Datagrams received per second, or round trips
    Speed,
    /// CPU time per datagram received
    Cpu,
    /// Both
    Both,
}

impl By {
    /// Returns whether this choice includes the measure.
    pub fn includes(self, measure: Measure) -> bool {
        match self {
            Self::Both => true,
            Self::Speed => measure != Measure::Cpu,
            Self::Cpu => measure == Measure::Cpu,
        }
    }
}

/// Unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Ratio to std on connected sockets in the same round.
    TimesStd,
    /// Datagrams per second, or nanoseconds: used where std was not measured.
    Absolute,
}

impl Measure {
    /// Every measure, in the order of display.
    pub const ALL: [Self; 3] = [Self::Speed, Self::RoundTrip, Self::Cpu];
    /// Largest ratio of two medians of round trips that may be due to the buckets of their histograms. Each median is
    /// known to within 0.4 %.
    const BUCKETS: f64 = 1.008;

    /// Returns whether one value is surely better than the other: see [`Reading::exceeds`].
    pub(super) fn is_ahead(self, one: &Reading, other: &Reading, risk: f64) -> bool {
        match self {
            Self::Speed => one.exceeds(other, risk),
            Self::RoundTrip => {
                other.exceeds(one, risk)
                    && other.value() > Self::BUCKETS * one.value()
                    && one.excludes(other)
                    && other.excludes(one)
            }
            Self::Cpu => other.exceeds(one, risk),
        }
    }

    /// Returns a row's value with its uncertainty. `None` if the row has no positive number.
    pub(super) fn of(self, row: &Row, unit: Unit) -> Option<Reading> {
        let windows = row.counted_windows();
        let (value, low, high, scatter) = match (self, unit) {
            (Self::Speed, Unit::TimesStd) => (
                row.ratio_to_std,
                row.ratio_to_std_low,
                row.ratio_to_std_high,
                row.ratio_sd_pct.zip(row.ratio_pairs),
            ),
            (Self::Speed, Unit::Absolute) => (
                row.received_pps.or_else(|| pps_of_mbps(row)),
                row.received_pps_low,
                row.received_pps_high,
                row.cv_pct.map(|pct| (pct, windows)),
            ),
            // Rows have no such ratio.
            (Self::RoundTrip, Unit::TimesStd) => return None,
            (Self::RoundTrip, Unit::Absolute) => (
                row.rtt_p50_us,
                row.rtt_p50_us_low,
                row.rtt_p50_us_high,
                None,
            ),
            (Self::Cpu, Unit::TimesStd) => (
                row.cpu_ratio_to_std,
                row.cpu_ratio_to_std_low,
                row.cpu_ratio_to_std_high,
                row.cpu_ratio_sd_pct.zip(row.ratio_pairs),
            ),
            (Self::Cpu, Unit::Absolute) => (
                row.cpu_ns_per_packet,
                row.cpu_ns_per_packet_low,
                row.cpu_ns_per_packet_high,
                None,
            ),
        };
        let residual_pct = match self {
            Self::Speed => row.residual_sd_pct,
            Self::RoundTrip => row.residual_rtt_sd_pct,
            Self::Cpu => row.residual_cpu_sd_pct,
        };
        Reading::of(Figure {
            value,
            scatter,
            residual: residual_pct.map(|pct| (pct, windows)),
            interval: low.zip(high),
        })
    }
}

/// Converts Mb/s to datagrams per second. Figures that others published come in Mb/s.
fn pps_of_mbps(row: &Row) -> Option<f64> {
    Some(row.received_mbps? * 1e6 / 8.0 / row.payload_bytes.bytes() as f64)
}
