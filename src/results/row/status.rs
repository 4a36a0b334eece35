//! Status of a case, and warnings in its row.

use std::collections::BTreeMap;

use super::contamination::Windows;
use super::derived::Speeds;
use super::round_trips::Latencies;
use super::{
    Environment, Outcome, RowInput, Status, busy_polled, derived, doubts, energy, milliseconds,
    on_the_way, pacing, refusals, sensor_readings,
};
use crate::data::{Case, Sample, Sharing, Side, ThreadSample};
use crate::stats;
use crate::term::digits::{counted, counted_with_verb};

/// Returns the status of a case and the reason. A fault of the run outranks the way the case ended.
pub(super) fn status(input: &RowInput) -> (Status, String) {
    match &input.outcome {
        Outcome::Skipped(reason) => return (Status::Skipped, reason.clone()),
        Outcome::Failed(reason) => return (Status::Failed, reason.clone()),
        Outcome::Complete(_) | Outcome::Interrupted(_) => {}
    }
    // Look at each window: over several windows, missing and unexpected datagrams could cancel.
    let unaccounted = input
        .samples
        .iter()
        .map(|sample| sample.account().unaccounted);
    let faults: Vec<i64> = unaccounted.filter(|&count| count != 0).collect();
    if !faults.is_empty() {
        let datagrams: u64 = faults.iter().map(|count| count.unsigned_abs()).sum();
        let reason = format!(
            "packet counts do not add up in {}: {} unaccounted for",
            counted(faults.len(), "window"),
            counted(datagrams, "datagram")
        );
        return (Status::Failed, reason);
    }
    // Look at the whole run: a receiver that fell asleep in the warm-up left no datagram of the window unread.
    if unread(input) > 0 && !comes_late(input) {
        let why = input.engines.receiver.starves.as_deref();
        let why = why.unwrap_or("the receiver slept on a queue that was not empty");
        let reason = format!("starved and left datagrams unread: {why}");
        return (Status::Failed, reason);
    }
    if let Some(reason) = dead(input.case, input.samples) {
        return (Status::Failed, reason);
    }
    // The measured rounds are valid, but with too few of them there is no interval.
    let is_unsure = stats::coverage(input.samples.len()) < stats::CONFIDENCE;
    match &input.outcome {
        Outcome::Interrupted(by) if is_unsure => (Status::Interrupted, by.reason()),
        _ => (Status::Ok, String::new()),
    }
}

/// Returns whether threads that other programs kept from running may be why a case failed. `reason`: that of its row.
pub(crate) fn may_be_starved(reason: &str) -> bool {
    let of_starved = [
        "nothing was ",
        "nothing sent ",
        "starved ",
        "the agent: no answer ",
    ];
    of_starved.iter().any(|start| reason.starts_with(start))
}

/// Returns the datagrams found in the queues after the receivers had ended.
fn unread(input: &RowInput) -> u64 {
    input
        .samples
        .iter()
        .map(|sample| sample.accounting.unread)
        .sum()
}

/// Returns whether unread datagrams may have arrived late. A path that delays datagrams can deliver them after the
/// receivers have ended.
fn comes_late(input: &RowInput) -> bool {
    let is_across = input.samples.iter().any(|sample| !sample.paths.is_empty());
    is_across && input.engines.receiver.starves.is_none()
}

/// Returns why a case is dead, if it is: its counts add up, but no window moved a datagram. A datagram that arrives
/// too late for its window, as on a busy machine, still counts.
fn dead(case: &Case, samples: &[Sample]) -> Option<String> {
    let accounting = derived::total_accounting(samples);
    if samples.is_empty() || accounting.received > 0 {
        return None;
    }
    let failed = match (refusals::in_words(samples), derived::failed_calls(samples)) {
        (Some(refused), _) => format!(": {refused}"),
        (None, 0) => String::new(),
        (None, calls) => format!(": {}", calls_failed(calls)),
    };
    let what = match accounting.sent {
        0 if case.is_paced() => {
            "nothing was sent: no burst was due in a window; use a longer --duration or a higher --rate"
        }
        0 => "nothing was sent",
        // The datagrams received are from the warm-up.
        _ if samples.iter().any(|sample| derived::received(sample) > 0) => {
            "nothing sent in the windows was received"
        }
        _ => "nothing was received",
    };
    Some(format!("{what}{failed}"))
}

