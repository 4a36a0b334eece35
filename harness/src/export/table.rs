//! The table for people: blocks side by side, as wide as the terminal.

mod layout;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

pub(super) use self::layout::{Layout, WORDS};
pub use self::layout::{half_width_pct, number};
use super::each_machine;
use crate::fold;
use crate::row::{Machine, Row, Status};

/// How wide what does not go to a terminal is, in columns: what one over ssh shows without breaking lines.
pub const WIDTH: u16 = 100;

/// Draws the rows in so many columns, 60 or more: each machine's by themselves, ordered by threads, payload and ip, and
/// says below what the numbers cannot. What does not fit is left out, the least asked for first, and named.
pub fn draw(rows: &[Row], width: u16) -> String {
    let most = usize::from(width);
    let heading = |machine: &Machine| format!("{:.most$}\n", format!("== {machine}"));
    let shown: Vec<Row> = rows.iter().map(Row::shown).collect();
    each_machine(&shown, heading, |rows| of_machine(rows, width))
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

fn of_machine(rows: &[Row], width: u16) -> String {
    let mut text = String::new();
    for rows in measured(rows).chunk_by(|one, other| one.workload == other.workload) {
        let layout = Layout::of(rows[0]);
        let left_out = blocks(&mut text, rows, layout, width);
        text.push_str(&fold::text(layout.legend, width.into()));
        if !left_out.is_empty() {
            let left_out = format!("Not shown, for want of room: {}.\n", left_out.join(", "));
            text += &fold::text(&left_out, width.into());
        }
    }
    below(&mut text, rows, width);
    text
}

/// The rows of what ran, block by block, those of a workload together.
pub(super) fn measured(rows: &[Row]) -> Vec<&Row> {
    let ran = rows.iter().filter(|row| row.status != Status::Skipped);
    let mut measured: Vec<&Row> = ran.collect();
    measured.sort_by_key(|row| (row.workload, row.block()));
    measured
}

/// Draws the blocks, and returns the headings of the columns for which there was no room.
fn blocks(text: &mut String, rows: &[&Row], layout: &Layout, width: u16) -> Vec<&'static str> {
    let mut cells: Vec<Vec<String>> = rows.iter().map(|row| (layout.cells)(row)).collect();
    for cells in &mut cells {
        if let Some(engine) = cells.first_mut().filter(|engine| is_long(engine)) {
            engine.clear();
        }
    }
    let shown = layout.fitting(&cells, width.into());
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(shown.iter().map(|&column| layout.columns[column]));
    for column in table.column_iter_mut().skip(WORDS) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for cells in &cells {
        table.add_row(shown.iter().map(|&column| cells[column].as_str()));
    }
    let mut lines = table.lines();
    let header = lines.next().unwrap_or_default();
    let _ = writeln!(text, "{}", header.trim_end());
    for (n, (row, line)) in rows.iter().zip(lines).enumerate() {
        if n == 0 || rows[n - 1].block() != row.block() {
            let _ = writeln!(text, "{}", heading(row, width.into()));
        }
        let label = row.label();
        if is_long(&label) {
            let _ = writeln!(text, " {label}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let all = 0..layout.columns.len();
    let left_out = all.filter(|column| !shown.contains(column));
    left_out.map(|column| layout.columns[column]).collect()
}

fn heading(row: &Row, most: usize) -> String {
    let heading = format!("-- {}", block_in_words(row));
    // Hundreds of threads have long lists; the column `pin` has them whole.
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

/// The longest one that has a cell.
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

pub(super) fn below(text: &mut String, rows: &[Row], width: u16) {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
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
    fn the_widest_row_there_is_fits_every_terminal() {
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
            let rows = [flood, ask];
            for width in [60, 80, WIDTH, 120] {
                let text = draw(&rows, width);
                for line in text.lines() {
                    assert!(line.chars().count() <= usize::from(width), "{line}");
                }
                assert_eq!(text.contains("Not shown"), width < WIDTH, "{text}");
            }
        }
    }
}
