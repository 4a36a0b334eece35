//! Measures that engines are ranked by, and their columns in a row.

use super::estimate::Reading;
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
        let figure = self.figure(row, unit);
        let reading = Reading::new(figure.value?)?;
        let known = match figure.deviation_pct.zip(figure.count) {
            Some((deviation_pct, count)) => reading.with_scatter(deviation_pct, count),
            None => reading,
        };
        let known = match figure.low.zip(figure.high) {
            Some((low, high)) if known.interval().is_none() => reading.with_interval(low, high),
            _ => known,
        };
        let known = match figure.low.zip(figure.high) {
            Some((low, high)) => known.with_shown_interval(low, high),
            None => known,
        };
        let residual_pct = match self {
            Self::Speed => row.residual_sd_pct,
            Self::RoundTrip => row.residual_rtt_sd_pct,
            Self::Cpu => row.residual_cpu_sd_pct,
        };
        Some(known.with_residual(residual_pct, Some(row.counted_windows())))
    }

    fn figure(self, row: &Row, unit: Unit) -> Figure {
        match (self, unit) {
            (Self::Speed, Unit::TimesStd) => Figure {
                value: row.ratio_to_std,
                deviation_pct: row.ratio_sd_pct,
                count: row.ratio_pairs,
                low: row.ratio_to_std_low,
                high: row.ratio_to_std_high,
            },
            // Rows have no such ratio.
            (Self::RoundTrip, Unit::TimesStd) => Figure::default(),
            (Self::RoundTrip, Unit::Absolute) => Figure {
                value: row.rtt_p50_us,
                low: row.rtt_p50_us_low,
                high: row.rtt_p50_us_high,
                ..Figure::default()
            },
            (Self::Cpu, Unit::TimesStd) => Figure {
                value: row.cpu_ratio_to_std,
                deviation_pct: row.cpu_ratio_sd_pct,
                count: row.ratio_pairs,
                low: row.cpu_ratio_to_std_low,
                high: row.cpu_ratio_to_std_high,
            },
            (Self::Speed, Unit::Absolute) => Figure {
                value: row.received_pps.or_else(|| pps_of_mbps(row)),
                deviation_pct: row.cv_pct,
                count: Some(row.counted_windows()),
                low: row.received_pps_low,
                high: row.received_pps_high,
            },
            (Self::Cpu, Unit::Absolute) => Figure {
                value: row.cpu_ns_per_packet,
                low: row.cpu_ns_per_packet_low,
                high: row.cpu_ns_per_packet_high,
                ..Figure::default()
            },
        }
    }
}

/// Columns that a [`Reading`] is made from.
#[derive(Default)]
struct Figure {
    value: Option<f64>,
    deviation_pct: Option<f64>,
    count: Option<usize>,
    low: Option<f64>,
    high: Option<f64>,
}

/// Converts Mb/s to datagrams per second. Figures that others published come in Mb/s.
fn pps_of_mbps(row: &Row) -> Option<f64> {
    Some(row.received_mbps? * 1e6 / 8.0 / row.payload_bytes.bytes() as f64)
}