/// Returns the reason why there were no more rounds. Empty: no rounds were planned.
pub(super) fn ended_by(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Complete(by) => by.name(),
        Outcome::Interrupted(by) => by.name(),
        Outcome::Failed(_) => "failure",
        Outcome::Skipped(_) => "",
    }
}

/// Returns whether threads of this side are workers, or have their work done by workers.
fn on_workers(input: &RowInput, side: Side) -> bool {
    let (case, engines) = (input.case, input.engines);
    match side {
        Side::Sender | Side::Alone | Side::Client => case.runs_on_workers(engines.sender),
        Side::Receiver | Side::Server => case.runs_on_workers(engines.receiver),
        Side::Worker => true,
    }
}

/// Returns all warnings about a row.
pub(super) fn warnings(
    input: &RowInput,
    environment: &Environment,
    windows: &Windows,
    speeds: &Speeds,
    latencies: &Latencies,
) -> Vec<String> {
    let samples = input.samples;
    let mut warnings = input.warnings.clone();
    // Workers share CPUs, and report in a remark if they could not be placed.
    let is_placed = |thread: &ThreadSample| thread.cpu.is_some() || on_workers(input, thread.side);
    let pinned = |sample: &Sample| sample.threads.iter().all(is_placed);
    if input.pin != "none" && !samples.iter().all(pinned) {
        warnings.push("a thread could not be pinned".to_owned());
    }
    let has_partner = |sample: &&Sample| {
        let mut partners = input.reference.iter();
        partners.any(|other| other.round == sample.round)
    };
    let pairs = samples.iter().filter(has_partner).count();
    if pairs > 0 && pairs < samples.len() {
        warnings.push("some windows have no partner in the reference (ratio_pairs)".to_owned());
    }
    let settles_ms = input.settles_after.map(milliseconds);
    if let Some(ms) = settles_ms.filter(|&ms| ms > environment.warmup_ms && !samples.is_empty()) {
        warnings.push(format!(
            "traffic takes {ms} ms to settle here (settles_ms), longer than the warm-up: use --warmup {ms}ms"
        ));
    }
    warnings.extend(few_rounds(if pairs > 0 { pairs } else { samples.len() }));
    if input.samples.windows(2).any(|two| {
        let buffers = |sample: &Sample| (sample.rcvbuf_bytes, sample.sndbuf_bytes);
        buffers(&two[0]) != buffers(&two[1])
    }) {
        warnings.push("the granted buffer sizes changed between windows".to_owned());
    }
    warnings.extend(unlike_a_longer_run(input));
    warnings.extend(doubts::overload(input.case, samples));
    warnings.extend(on_the_way::warnings(input));
    warnings.extend(busy_polled::no_effect(samples));
    warnings.extend(pacing::shortfall(input.case, input.engines.sender, samples));
    warnings.extend(latencies.warnings());
    warnings.extend(idle_threads(input));
    warnings.extend(windows.warnings(speeds));
    let threads = samples.iter().flat_map(|sample| &sample.threads);
    let mut remarks: Vec<String> = threads.filter_map(|thread| thread.remark.clone()).collect();
    remarks.sort_unstable();
    remarks.dedup();
    warnings.extend(remarks);
    if unread(input) > 0 && comes_late(input) {
        warnings.push(format!(
            "{} left unread (unread_packets): too late, or their receivers had no CPU",
            counted_with_verb(unread(input), "datagram")
        ));
    }
    warnings.extend(refusals::in_words(samples));
    let failed = derived::failed_calls(samples);
    if failed > 0 {
        warnings.push(calls_failed(failed));
    }
    if let Some((_, why)) = input.repeated.first() {
        // Warnings are joined by semicolons.
        let why = why.replace("; ", ", ");
        warnings.push(format!(
            "bad windows were measured again (repeated_windows), the first as {why}"
        ));
    }
    warnings.extend(uncounted_cpu(samples));
    if !samples.is_empty() {
        let at_start = &environment.cpu_speeds;
        let from_c = environment.throttles_from_c;
        warnings.extend(energy::warning(samples, input.meter.as_deref()));
        warnings.extend(sensor_readings::warnings(samples, at_start, from_c));
        warnings.extend(environment.unfit.iter().cloned());
    }
    warnings
}

