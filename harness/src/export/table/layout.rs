//! What a table says about a row: its columns, by workload.

use crate::columns::Columns;
use crate::data::{Connection, Workload};
use crate::digits::{self, decimals};
use crate::row::{Row, Status};

/// What a table says about rows of one workload.
pub(in crate::export) struct Layout {
    /// The headings of the columns.
    pub(in crate::export) columns: &'static [&'static str],
    /// What the columns are.
    pub(in crate::export) legend: &'static str,
    /// The columns that a narrow terminal goes without, the least asked for first.
    leaves: &'static [usize],
    /// What the table says about a row, as the columns name it.
    pub(in crate::export) cells: fn(&Row) -> Vec<String>,
}

impl Layout {
    /// That of the row's workload.
    pub(in crate::export) fn of(row: &Row) -> &'static Self {
        match row.workload {
            Workload::Flood if row.direction.is_some() => &ACROSS,
            Workload::Flood => &FLOOD,
            Workload::Ask => &ASK,
            Workload::Duplex => &DUPLEX,
        }
    }
}

impl Layout {
    /// Its columns.
    pub(super) fn table(&self) -> Columns<'static> {
        Columns {
            headings: self.columns,
            words: WORDS,
            leaves: self.leaves,
            longest: 18,
        }
    }
}

/// How many of the columns are words; the others are numbers.
pub(in crate::export) const WORDS: usize = 2;

static FLOOD: Layout = Layout {
    columns: &[
        "engine", "conn", "Mb/s", "+-%", "kpps", "loss %", "tx ns", "rx ns", "cpu ns", "vs std",
        "+-%",
    ],
    legend: "\n\
             Mb/s: payload received, middle of the windows; +-%: half of its 95 % interval, or both sides of it. CPU time: tx ns \
             of the senders per datagram sent, rx ns of the receivers and cpu ns of all threads per datagram \
             received. vs std: datagrams received, relative to std on connected sockets in the same round, +-%.\n",
    leaves: &[6, 7, 4, 10, 3],
    cells: |row| {
        let [reach, kpps, loss] = throughput(row);
        let numbers = [
            reach,
            kpps,
            loss,
            number(row.sender_cpu_ns_per_packet, 0),
            number(row.receiver_cpu_ns_per_packet, 0),
        ];
        row_of(row, received_mbps(row), numbers)
    },
};

static ACROSS: Layout = Layout {
    columns: &[
        "engine", "conn", "Mb/s", "+-%", "kpps", "loss %", "lost at", "tx ns", "rx ns", "vs std",
        "+-%",
    ],
    legend: "\n\
             Mb/s: payload received, middle of the windows; +-%: half of its 95 % interval, or both sides of it. lost at: the place \
             where most of what did not arrive was lost, with its share unless that is all; path: counted by \
             neither host. CPU time: tx ns of the senders per datagram sent, rx ns of the receivers per datagram \
             received. vs std: datagrams received, relative to std on connected sockets in the same round, +-%.\n",
    leaves: &[7, 8, 4, 10, 3],
    cells: |row| {
        let [reach, kpps, loss] = throughput(row);
        let numbers = [
            reach,
            kpps,
            loss,
            lost_at(row),
            number(row.sender_cpu_ns_per_packet, 0),
            number(row.receiver_cpu_ns_per_packet, 0),
        ];
        let mut cells = row_of(row, received_mbps(row), numbers);
        // Of two hosts together.
        cells.remove(cells.len() - 3);
        cells
    },
};

/// `path`, or `socket 62%`.
fn lost_at(row: &Row) -> String {
    match row.lost_at() {
        None => String::new(),
        Some((place, share)) if share >= 99.5 => place.to_owned(),
        Some((place, share)) => format!("{place} {share:.0}%"),
    }
}

