//! A window as a line of 100 columns, and as a row of a CSV file.

use crate::data::Histogram;
use crate::data::listened::ListenWindow;
use crate::host::program::Interval;
use crate::results::export::table::number;
use crate::term::table::Columns;

use super::totals::{time_of_day, utc};

/// A window, and what the kernel counted meanwhile.
pub(super) struct Line {
    pub(super) window: ListenWindow,
    pub(super) seen: Interval,
    gaps: Histogram,
}

impl Line {
    pub(super) fn new(window: ListenWindow, seen: Interval) -> Self {
        let gaps = window.gaps();
        Self { window, seen, gaps }
    }

    fn seconds(&self) -> f64 {
        self.window.length_ns.max(1) as f64 / 1e9
    }

    fn per_second(&self, count: u64) -> f64 {
        count as f64 / self.seconds()
    }

    fn mbps(&self) -> f64 {
        self.per_second(self.window.bytes) * 8.0 / 1e6
    }

    fn gap_us(&self, share: f64) -> Option<f64> {
        Some(self.gaps.quantile(share)? / 1e3)
    }

    fn longest_ms(&self) -> Option<f64> {
        Some(self.window.longest_gap?.ns as f64 / 1e6)
    }

    /// Returns the packets lost by the interface that lost most.
    fn interface_drops(&self) -> u64 {
        let most = self.seen.interface_drops.values().max();
        most.copied().unwrap_or(0)
    }

    fn kernel_drops(&self) -> u64 {
        self.seen.backlog_drops + self.seen.protocol_drops
    }

    fn full_pct(&self, buffer_bytes: u32) -> f64 {
        100.0 * f64::from(self.window.queued_bytes) / f64::from(buffer_bytes.max(1))
    }

    fn cpu_pct(&self) -> f64 {
        100.0 * self.window.cpu_ns as f64 / self.window.length_ns.max(1) as f64
    }
}

/// Columns that only some runs have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// `--gap` was given.
    pub(super) silences: bool,
    /// `--sequence` or `--rtp` was given.
    pub(super) sequence: bool,
    /// Size of the buffer in bytes.
    pub(super) buffer_bytes: u32,
}

impl Shown {
    /// Returns the line of headings, for a terminal of this width.
    pub(super) fn header(self, width: usize) -> String {
        self.columns().empty().dense().header(width)
    }

    /// Returns the line of a window, for a terminal of this width.
    pub(super) fn line(self, line: &Line, width: usize) -> String {
        let columns = self.columns();
        let mut table = columns.empty().dense();
        table.row(columns.cells(line));
        table.body(width)
    }

    /// Returns the columns. Headings are padded to the width of the numbers below them. A narrow terminal omits some.
    fn columns(self) -> Columns<'static, Line> {
        let or_dash = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), six_columns);
        let mut columns = Columns::<Line>::default()
            .word("UTC     ", |it| {
                time_of_day(it.window.opened_ns).chars().take(8).collect()
            })
            .number("   pps", |it| {
                six_columns(it.per_second(it.window.datagrams))
            })
            .number("  Mb/s", |it| six_columns(it.mbps()))
            .spare(2, "src", |it| it.window.sources.to_string())
            .spare(1, "p50 us", move |it| or_dash(it.gap_us(0.5)))
            .spare(7, "p99 us", move |it| or_dash(it.gap_us(0.99)))
            .spare(9, "max ms", move |it| or_dash(it.longest_ms()));
        if self.silences {
            columns = columns.spare(8, "quiet", |it| it.window.silences.to_string());
        }
        if self.sequence {
            columns = columns
                .number(" lost", |it| it.window.sequence.missing.to_string())
                .spare(6, "late", |it| it.window.sequence.late.to_string())
                .spare(5, "dup", |it| it.window.sequence.duplicates.to_string());
        }
        columns
            .number("socket", |it| it.window.socket_drops.to_string())
            .number("kernel", |it| it.kernel_drops().to_string())
            .spare(10, "  nic", |it| it.interface_drops().to_string())
            .spare(4, "full%", move |it| {
                format!("{:.0}", it.full_pct(self.buffer_bytes))
            })
            .spare(3, "cpu%", |it| format!("{:.0}", it.cpu_pct()))
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

/// Heading of a column of the file, and its value.
type Column = (&'static str, fn(&Line) -> String);

/// Columns of the CSV file. An empty cell is unknown.
const COLUMNS: [Column; 24] = [
    ("opened_at", |it| utc(it.window.opened_ns)),
    ("seconds", |it| format!("{:.6}", it.seconds())),
    ("datagrams", |it| it.window.datagrams.to_string()),
    ("bytes", |it| it.window.bytes.to_string()),
    ("datagrams_per_second", |it| {
        format!("{:.3}", it.per_second(it.window.datagrams))
    }),
    ("mbps", |it| format!("{:.6}", it.mbps())),
    ("sources", |it| it.window.sources.to_string()),
    ("gap_p50_us", |it| cell(it.gap_us(0.5))),
    ("gap_p99_us", |it| cell(it.gap_us(0.99))),
    ("gap_max_us", |it| cell(it.longest_ms().map(|ms| 1e3 * ms))),
    ("gap_max_began_at", |it| {
        it.window
            .longest_gap
            .map_or_else(String::new, |gap| utc(gap.began_ns))
    }),
    ("silences", |it| it.window.silences.to_string()),
    ("missing_numbers", |it| {
        it.window.sequence.missing.to_string()
    }),
    ("late_datagrams", |it| it.window.sequence.late.to_string()),
    ("duplicates", |it| it.window.sequence.duplicates.to_string()),
    ("restarts", |it| it.window.sequence.restarts.to_string()),
    ("unnumbered", |it| it.window.unnumbered.to_string()),
    ("dropped_socket", |it| it.window.socket_drops.to_string()),
    ("dropped_backlog", |it| it.seen.backlog_drops.to_string()),
    ("dropped_protocols", |it| it.seen.protocol_drops.to_string()),
    ("dropped_nic", |it| it.interface_drops().to_string()),
    ("queued_bytes_max", |it| it.window.queued_bytes.to_string()),
    ("cpu_pct", |it| format!("{:.2}", it.cpu_pct())),
    ("softirq_cpu", |it| {
        it.seen
            .softirq_cpu()
            .map_or_else(String::new, |(cpu, _)| cpu.to_string())
    }),
];

fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.3}"))
}

/// Returns the heading of the CSV file.
pub(super) fn csv_header() -> String {
    COLUMNS.map(|(name, _)| name).join(",") + "\n"
}

/// Returns the row of a window. No cell needs quotation marks.
pub(super) fn csv_row(line: &Line) -> String {
    COLUMNS.map(|(_, value)| value(line)).join(",") + "\n"
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
            let header = shown.header(width);
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