fn calls_failed(calls: u64) -> String {
    let plural = if calls == 1 { "" } else { "s" };
    format!("{calls} system call{plural} failed")
}

/// Returns a warning if other threads of the program used CPU time that the CPU time per datagram does not include.
fn uncounted_cpu(samples: &[Sample]) -> Option<String> {
    const NEGLIGIBLE_PCT: f64 = 1.0;
    let pct = derived::other_cpu_pct(samples).filter(|&pct| pct > NEGLIGIBLE_PCT)?;
    Some(format!(
        "other threads of the program used {pct:.0} % more CPU time (other_cpu_ns_per_packet)"
    ))
}

fn few_rounds(rounds: usize) -> Option<String> {
    let coverage = stats::coverage(rounds);
    (rounds > 1 && coverage < stats::CONFIDENCE).then(|| {
        format!(
            "intervals of {rounds} rounds cover {:.1} %, not 95 %: use 6 rounds or more",
            100.0 * coverage
        )
    })
}

/// Returns warnings about windows that are too short for the case.
fn unlike_a_longer_run(input: &RowInput) -> Vec<String> {
    let samples = input.samples;
    let mut warnings = Vec::new();
    if let Some(empty) = samples.iter().find(|it| derived::received(it) == 0) {
        let accounting = empty.account();
        // If the hosts lost most datagrams, neither reason need be true. Half of the datagrams of requests are
        // responses, so the test does not fit them.
        let most_came = 2 * accounting.received >= accounting.sent && !input.case.is_rr();
        warnings.push(if most_came || empty.paths.is_empty() {
            "nothing was received in a window: it was too short, or the machine too busy".to_owned()
        } else {
            format!(
                "nothing was received in a window: of {} datagrams that were sent for it, {} came",
                accounting.sent, accounting.received
            )
        });
    }
    // Datagrams in flight in `null` are no queue.
    let unsteady = derived::unsteady_windows(samples);
    if input.engines.sender.moves_datagrams && derived::move_estimates(unsteady, samples.len()) {
        let fix = "use a longer --duration or --warmup, or a smaller --rcvbuf";
        warnings.push(format!(
            "queues were filling or emptying (queue_growth_packets): {fix}"
        ));
    }
    warnings
}

/// Returns warnings about threads that moved nothing in any window, although others of their side did. Receivers
/// that share a port unevenly by design are excluded, because the plan has warned about them.
fn idle_threads(input: &RowInput) -> Vec<String> {
    let idle = |side: fn(Side) -> bool, packets: fn(&ThreadSample) -> u64| {
        let mut moved: BTreeMap<usize, u64> = BTreeMap::new();
        for sample in input.samples {
            let threads = sample.threads.iter().enumerate();
            for (n, thread) in threads.filter(|(_, thread)| side(thread.side)) {
                *moved.entry(n).or_default() += packets(thread);
            }
        }
        let idle = moved.values().filter(|&&packets| packets == 0).count();
        (idle > 0 && idle < moved.len()).then_some((idle, moved.len()))
    };
    let mut warnings = Vec::new();
    if let Some((idle, all)) = idle(Side::initiates, |thread| thread.sent_packets) {
        warnings.push(format!(
            "{idle} of {all} senders sent nothing in any window"
        ));
    }
    let is_even = input.case.sharing.is_none_or(Sharing::is_even);
    let receivers = idle(Side::receives, |thread| thread.received_packets);
    if let Some((idle, all)) = receivers.filter(|_| is_even) {
        warnings.push(format!(
            "{idle} of {all} receivers received nothing in any window (receiver_share_min_pct)"
        ));
    }
    warnings
}
