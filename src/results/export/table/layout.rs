//! Columns, legends and number formats of tables, by workload.

use crate::data::Workload;
use crate::results::row::{Interval, Row, Status};
use crate::term::table::Columns;
use crate::text::digits::{self, decimals, decimals_without_interval, number};

/// Function that returns an estimate with its interval.
type Of = fn(&Row) -> Interval;

/// Returns the table columns for rows of this row's workload.
pub(super) fn columns(row: &Row) -> Columns<'static, Row> {
    let columns = Columns::<Row>::default()
        .word("engine", Row::label)
        .word("conn", |row| row.connection.short().to_owned());
    let columns = match row.workload {
        Workload::Rr => columns
            .number("p50 us", first(Row::p50_us))
            .spare(6, "+-%", reach(Row::p50_us))
            .spare(2, "p90 us", |row| number(row.rtt_p90_us, 1))
            .number("p99 us", |row| number(row.rtt_p99_us, 1))
            .number("max us", |row| number(row.rtt_max_us, 0))
            .number("lost", |row| count(row.unanswered_requests))
            .spare(3, "kreq/s", |row| number(thousands(row.received_pps), 1))
            .spare(1, "cpu ns", cpu_ns),
        // CPU times of different hosts cannot be added up.
        Workload::Flood if row.direction.is_some() => throughput(columns)
            .number("lost at", lost_at)
            .number("tx ns", tx_ns)
            .number("rx ns", rx_ns),
        Workload::Flood => throughput(columns)
            .spare(1, "tx ns", tx_ns)
            .spare(2, "rx ns", rx_ns)
            .number("cpu ns", cpu_ns),
        Workload::Bidir => throughput(columns)
            .number("vs half", |row| estimate(row.to_half(), 3))
            .spare(5, "+-%", reach(Row::to_half))
            .spare(3, "cpu ns", cpu_ns),
    };
    let columns = if row.energy_nj_per_packet.is_some() {
        columns.spare(7, "nJ", |row| estimate(row.energy_nj(), 0))
    } else {
        columns
    };
    columns
        .number("vs std", |row| estimate(row.to_std(), 3))
        .spare(4, "+-%", reach(Row::to_std))
}

fn throughput(columns: Columns<'static, Row>) -> Columns<'static, Row> {
    columns
        .number("Mb/s", first(Row::mbps))
        .spare(6, "+-%", reach(Row::pps))
        .spare(3, "kpps", |row| estimate(row.pps().map(thousands), 1))
        .number("loss %", |row| number(row.loss_pct, 2))
}

fn tx_ns(row: &Row) -> String {
    number(row.sender_cpu_ns_per_packet, 0)
}

fn rx_ns(row: &Row) -> String {
    number(row.receiver_cpu_ns_per_packet, 0)
}

fn cpu_ns(row: &Row) -> String {
    number(row.cpu_ns_per_packet, 0)
}

/// Returns the explanation of the columns for this row's workload.
pub(super) fn legend(row: &Row) -> &'static str {
    match row.workload {
        Workload::Flood if row.direction.is_some() => {
            "\n\
             Mb/s: payload received, middle of the windows; +-%: half of its 95 % interval within this run, or both sides of it. lost at: the place \
             where most of what did not arrive was lost, with its share unless that is all; path: counted by \
             neither host. CPU time: tx ns of the senders per datagram sent, rx ns of the receivers per datagram \
             received. vs std: datagrams received, relative to std on connected sockets in the same round, +-%."
        }
        Workload::Flood => {
            "\n\
             Mb/s: payload received, middle of the windows; +-%: half of its 95 % interval within this run, or both sides of it. a>b: senders and receivers. CPU time: tx ns \
             of the senders per datagram sent, rx ns of the receivers and cpu ns of all threads per datagram \
             received. vs std: datagrams received, relative to std on connected sockets in the same round, +-%."
        }
        Workload::Rr => {
            "\n\
             p50 us: round trip, from a request to its answer, that half of them do not exceed; +-%: half of its \
             95 % interval within this run, or both sides of it. lost: requests without an answer within 250 ms. cpu ns: of all threads per answer. \
             vs std: answers per second, relative to std on connected sockets in the same round, +-%."
        }
        Workload::Bidir => {
            "\n\
             Mb/s: payload received in both directions, of /half in one, middle of the windows; +-%: half of \
             its 95 % interval within this run, or both sides of it. vs half: datagrams received both ways over those one way in the same round, +-%. \
             cpu ns: of all threads per datagram received. vs std: relative to std, both ways, connected, +-%."
        }
    }
}

/// Returns the text of the main column, which also shows that a case failed or was interrupted.
fn first(of: Of) -> impl Fn(&Row) -> String {
    move |row| match row.status {
        Status::Failed => "failed".to_owned(),
        Status::Interrupted => format!("*{}", estimate(of(row), 1)),
        Status::Ok | Status::Skipped => estimate(of(row), 1),
    }
}

fn reach(of: Of) -> impl Fn(&Row) -> String {
    move |row| {
        let [middle, low, high] = of(row);
        interval_text(middle, low, high)
    }
}

/// Returns the place where most datagrams were lost, with its share unless it is all: `path`, or `socket 62%`.
fn lost_at(row: &Row) -> String {
    match row.lost_at() {
        None => String::new(),
        Some((place, share)) if share >= 99.5 => place.to_owned(),
        Some((place, share)) => format!("{place} {share:.0}%"),
    }
}

/// Converts a rate per second to thousands per second.
pub fn thousands(per_second: Option<f64>) -> Option<f64> {
    per_second.map(|per_second| per_second / 1000.0)
}

/// Returns a count as text. Empty: unknown.
pub fn count(count: Option<u64>) -> String {
    count.map_or_else(String::new, |count| count.to_string())
}

/// Returns the half-width of an interval in percent (see [`digits::interval_text`]). Empty: no interval.
pub fn interval_text(median: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    let reach = || digits::interval_text(median?, low?, high?);
    reach().unwrap_or_default()
}

/// Returns the value as text. The width of its interval limits its decimals to the significant ones, and `most` to a
/// maximum.
pub(super) fn estimate([value, low, high]: Interval, most: usize) -> String {
    let decimals = match low.zip(high) {
        Some((low, high)) => decimals((high - low) / 2.0),
        None => decimals_without_interval(value.unwrap_or_default()),
    };
    number(value, decimals.min(most))
}
