//! A window as a row, for the CSV and the log, and as a line of 100 columns.

use serde::{Deserialize, Serialize};

use crate::data::listened::ListenWindow;
use crate::program::Interval;
use crate::term::table::{Columns, Table};
use crate::text::digits::number;
use crate::time::{time_of_day, utc};

/// Counts of a window. The fields are the columns of the CSV.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Beginning in UTC, as in RFC 3339.
    pub opened_at: String,
    /// Length.
    pub seconds: f64,
    /// Datagrams that were read.
    pub datagrams: u64,
    /// Bytes of their payload.
    pub bytes: u64,
    /// Datagrams per second.
    pub datagrams_per_second: f64,
    /// Payload, in Mb/s.
    pub mbps: f64,
    /// Different sources, of those that are known by name.
    pub sources: u32,
    /// Datagrams of other sources: only the first 64 are known by name.
    #[serde(default)]
    pub datagrams_of_other_sources: u64,
    /// Median gap between arrivals. `None`: fewer than two came.
    pub gap_p50_us: Option<f64>,
    /// Gap than which 99 % are shorter.
    pub gap_p99_us: Option<f64>,
    /// The longest gap that ended in the window.
    pub gap_max_us: Option<f64>,
    /// Its beginning in UTC.
    pub gap_max_began_at: Option<String>,
    /// Gaps of at least `--gap`.
    pub silences: u64,
    /// Numbers that did not come, of sources whose numbers follow each other. Below 0: late ones came.
    pub missing_numbers: i64,
    /// Datagrams after one with a higher number.
    pub late_datagrams: u64,
    /// Datagrams whose number had come before.
    pub duplicates: u64,
    /// New series of numbers.
    pub restarts: u64,
    /// Sources whose numbers do not follow each other: their losses are not known.
    #[serde(default)]
    pub doubted_sources: u32,
    /// Datagrams without a number where one is expected.
    pub unnumbered: u64,
    /// Datagrams that the socket dropped.
    pub dropped_socket: u64,
    /// Packets that found the backlog of a CPU full, for any program.
    pub dropped_backlog: u64,
    /// Datagrams that IP or UDP dropped, for any program.
    pub dropped_protocols: u64,
    /// Packets that the interface lost that lost most, for any program.
    pub dropped_nic: u64,
    /// The fullest receive queue that was seen, in bytes.
    pub queued_bytes_max: u32,
    /// Times that somebody set the clock of this host.
    #[serde(default)]
    pub clock_sets: u32,
    /// Change of the clock by these, in milliseconds.
    #[serde(default)]
    pub clock_set_ms: f64,
    /// CPU time of the receiving thread, in % of one CPU.
    pub cpu_pct: f64,
    /// CPU that received most packets from the network.
    pub softirq_cpu: Option<usize>,
}

impl Row {
    /// Returns the row of a window, and of what the kernel counted meanwhile.
    pub fn new(window: &ListenWindow, seen: &Interval) -> Self {
        let seconds = window.length_ns.max(1) as f64 / 1e9;
        let gaps = window.gaps();
        let gap_us = |share| gaps.quantile(share).map(|ns| rounded(ns / 1e3, 3));
        let longest = window.longest_gap;
        let sequence = &window.sequence;
        Self {
            opened_at: utc(window.opened_ns),
            seconds: rounded(seconds, 6),
            datagrams: window.datagrams,
            bytes: window.bytes,
            datagrams_per_second: rounded(window.datagrams as f64 / seconds, 3),
            mbps: rounded(window.bytes as f64 * 8.0 / seconds / 1e6, 6),
            sources: window.sources,
            datagrams_of_other_sources: window.of_other_sources,
            gap_p50_us: gap_us(0.5),
            gap_p99_us: gap_us(0.99),
            gap_max_us: longest.map(|gap| gap.ns as f64 / 1e3),
            gap_max_began_at: longest.map(|gap| utc(gap.began_ns)),
            silences: window.silences,
            missing_numbers: sequence.missing,
            late_datagrams: sequence.late,
            duplicates: sequence.duplicates,
            restarts: sequence.restarts,
            doubted_sources: window.doubted_sources,
            unnumbered: window.unnumbered,
            dropped_socket: window.socket_drops,
            dropped_backlog: seen.backlog_drops,
            dropped_protocols: seen.protocol_drops,
            dropped_nic: seen.interface_drops.values().max().copied().unwrap_or(0),
            queued_bytes_max: window.queued_bytes,
            clock_sets: window.clock_sets,
            clock_set_ms: rounded(window.clock_set_ns as f64 / 1e6, 3),
            cpu_pct: rounded(100.0 * window.cpu_ns as f64 / (1e9 * seconds), 2),
            softirq_cpu: seen.softirq_cpu().map(|(cpu, _)| cpu),
        }
    }