static ASK: Layout = Layout {
    columns: &[
        "engine", "conn", "p50 us", "+-%", "p90 us", "p99 us", "max us", "lost", "kreq/s",
        "cpu ns", "vs std", "+-%",
    ],
    legend: "\n\
             p50 us: round trip, from a request to its answer, that half of them do not exceed; +-%: half of its \
             95 % interval, or both sides of it. lost: requests without an answer within 250 ms. cpu ns: of all threads per answer. \
             vs std: answers per second, relative to std on connected sockets in the same round, +-%.\n",
    leaves: &[9, 4, 8, 11, 3],
    cells: |row| {
        let kreq_s = row.received_pps.map(|pps| pps / 1000.0);
        let lost = row.unanswered_requests;
        let (p50, low, high) = (row.rtt_p50_us, row.rtt_p50_us_low, row.rtt_p50_us_high);
        let numbers = [
            reach_pct(p50, low, high),
            number(row.rtt_p90_us, 1),
            number(row.rtt_p99_us, 1),
            number(row.rtt_max_us, 0),
            lost.map_or_else(String::new, |lost| lost.to_string()),
            number(kreq_s, 1),
        ];
        row_of(row, [p50, low, high], numbers)
    },
};

static DUPLEX: Layout = Layout {
    columns: &[
        "engine", "conn", "Mb/s", "+-%", "kpps", "loss %", "vs half", "+-%", "cpu ns", "vs std",
        "+-%",
    ],
    legend: "\n\
             Mb/s: payload received in both directions, of /half in one, middle of the windows; +-%: half of \
             its 95 % interval, or both sides of it. vs half: datagrams received both ways over those one way in the same round, +-%. \
             cpu ns: of all threads per datagram received. vs std: relative to std, both ways, connected, +-%.\n",
    leaves: &[4, 8, 10, 7, 3],
    cells: |row| {
        let [reach, kpps, loss] = throughput(row);
        let (low, high) = (row.ratio_to_half_low, row.ratio_to_half_high);
        let numbers = [
            reach,
            kpps,
            loss,
            estimate([row.ratio_to_half, low, high], 3),
            reach_pct(row.ratio_to_half, low, high),
        ];
        row_of(row, received_mbps(row), numbers)
    },
};

/// With the ends of its interval.
fn received_mbps(row: &Row) -> [Option<f64>; 3] {
    [
        row.received_mbps,
        row.received_mbps_low,
        row.received_mbps_high,
    ]
}

/// What stands behind the Mb/s of a flood: how far their interval reaches, kpps and loss.
fn throughput(row: &Row) -> [String; 3] {
    let (pps, low, high) = (
        row.received_pps,
        row.received_pps_low,
        row.received_pps_high,
    );
    [
        reach_pct(pps, low, high),
        estimate([pps, low, high].map(|pps| Some(pps? / 1000.0)), 1),
        number(row.loss_pct, 2),
    ]
}

/// What all layouts begin and end with.
fn row_of<const N: usize>(row: &Row, main: [Option<f64>; 3], numbers: [String; N]) -> Vec<String> {
    let connection = match row.connection {
        Connection::Connected => "conn",
        Connection::Unconnected => "unconn",
    };
    let main = match row.status {
        Status::Failed => "failed".to_owned(),
        Status::Interrupted => format!("*{}", estimate(main, 1)),
        Status::Ok | Status::Skipped => estimate(main, 1),
    };
    let (ratio, low, high) = (
        row.ratio_to_std,
        row.ratio_to_std_low,
        row.ratio_to_std_high,
    );
    let ratio = [
        number(row.cpu_ns_per_packet, 0),
        estimate([ratio, low, high], 3),
        reach_pct(ratio, low, high),
    ];
    let words = [row.label(), connection.to_owned(), main];
    words.into_iter().chain(numbers).chain(ratio).collect()
}

/// How far an interval reaches, where there is one: see [`reach_pct`](digits::reach_pct).
pub fn reach_pct(median: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    let reach = || digits::reach_pct(median?, low?, high?);
    reach().unwrap_or_default()
}

/// A value with as many decimals as its interval, which follows it, allows, and `most` at most.
fn estimate([value, low, high]: [Option<f64>; 3], most: usize) -> String {
    let half_width = low.zip(high).map(|(low, high)| (high - low) / 2.0);
    let decimals = half_width.map_or(most, |half_width| decimals(half_width).min(most));
    number(value, decimals)
}

/// With so many decimals, or fewer where the number is large: columns have to fit.
pub fn number(value: Option<f64>, decimals: usize) -> String {
    match value {
        None => String::new(),
        Some(value) if value >= 1e7 => format!("{:.0}M", value / 1e6),
        Some(value) if value >= 1e6 => format!("{:.0}k", value / 1e3),
        Some(value) if value >= 1e3 => format!("{value:.0}"),
        Some(value) => format!("{value:.decimals$}"),
    }
}
