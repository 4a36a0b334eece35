//! Warnings about a row, from the windows of its case.

use std::collections::BTreeSet;

use super::column::milliseconds;
use super::computed::Computed;
use super::derived::summed;
use super::status::{comes_late, refusals, unread};
use super::{CaseWarning, RowInput, Warning, derived, path, sensors, traffic};
use crate::data::{Sample, Sharing, Side, ThreadSample};
use crate::host::placement::Placement;
use crate::stats;

/// CPU time of other threads of the program, in percent of that of the bench threads, that need not be said.
const NEGLIGIBLE_PCT: f64 = 1.0;

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
pub(super) fn warnings(of: &Computed) -> Vec<Warning> {
    let (input, environment) = (of.input, of.environment);
    let samples = input.samples;
    let mut of_case = of_rounds(input);
    of_case.extend(unlike_a_longer_run(input));
    of_case.extend(traffic::overload(input.case, samples));
    of_case.extend(path::warnings(input));
    of_case.extend(traffic::busy_poll_without_effect(samples));
    of_case.extend(traffic::not_kept(input.case, input.engines.sender, samples));
    of_case.extend(of.latencies.warnings());
    of_case.extend(idle_threads(input));
    of_case.extend(of.windows.warnings(of.speaks));
    of_case.extend(remarks(samples));
    let datagrams = unread(input);
    if datagrams > 0 && comes_late(input) {
        of_case.push(CaseWarning::LeftUnread { datagrams });
    }
    of_case.extend(refusals(samples).map(|how| CaseWarning::Refused { how }));
    let calls = derived::failed_calls(samples);
    if calls > 0 {
        of_case.push(CaseWarning::CallsFailed { calls });
    }
    if let Some((_, why)) = input.repeated.first() {
        // Warnings are joined by semicolons.
        let why = why.replace("; ", ", ");
        of_case.push(CaseWarning::MeasuredAgain { why });
    }
    let other_pct = derived::other_cpu_pct(samples).filter(|&pct| pct > NEGLIGIBLE_PCT);
    of_case.extend(other_pct.map(|pct| CaseWarning::OtherCpuTime { pct }));
    of_case.extend(sensors::power_unknown(samples, input.meter().as_deref()));
    of_case.extend(sensors::warnings(samples, environment));
    let mut warnings = input.warnings.clone();
    warnings.extend(of_case.into_iter().map(Warning::Case));
    if !samples.is_empty() {
        warnings.extend(environment.unfit.iter().cloned().map(Warning::Host));
    }
    warnings
}

/// Returns the warnings about how the windows were measured.
fn of_rounds(input: &RowInput) -> Vec<CaseWarning> {
    let samples = input.samples;
    let mut warnings = Vec::new();
    // Workers share CPUs, and report in a remark if they could not be placed.
    let is_placed = |thread: &ThreadSample| thread.cpu.is_some() || on_workers(input, thread.side);
    let mut threads = samples.iter().flat_map(|sample| &sample.threads);
    if input.pin.is_some_and(Placement::is_pinned) && !threads.all(is_placed) {
        warnings.push(CaseWarning::NotPinned);
    }
    let has_partner = |sample: &&Sample| {
        let mut partners = input.reference.iter();
        partners.any(|other| other.round == sample.round)
    };
    let pairs = samples.iter().filter(has_partner).count();
    if pairs > 0 && pairs < samples.len() {
        warnings.push(CaseWarning::NoPartner);
    }
    let settles_ms = input.settles_after.map(milliseconds);
    let warmup_ms = input.warmup_ms().unwrap_or_default();
    let is_late = |&ms: &f64| ms > warmup_ms && !samples.is_empty();
    if let Some(settles_ms) = settles_ms.filter(is_late) {
        warnings.push(CaseWarning::ShortWarmUp { settles_ms });
    }
    let rounds = if pairs > 0 { pairs } else { samples.len() };
    let coverage = stats::coverage(rounds);
    if rounds > 1 && coverage < stats::CONFIDENCE {
        let coverage_pct = 100.0 * coverage;
        warnings.push(CaseWarning::FewRounds {
            rounds,
            coverage_pct,
        });
    }
    let buffers = |sample: &Sample| (sample.rcvbuf_bytes, sample.sndbuf_bytes);
    let mut pairs = samples.windows(2);
    if pairs.any(|two| buffers(&two[0]) != buffers(&two[1])) {
        warnings.push(CaseWarning::BuffersChanged);
    }
    warnings
}

/// Returns the remarks of the bench threads, each once.
fn remarks(samples: &[Sample]) -> impl Iterator<Item = CaseWarning> {
    let threads = samples.iter().flat_map(|sample| &sample.threads);
    let remarks: BTreeSet<&String> = threads
        .filter_map(|thread| thread.remark.as_ref())
        .collect();
    let remarks = remarks.into_iter().cloned();
    remarks.map(|text| CaseWarning::Remark { text })
}

/// Returns warnings about windows that are too short for the case.
fn unlike_a_longer_run(input: &RowInput) -> Vec<CaseWarning> {
    let samples = input.samples;
    let mut warnings = Vec::new();
    if let Some(empty) = samples.iter().find(|it| derived::received(it) == 0) {
        let accounting = empty.account();
        // If the hosts lost most datagrams, neither reason need be true. Half of the datagrams of requests are
        // responses, so the test does not fit them.
        let most_came = 2 * accounting.received >= accounting.sent && !input.case.is_rr();
        warnings.push(if most_came || empty.paths.is_empty() {
            CaseWarning::EmptyWindow
        } else {
            CaseWarning::LostWindow {
                sent: accounting.sent,
                received: accounting.received,
            }
        });
    }
    // Datagrams in flight in `null` are no queue.
    let unsteady = derived::unsteady_windows(samples);
    if input.engines.sender.moves_datagrams && derived::move_estimates(unsteady, samples.len()) {
        warnings.push(CaseWarning::QueuesMoved);
    }
    warnings
}

/// Returns warnings about threads that moved nothing in any window, although others of their side did. Receivers
/// that share a port unevenly by design are excluded, because the plan has warned about them.
fn idle_threads(input: &RowInput) -> Vec<CaseWarning> {
    let idle = |side: fn(Side) -> bool, packets: fn(&ThreadSample) -> &u64| {
        let threads = input.samples.iter();
        let threads = threads.flat_map(|sample| sample.threads.iter().enumerate());
        let threads = threads.filter(|(_, thread)| side(thread.side));
        let moved = summed(threads.map(|(n, thread)| (n, packets(thread))));
        let idle = moved.values().filter(|&&packets| packets == 0).count();
        (idle > 0 && idle < moved.len()).then_some((idle, moved.len()))
    };
    let mut warnings = Vec::new();
    if let Some((idle, all)) = idle(Side::initiates, |thread| &thread.sent_packets) {
        warnings.push(CaseWarning::IdleSenders { idle, all });
    }
    let is_even = input.case.sharing.is_none_or(Sharing::is_even);
    let receivers = idle(Side::receives, |thread| &thread.received_packets);
    if let Some((idle, all)) = receivers.filter(|_| is_even) {
        warnings.push(CaseWarning::IdleReceivers { idle, all });
    }
    warnings
}