    /// Returns the packets that the backlog, IP or UDP dropped, for any program.
    pub fn dropped_kernel(&self) -> u64 {
        self.dropped_backlog + self.dropped_protocols
    }
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    (value * scale).round() / scale
}

/// Columns that only some runs have.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// `--gap` was given.
    pub silences: bool,
    /// `--sequence` or `--rtp` was given.
    pub sequence: bool,
    /// Size of the buffer in bytes.
    pub buffer_bytes: u32,
}

impl Shown {
    /// Returns the table of windows.
    pub fn table(self, rows: &[&Row]) -> Table {
        self.columns().table(rows.iter().copied()).dense()
    }

    /// Returns the columns. Headings are padded to the width of the numbers below them. A narrow terminal omits some.
    fn columns(self) -> Columns<'static, Row> {
        let or_dash = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), six_columns);
        let mut columns = Columns::<Row>::default()
            .word("UTC     ", |it| {
                time_of_day(&it.opened_at).chars().take(8).collect()
            })
            .number("   pps", |it| six_columns(it.datagrams_per_second))
            .number("  Mb/s", |it| six_columns(it.mbps))
            .spare(2, "src", |it| match it.datagrams_of_other_sources {
                0 => it.sources.to_string(),
                _ => format!("{}+", it.sources),
            })
            .spare(1, "p50 us", move |it| or_dash(it.gap_p50_us))
            .spare(7, "p99 us", move |it| or_dash(it.gap_p99_us))
            .spare(9, "max ms", move |it| {
                or_dash(it.gap_max_us.map(|us| us / 1e3))
            });
        if self.silences {
            columns = columns.spare(8, "quiet", |it| it.silences.to_string());
        }
        if self.sequence {
            columns = columns
                .number(" lost", |it| match it.doubted_sources {
                    doubted if doubted > 0 && doubted >= it.sources => "?".to_owned(),
                    _ => it.missing_numbers.to_string(),
                })
                .spare(6, "late", |it| it.late_datagrams.to_string())
                .spare(5, "dup", |it| it.duplicates.to_string());
        }
        columns
            .number("socket", |it| it.dropped_socket.to_string())
            .number("kernel", |it| it.dropped_kernel().to_string())
            .spare(10, "  nic", |it| it.dropped_nic.to_string())
            .spare(4, "full%", move |it| {
                let full = f64::from(it.queued_bytes_max) / f64::from(self.buffer_bytes.max(1));
                format!("{:.0}", 100.0 * full)
            })
            .spare(3, "cpu%", |it| format!("{:.0}", it.cpu_pct))
    }
}

/// Formats a number in at most six columns.
fn six_columns(value: f64) -> String {
    match value {
        value if value >= 999_999.5 => format!("{:.1}M", value / 1e6),
        value if value >= 9_999.5 => format!("{value:.0}"),
        value => number(Some(value), if value < 9.995 { 2 } else { 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_columns_fit_and_some_of_them_a_narrow_terminal() {
        let shown = Shown {
            silences: true,
            sequence: true,
            buffer_bytes: 1,
        };
        for width in [60, 80, 100] {
            let header = shown.table(&[]).header(width);
            assert_eq!(header.lines().count(), 1, "{header}");
            assert!(header.trim_end().len() <= width, "{header}");
            for column in ["UTC", "pps", "Mb/s", "lost", "socket", "kernel"] {
                assert!(header.contains(column), "{header}");
            }
            assert_eq!(header.contains("p50 us"), width == 100, "{header}");
        }
    }

    #[test]
    fn a_rate_has_six_columns_at_most() {
        let rates = [
            0.0, 0.004, 9.994, 12.34, 9_999.4, 99_999.9, 999_999.0, 1.25e6,
        ];
        assert_eq!(
            rates.map(six_columns),
            [
                "0.00", "0.00", "9.99", "12.3", "9999", "100000", "999999", "1.2M"
            ]
        );
    }
}
