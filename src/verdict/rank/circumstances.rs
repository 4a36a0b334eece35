//! What a reader of the answer must know besides it: how far it reaches, and what decides besides the engine.

use std::collections::BTreeSet;

use super::BoardRanking;
use super::choices::{Choices, Labels, half_in_words, names};
use crate::results::row::Row;

/// Returns the lines on intervals, which hold within this run, and on how far earlier runs of the best engines differed.
pub(super) fn reach(board: &BoardRanking, best: &Labels, has_interval: bool) -> Vec<String> {
    let within = if board.is_virtual && (has_interval || board.is_latency) {
        Some("On a virtual machine, another run may differ, also in who is ahead")
    } else if has_interval && board.has_repeats() {
        Some("+-% is over these runs")
    } else {
        has_interval.then_some("+-% is within this run")
    };
    let earlier = |row: &Row| Some((row.label(), row.earlier_runs?, row.earlier_runs_pct?));
    let earlier = board.rows().filter_map(earlier);
    let earlier = earlier.filter(|(label, ..)| best.contains(label.as_str()));
    let widest = earlier.max_by(|(.., one), (.., other)| one.total_cmp(other));
    let between = widest.map(|(label, runs, half)| {
        let half = half_in_words(half);
        format!("The next run may differ by +-{half} (rates of {label} in your last {runs})")
    });
    let within = within.map(str::to_owned);
    within.into_iter().chain(between).collect()
}

/// Returns the remarks on engines, and on what decides round trips besides the engine.
pub(super) fn hints(board: &BoardRanking, first: Option<&Choices>, told: &Labels) -> Vec<String> {
    let few = board.averaged.iter().flat_map(|one| &one.left_out);
    let polls = |label: &&&str| !board.is_latency && board.case(label).busy_poll.is_some();
    let engines: [(Labels, &str, &str); 3] = [
        // Few machines can spare the CPUs that they need.
        (
            board.spinning(),
            "Not recommended",
            ", as a CPU is busy for each receiver even when nothing comes",
        ),
        (
            few.map(String::as_str).collect(),
            "Left out, as measured in too few groups",
            "",
        ),
        // At full speed hardly anybody waits.
        (
            told.iter().filter(polls).copied().collect(),
            "Busy polling takes CPU time while nothing comes (udpbench latency shows how much)",
            "",
        ),
    ];
    let engines = engines.iter().filter(|(labels, ..)| !labels.is_empty());
    let engines =
        engines.map(|(labels, what, why)| format!("{what}: {}{why}", names(labels, "and")));
    let facts = board.is_latency.then(|| of_round_trips(board, first));
    engines.chain(facts.into_iter().flatten()).collect()
}

/// Says what the round trips depend on besides the engine: the CPUs, and for the soonest engine of clients that wait
/// wake-ups and idle states.
fn of_round_trips(board: &BoardRanking, first: Option<&Choices>) -> Vec<String> {
    let mut said = Vec::new();
    let cpus: BTreeSet<&str> = board.asked().map(|asked| asked.cpus).collect();
    // Several placements have several medians, and so have several rows.
    let only = cpus.first().filter(|_| cpus.len() == 1);
    let Some(&cpus) = only else { return said };
    let mut rows = board.rows();
    let pins: BTreeSet<String> = rows.clone().map(Row::cpus).collect();
    if rows.all(|row| row.direction.is_none()) {
        let pins: Vec<String> = pins.into_iter().take(2).collect();
        let pins = pins.join(", ");
        said.push(format!(
            "Client and server: {cpus} ({pins}); other CPUs (--pin 0:0, --pin 0:1) may change more than the engine does"
        ));
    }
    let alone = first.and_then(Choices::soonest_alone);
    let rows = alone.map(|(conditions, label)| (label, board.rows_of(conditions, label)));
    if let Some((best, [row])) = rows {
        if let Some((p50_us, wakeup_us)) = row.rtt_p50_us.zip(row.wakeup_p50_us) {
            said.push(format!(
                "Of {p50_us:.1} us of {best} alone, waking the client took {wakeup_us:.1}"
            ));
        }
        if !["", "no"].contains(&row.idle_states.as_str()) {
            said.push(format!("Idle states of its CPUs: {}", row.idle_states));
        }
    }
    said
}

/// Names that of these engines that sends in the longest bursts at a given rate: it wakes less often, and what is sent
/// waits. `None`: none does, or it is not known.
pub(super) fn bursts(board: &BoardRanking, engines: &Labels) -> Option<String> {
    /// Factor by which gaps are longer if datagrams come in bursts.
    const LONGER: f64 = 4.0;
    let gaps = board.rows.iter().filter_map(|((conditions, label), rows)| {
        let paced = rows.iter().find(|row| row.target_pps.is_some())?;
        Some((conditions, label, paced.gap_p99_us?))
    });
    let bursts = gaps.clone().filter_map(|(conditions, label, us)| {
        let alike = gaps.clone().filter(|(other, ..)| *other == conditions);
        let (_, even, least) = alike.min_by(|(.., one), (.., other)| one.total_cmp(other))?;
        let is_burst = engines.contains(label.as_str()) && us > LONGER * least;
        is_burst.then_some((label, us / 1e3, even, least / 1e3))
    });
    let (label, ms, even, least) = bursts.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!(
        "{label} wakes less often: it sends in bursts {ms:.2} ms apart (p99; {even} {least:.2} ms)"
    ))
}
