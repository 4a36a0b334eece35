//! Columns of `udpbench watch`: a window as one line of 80 columns, 60 for numbers and up to 20 for remarks.

use crate::commands::start_time::now;
use crate::data::{Case, Workload};
use crate::results::export::table::{count, number, thousands};
use crate::results::row::{Row, Status};
use crate::term::escape;
use crate::term::table::Columns;

/// The columns and the summary figures of a case.
pub(super) struct WatchColumns {
    /// The columns from left to right.
    columns: Columns<'static, Row>,
    /// The figures of the closing summary.
    pub(super) figures: &'static [Figure; 2],
}

/// A figure of the closing summary: the text before the number, its unit, its value, and how it is shown.
pub(super) type Figure = (
    &'static str,
    &'static str,
    fn(&Row) -> Option<f64>,
    fn(Option<f64>) -> String,
);

static FLOOD: [Figure; 2] = [
    ("median", "Mb/s", |row| row.received_mbps, five_columns),
    ("loss", "%", |row| row.loss_pct, loss),
];

static REQUEST_RESPONSE: [Figure; 2] = [
    ("median", "kreq/s", thousands_received, five_columns),
    ("p50", "us", |row| row.rtt_p50_us, five_columns),
];

impl WatchColumns {
    /// Chooses the columns by the case's workload. Headings are padded to the width of the numbers below them.
    pub(super) fn of(case: &Case) -> Self {
        let columns =
            Columns::<Row>::default().word("UTC     ", |row| time(&row.started_at).to_owned());
        let columns = if case.is_rr() {
            columns
                .number("kreq/s", |row| five_columns(thousands_received(row)))
                .number("p50 us", |row| five_columns(row.rtt_p50_us))
                .number("p99 us", |row| five_columns(row.rtt_p99_us))
                .number("max us", |row| number(row.rtt_max_us, 0))
                .number(" lost", |row| count(row.unanswered_requests))
        } else {
            columns
                .number(" Mb/s", |row| five_columns(row.received_mbps))
                .number(" kpps", |row| five_columns(thousands_received(row)))
                .number("loss%", |row| loss(row.loss_pct))
                .number(" where", |row| place_of_loss(row).to_owned())
                .number("tx ns", |row| number(row.sender_cpu_ns_per_packet, 0))
                .number("rx ns", |row| number(row.receiver_cpu_ns_per_packet, 0))
        };
        let columns = columns
            .number("cpu ns", |row| number(row.cpu_ns_per_packet, 0))
            .number(" C", |row| number(row.temp_c_end, 0))
            .number(" MHz", |row| number(row.freq_low_mhz, 0));
        let figures = if case.is_rr() {
            &REQUEST_RESPONSE
        } else {
            &FLOOD
        };
        Self { columns, figures }
    }

    /// Returns the line of headings.
    pub(super) fn header(&self) -> String {
        self.columns.empty().dense().header(WIDTH)
    }

    /// Returns the line of a window.
    pub(super) fn line(&self, row: &Row) -> String {
        if row.status == Status::Failed {
            return format!(
                "{} failed: {}",
                time(&row.started_at),
                escape::line(&row.reason.to_string())
            );
        }
        let mut cells = self.columns.cells(row);
        for unknown in cells.iter_mut().filter(|cell| cell.is_empty()) {
            "-".clone_into(unknown);
        }
        let mut table = self.columns.empty().dense();
        table.row(cells);
        let line = table.body(WIDTH);
        format!("{} {}", line.trim_end(), remarks(row))
            .trim_end()
            .to_owned()
    }
}

/// Width of a line in columns. The numbers always fit.
pub(super) const WIDTH: usize = 80;

/// Returns the line of a window that could not be measured.
pub(super) fn failed(reason: &str) -> String {
    format!("{} failed: {reason}", time(&now()))
}

/// Returns the time of day of an RFC 3339 time: `12:34:56` of `2026-01-02T12:34:56.789Z`.
pub(super) fn time(at: &str) -> &str {
    at.get(11..19).unwrap_or("--:--:--")
}

fn thousands_received(row: &Row) -> Option<f64> {
    thousands(row.received_pps)
}

/// Formats a number with one decimal in at most five columns: `99999` is the largest in full, `100k` follows.
fn five_columns(value: Option<f64>) -> String {
    match value {
        Some(value) if value >= 9_999_500.0 => format!("{:.0}M", value / 1e6),
        Some(value) if value >= 99_999.5 => format!("{:.0}k", value / 1e3),
        value => number(value, 1),
    }
}

/// Formats a percentage with two decimals, or with one from 10 on. `100.0` takes a column more than `99.9`.
fn loss(pct: Option<f64>) -> String {
    let decimals = if pct >= Some(9.995) { 1 } else { 2 };
    number(pct, decimals)
}

/// Returns the place where most datagrams of the window were lost, or nothing without loss.
fn place_of_loss(row: &Row) -> &'static str {
    let places = [
        ("socket", row.dropped_socket_packets),
        ("kernel", row.dropped_kernel_packets),
        ("sender", row.refused_packets),
    ];
    let lost = places.into_iter().filter(|(_, lost)| *lost > Some(0));
    // A tie goes to the first place: `max_by_key` returns the last maximum, and the list is reversed.
    let most = lost.rev().max_by_key(|(_, lost)| *lost);
    most.map_or("", |(place, _)| place)
}

/// Returns remarks about disturbances of the window.
fn remarks(row: &Row) -> String {
    let is_disturbed = row.disturbed_windows.unwrap_or(0) > 0;
    let mut remarks = Vec::new();
    if row.was_throttled() {
        remarks.push("throttled".to_owned());
    } else if !is_disturbed && row.contaminated_windows.unwrap_or(0) > 0 {
        remarks.push("slow CPU".to_owned());
    }
    if is_disturbed {
        let pct = row.preempted_pct.map(|pct| format!(" {pct:.0}%"));
        remarks.push(format!("load{}", pct.unwrap_or_default()));
    }
    // Under overload there are no meaningful round-trip times.
    let is_rr = row.workload == Workload::Rr;
    if is_rr && row.target_pps.is_some() && row.rtt_p50_us.is_none() {
        remarks.push("overload".to_owned());
    }
    remarks.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_five_columns_at_most() {
        let rates = [0.0, 9.96, 99_999.0, 99_999.9, 123_456.0, 9_999_999.0, 2e9];
        let shown = rates.map(|rate| five_columns(Some(rate)));
        assert_eq!(
            shown.each_ref().map(String::as_str),
            ["0.0", "10.0", "99999", "100k", "123k", "10M", "2000M"]
        );
    }
}
