//! Rows as lines of 100 columns.

use super::row::{Row, time_of_day};
use crate::results::export::table::number;
use crate::term::table::{Columns, Table};

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
    /// Returns the line of headings, for a terminal of this width.
    pub fn header(self, width: usize) -> String {
        self.columns().empty().dense().header(width)
    }

    /// Returns the line of a window, for a terminal of this width.
    pub fn line(self, row: &Row, width: usize) -> String {
        self.table(&[row]).body(width)
    }

    /// Returns the table of windows.
    pub fn table(self, rows: &[&Row]) -> Table {
        let columns = self.columns();
        let mut table = columns.empty().dense();
        for row in rows {
            table.row(columns.cells(row));
        }
        table
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
            .spare(2, "src", |it| it.sources.to_string())
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
