//! The table for people: blocks side by side, at most 100 columns wide.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::case::Connection;
use crate::record::{Record, Status};

/// What a terminal over ssh shows without breaking lines.
const WIDTH: u16 = 100;

/// Draws the rows, ordered by threads, payload and ip, and says below what the numbers cannot.
pub fn draw(rows: &[Record]) -> String {
    let mut measured: Vec<&Record> = rows
        .iter()
        .filter(|row| row.status != Status::Skipped)
        .collect();
    measured.sort_by_key(|row| block(row));
    let mut text = String::new();
    if !measured.is_empty() {
        blocks(&mut text, &measured);
        text.push_str(LEGEND);
    }
    remarks(&mut text, rows);
    text
}

const LEGEND: &str = "
Mb/s: UDP payload received, median of the windows; +-%: half of its 95 % interval. CPU time per
datagram: tx ns of the senders, per sent one; rx ns of the receivers and cpu ns of all, per received
one. vs std: received, against std on connected sockets in the same round; interval: of that ratio.
";

fn block(row: &Record) -> (crate::case::Threads, crate::case::Payload, crate::case::Ip) {
    (row.threads, row.payload_bytes, row.ip)
}

fn blocks(text: &mut String, rows: &[&Record]) {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header([
            "engine", "conn", "Mb/s", "+-%", "kpps", "loss %", "tx ns", "rx ns", "cpu ns",
            "vs std", "interval",
        ]);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows {
        table.add_row(cells(row));
    }
    let mut lines = table.lines();
    let header = lines.next().unwrap_or_default();
    let _ = writeln!(text, "{}", header.trim_end());
    for (n, (row, line)) in rows.iter().zip(lines).enumerate() {
        if n == 0 || block(rows[n - 1]) != block(row) {
            let _ = writeln!(text, "{}", heading(row));
        }
        if let Some(sender) = sender_line(row) {
            let _ = writeln!(text, "{sender}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn heading(row: &Record) -> String {
    let plural = if row.threads.is_alone() { "" } else { "s" };
    let heading = format!(
        "-- {} thread{plural}, {} B, {}, CPUs {}",
        row.threads, row.payload_bytes, row.ip, row.pin
    );
    // Hundreds of threads have long lists; the column `pin` has them whole.
    let most = usize::from(WIDTH);
    if heading.len() <= most {
        heading
    } else {
        format!("{:.1$}...", heading, most - 3)
    }
}

/// Two engines whose names are too long for one cell: the sender gets a line of its own.
fn sender_line(row: &Record) -> Option<String> {
    let long = row.sender != row.receiver && row.sender.len() + row.receiver.len() > MAX_PAIR;
    long.then(|| format!(" {}>", row.sender))
}

/// The longest pair of names that leaves the table within 100 columns.
const MAX_PAIR: usize = 14;

fn cells(row: &Record) -> [String; 11] {
    let number = |value: Option<f64>, places: usize| {
        value.map_or_else(String::new, |value| format!("{value:.places$}"))
    };
    let engine = if row.sender == row.receiver {
        row.sender.clone()
    } else if sender_line(row).is_some() {
        format!("  {}", row.receiver)
    } else {
        format!("{}>{}", row.sender, row.receiver)
    };
    let spread = || {
        let (low, high) = row.received_pps_low.zip(row.received_pps_high)?;
        let median = row.received_pps.filter(|&median| median > 0.0)?;
        Some(50.0 * (high - low) / median)
    };
    let connection = match row.connection {
        Connection::Connected => "conn",
        Connection::Unconnected => "unconn",
    };
    let speed = match row.status {
        Status::Ok => number(
            row.received_mbps,
            usize::from(row.received_mbps < Some(1000.0)),
        ),
        status => status.to_string(),
    };
    let interval = row.ratio_to_std_low.zip(row.ratio_to_std_high);
    [
        engine,
        connection.to_owned(),
        speed,
        number(spread(), 1),
        number(row.received_pps.map(|pps| pps / 1000.0), 1),
        number(row.loss_pct, 2),
        number(row.sender_cpu_ns_per_packet, 0),
        number(row.receiver_cpu_ns_per_packet, 0),
        number(row.cpu_ns_per_packet, 0),
        number(row.ratio_to_std, 3),
        interval.map_or_else(String::new, |(low, high)| format!("{low:.3}-{high:.3}")),
    ]
}

/// Skips, failures and warnings, each once with how many cases it concerns.
fn remarks(text: &mut String, rows: &[Record]) {
    let mut remarks: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in rows {
        let kind = match row.status {
            Status::Skipped => "skipped",
            Status::Failed => "failed",
            Status::Interrupted => "interrupted",
            Status::Ok => "",
        };
        if !row.reason.is_empty() {
            *remarks.entry((kind, &row.reason)).or_default() += 1;
        }
        for warning in &row.warnings {
            *remarks.entry(("warning", warning)).or_default() += 1;
        }
    }
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    for ((kind, what), count) in remarks {
        table.add_row([kind, &format!("{count} x"), what]);
    }
    for line in table.lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
