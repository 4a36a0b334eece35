//! The table for people: blocks side by side, at most 100 columns wide.

mod layout;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

pub(super) use self::layout::{Layout, WORDS};
pub use self::layout::{half_width_pct, number};
use super::each_machine;
use crate::row::{Machine, Row, Status};

/// What a terminal over ssh shows without breaking lines.
pub const WIDTH: u16 = 100;

/// Draws the rows, each machine's by themselves, ordered by threads, payload and ip, and says below what the
/// numbers cannot.
pub fn draw(rows: &[Row]) -> String {
    let most = usize::from(WIDTH);
    let heading = |machine: &Machine| format!("{:.most$}\n", format!("== {machine}"));
    let shown: Vec<Row> = rows.iter().map(Row::shown).collect();
    each_machine(&shown, heading, of_machine)
}

/// Each line as several of at most 100 columns.
pub fn wrapped(lines: impl IntoIterator<Item = String>) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    table.add_rows(lines.into_iter().map(|line| [line]));
    let trimmed = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    trimmed.collect()
}

fn of_machine(rows: &[Row]) -> String {
    let mut text = String::new();
    for rows in measured(rows).chunk_by(|one, other| one.workload == other.workload) {
        let layout = Layout::of(rows[0]);
        blocks(&mut text, rows, layout);
        text.push_str(layout.legend);
    }
    below(&mut text, rows);
    text
}

/// The rows of what ran, block by block, those of a workload together.
pub(super) fn measured(rows: &[Row]) -> Vec<&Row> {
    let ran = rows.iter().filter(|row| row.status != Status::Skipped);
    let mut measured: Vec<&Row> = ran.collect();
    measured.sort_by_key(|row| (row.workload, row.block()));
    measured
}

fn blocks(text: &mut String, rows: &[&Row], layout: &Layout) {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(layout.columns);
    for column in table.column_iter_mut().skip(WORDS) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows {
        let mut cells = (layout.cells)(row);
        if let Some(engine) = cells.first_mut().filter(|engine| is_long(engine)) {
            engine.clear();
        }
        table.add_row(cells);
    }
    let mut lines = table.lines();
    let header = lines.next().unwrap_or_default();
    let _ = writeln!(text, "{}", header.trim_end());
    for (n, (row, line)) in rows.iter().zip(lines).enumerate() {
        if n == 0 || rows[n - 1].block() != row.block() {
            let _ = writeln!(text, "{}", heading(row));
        }
        let label = row.label();
        if is_long(&label) {
            let _ = writeln!(text, " {label}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn heading(row: &Row) -> String {
    let heading = format!("-- {}", block_in_words(row));
    // Hundreds of threads have long lists; the column `pin` has them whole.
    let most = usize::from(WIDTH);
    if heading.len() <= most {
        heading
    } else {
        format!("{:.1$}...", heading, most - 3)
    }
}

/// What all cases of the row's block have in common.
pub(super) fn block_in_words(row: &Row) -> String {
    format!(
        "{}, {} B, {}{}, CPUs {}",
        threads_in_words(row),
        row.payload_bytes,
        row.ip,
        unusual_in_words(row),
        row.pin
    )
}

/// `2 threads`.
pub(super) fn threads_in_words(row: &Row) -> String {
    let plural = if row.threads.is_alone() { "" } else { "s" };
    format!("{} thread{plural}", row.threads)
}

/// `, rcvbuf 65536`; nothing, where all is as usual.
pub(super) fn unusual_in_words(row: &Row) -> String {
    let values = row.block().unusual().map(|value| format!(", {value}"));
    values.collect()
}

/// What is too long for a cell gets a line of its own, and the cell stays empty.
fn is_long(label: &str) -> bool {
    label.len() > MAX_LABEL
}

/// The longest one that leaves the table within 100 columns.
const MAX_LABEL: usize = 18;

/// Skips, failures and warnings: the kind and the text, with how many cases each concerns.
pub(super) fn remarks(rows: &[Row]) -> BTreeMap<(&str, &str), usize> {
    let mut remarks = BTreeMap::new();
    for row in rows {
        let kind = match row.status {
            Status::Skipped => "skipped",
            Status::Failed => "failed",
            Status::Interrupted => "* interrupted",
            Status::Ok => "",
        };
        if !row.reason.is_empty() {
            *remarks.entry((kind, row.reason.as_str())).or_default() += 1;
        }
        for warning in &row.warnings {
            *remarks.entry(("warning", warning.as_str())).or_default() += 1;
        }
    }
    remarks
}

pub(super) fn below(text: &mut String, rows: &[Row]) {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    for ((kind, what), count) in remarks(rows) {
        table.add_row([kind, &format!("{count} x"), what]);
    }
    for line in table.lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Workload;
    use crate::row::tests::ordinary_row;

    #[test]
    fn the_widest_row_there_is_fits_the_terminal() {
        let huge = Some(123_456_789.123);
        for status in [Status::Ok, Status::Failed, Status::Interrupted] {
            let flood = Row {
                status,
                sender: "mio-exhaustive".to_owned(),
                receiver: "tokio-exhaustive".to_owned(),
                received_mbps: huge,
                received_pps: huge,
                received_pps_low: Some(1.0),
                received_pps_high: Some(1e15),
                loss_pct: Some(100.0),
                sender_cpu_ns_per_packet: huge,
                receiver_cpu_ns_per_packet: huge,
                cpu_ns_per_packet: huge,
                ratio_to_std: huge,
                ratio_to_std_low: Some(0.0),
                ratio_to_std_high: huge,
                ..ordinary_row()
            };
            let ask = Row {
                workload: Workload::Ask,
                case: "mio-exhaustive:tokio-exhaustive/2t/300B/connected/v4/ask".to_owned(),
                rtt_p50_us: huge,
                rtt_p90_us: huge,
                rtt_p99_us: huge,
                rtt_max_us: huge,
                unanswered_requests: Some(99_999),
                ..flood.clone()
            };
            for line in draw(&[flood, ask]).lines() {
                assert!(line.chars().count() <= usize::from(WIDTH), "{line}");
            }
        }
    }
}
