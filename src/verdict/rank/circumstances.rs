//! Facts that decide round trips besides the engine: CPUs, wake-ups and idle states.

use std::collections::BTreeSet;

use super::{BoardRanking, Conditions, SharedCpus};
use crate::host::placement::Placement;

/// Says what the round trips depend on besides the engine. `best`: the soonest engine of clients that wait.
pub(super) fn in_words(board: &BoardRanking, best: Option<(Conditions, &str)>) -> Option<String> {
    let cpus: BTreeSet<SharedCpus> = board.rows().map(SharedCpus::of).collect();
    // Several placements have several medians, and so have several rows.
    let only = cpus.first().filter(|_| cpus.len() == 1)?;
    let mut said = Vec::from_iter(placement(board, *only));
    let rows = best.map(|(conditions, label)| (label, board.rows_of(conditions, label)));
    if let Some((best, [row])) = rows {
        if let Some((p50_us, wakeup_us)) = row.rtt_p50_us.zip(row.wakeup_p50_us) {
            // Below 10 us, tenths count.
            let digits = usize::from(p50_us < 10.0);
            said.push(format!(
                "Of {p50_us:.digits$} us of {best} alone, waking the client took {wakeup_us:.digits$}"
            ));
        }
        if !["", "no"].contains(&row.idle_states.as_str()) {
            said.push(format!("Idle states of its CPUs: {}", row.idle_states));
        }
    }
    (!said.is_empty()).then(|| said.join(". "))
}

/// Names the CPUs, and the option for others. `None` if it was two hosts.
fn placement(board: &BoardRanking, cpus: SharedCpus) -> Option<String> {
    let pins: BTreeSet<Option<&Placement>> = board.rows().map(|row| row.pin.as_ref()).collect();
    let first = pins.first().copied().flatten();
    let pin = first.map(ToString::to_string).unwrap_or_default();
    let several = if pins.len() > 1 { ", ..." } else { "" };
    let more = "may change more than the engine does";
    Some(match cpus {
        SharedCpus::Apart => {
            let one = first.and_then(Placement::on_one_cpu);
            let one = one.map_or_else(String::new, |pin| format!(" {pin}"));
            format!(
                "Client and server had different CPUs ({pin}{several}); one CPU (--pin{one}) {more}"
            )
        }
        SharedCpus::One => {
            format!("Client and server had one CPU ({pin}{several}); two (--pin 0:1) {more}")
        }
        SharedCpus::Mixed => format!("Clients and servers shared CPUs ({pin}{several})"),
        SharedCpus::Free => {
            format!("Threads were not pinned; one CPU (--pin 0:0) or two (--pin 0:1) {more}")
        }
        SharedCpus::TwoHosts => return None,
    })
}
