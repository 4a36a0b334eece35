//! Table for terminals: one section per block, fitted to the width of the terminal.

mod latency;
mod layout;

use std::collections::BTreeMap;

use self::layout::estimate;
use self::layout::legend;
pub use self::layout::{count, interval_text, thousands};
use crate::results::row::{Load, Reason, Row, Status};
use crate::term::escape;
use crate::term::fold;
use crate::term::table::Columns;
use crate::text::digits::counted;

/// Width of tables that do not go to a terminal, in columns. A terminal over ssh shows this width without breaking
/// lines.
pub const WIDTH: u16 = 100;

/// Draws the rows in a table of `width` columns, 60 or more, ordered by threads, payload and ip. The remarks on skips,
/// failures and warnings follow. Columns that do not fit are left out, the least important first, and are named.
pub fn draw(rows: &[Row], width: u16) -> String {
    let (loaded, others) = by_load(rows);
    let mut text = String::new();
    if !loaded.is_empty() {
        text += &latency::table(&loaded).draw(width.into());
    }
    for rows in measured(&others).chunk_by(|one, other| one.workload == other.workload) {
        let columns = columns(rows);
        let mut table = columns.empty();
        for block in rows.chunk_by(|one, other| one.block() == other.block()) {
            table.text(format!("-- {}", block_in_words(block[0])));
            for row in block {
                table.row(columns.cells(row));
            }
        }
        if let Some(row) = rows.iter().find(|row| has_energy(row)) {
            table.text(format!(
                "nJ: energy above the idle power, per datagram received, by {}.",
                row.power_meter
            ));
        }
        text += &table.draw(width.into());
    }
    text + &below(remarks(rows), width)
}

/// Returns the columns of the table of these rows, which have the same workload: those with a value in any row.
fn columns(rows: &[&Row]) -> Columns<'static, Row> {
    // Only some rows may have energies.
    let richest = rows.iter().find(|row| has_energy(row)).unwrap_or(&rows[0]);
    layout::columns(richest).known_of(rows)
}

fn has_energy(row: &Row) -> bool {
    row.energy_nj_per_packet.is_some()
}

/// Explains the columns of the table of these rows.
pub fn explained(rows: &[Row], width: u16) -> String {
    let (loaded, others) = by_load(rows);
    let at_loads = (!loaded.is_empty()).then(|| latency::LEGEND.to_owned());
    let measured = measured(&others);
    let workloads = measured.chunk_by(|one, other| one.workload == other.workload);
    let legends = workloads.map(|rows| legend(rows[0]).to_owned());
    let legends = at_loads.into_iter().chain(legends);
    let legends: String = legends.map(|legend| legend + "\n").collect();
    fold::text(&legends, width.into())
}

/// Draws only the warnings of the rows, with the number of cases that each concerns.
pub fn warnings(rows: &[Row], width: u16) -> String {
    let mut warnings = remarks(rows);
    warnings.retain(|(kind, _), _| *kind == "warning");
    if warnings.is_empty() {
        return "No warnings.\n".to_owned();
    }
    below(warnings, width)
}

/// Splits the rows that have their columns by load, if any load is a share of a rate, from all others.
fn by_load(rows: &[Row]) -> (Vec<(&Row, Load)>, Vec<&Row>) {
    let rows: Vec<&Row> = rows.iter().collect();
    let loads = Load::of_rows(&rows);
    let is_share = |load: &Option<Load>| matches!(load, Some(Load::Share(_)));
    if !loads.iter().any(is_share) {
        return (Vec::new(), rows);
    }
    let (mut loaded, mut others) = (Vec::new(), Vec::new());
    for (row, load) in rows.into_iter().zip(loads) {
        match load {
            Some(load @ (Load::Alone | Load::Share(_))) if row.status != Status::Skipped => {
                loaded.push((row, load));
            }
            _ => others.push(row),
        }
    }
    (loaded, others)
}

/// Returns the rows of cases that ran, by workload and then by block.
fn measured<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let ran = rows.iter().filter(|row| row.status != Status::Skipped);
    let mut measured: Vec<&Row> = ran.copied().collect();
    measured.sort_by_cached_key(|row| (row.workload, row.block()));
    measured
}

/// Describes the parameters that all cases of the block of `row` share.
fn block_in_words(row: &Row) -> String {
    let threads = counted(row.threads, "thread");
    let unusual = row.block().unusual().map(|value| format!(", {value}"));
    let unusual: String = unusual.collect();
    let (payload, ip, cpus) = (row.payload_bytes, row.ip, row.cpus());
    format!("{threads}, {payload} B, {ip}{unusual}, CPUs {cpus}")
}

/// Number of cases by kind and text of a remark.
type Remarks<'a> = BTreeMap<(&'a str, String), usize>;

/// Collects skips, failures and warnings by kind and text, with the number of cases that each concerns.
fn remarks(rows: &[Row]) -> Remarks<'_> {
    let mut remarks = BTreeMap::new();
    for row in rows {
        let kind = match row.status {
            Status::Skipped => "skipped",
            Status::Failed => "failed",
            Status::Interrupted => "* interrupted",
            Status::Ok => "",
        };
        if row.reason != Reason::None {
            *remarks.entry((kind, row.reason.to_string())).or_default() += 1;
        }
        for warning in &row.warnings {
            *remarks.entry(("warning", warning.to_string())).or_default() += 1;
        }
    }
    remarks
}

fn below(remarks: Remarks, width: u16) -> String {
    type Remark<'a> = ((&'a str, String), usize);
    let columns = Columns::<Remark>::default()
        .word("", |((kind, _), _)| (*kind).to_owned())
        .word("", |(_, count)| format!("{count} x"))
        .text("", |((_, what), _)| escape::line(what).into_owned());
    columns.table(remarks).draw(width.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Workload;
    use crate::results::row::tests::{of_key, ordinary_row};

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
                workload: Workload::Rr,
                case: of_key("mio-exhaustive:tokio-exhaustive/2t/300B/connected/v4/rr"),
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
