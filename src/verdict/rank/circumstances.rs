//! Facts that decide round trips besides the engine: CPUs, wake-ups and idle states.

use std::collections::BTreeSet;

use super::{BoardRanking, Conditions, SharedCpus};
use crate::results::row::Row;

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
    let pins: BTreeSet<String> = board.rows().map(Row::cpus).collect();
    let pin = pins.first().filter(|pin| !pin.is_empty());
    let pin = pin.map_or_else(String::new, |pin| match pins.len() {
        1 => format!(" ({pin})"),
        _ => format!(" ({pin}, ...)"),
    });
    let others = "other CPUs (--pin 0:0, --pin 0:1) may change more than the engine does";
    (cpus != SharedCpus::TwoHosts).then(|| format!("Client and server: {cpus}{pin}; {others}"))
}
