//! Warnings about cases that run, but whose results may mislead.

use super::{across, is_fragmented, sharing_cpus, threads_on_workers};
use crate::data::{Case, Group, Payload, Sharing, Spread, Workers};
use crate::engines::{Engines, Entry};
use crate::host::placement::Placement;
use crate::plan::{Conditions, PlanWarning};

/// Returns the warnings about a case.
pub(super) fn warnings(
    case: &Case,
    (sender, receiver): Engines,
    conditions: &Conditions,
    placement: &Placement,
) -> Vec<PlanWarning> {
    let threads = case.threads;
    let (senders, receivers) = (threads.senders(), threads.receivers());
    let mut warnings = Vec::new();
    let workers = case.tokio_workers.map_or(0, Workers::count);
    // A client at a rate has two threads, and so has each socket of a bidirectional flood.
    let beside = match () {
        () if case.is_open_loop() => senders,
        () if case.is_full_duplex() => senders + receivers,
        () => 0,
    };
    let busy = threads.count() + beside - threads_on_workers(case, (sender, receiver)) + workers;
    match &conditions.remote {
        Some(remote) => warnings.extend(across::warnings(case, conditions, remote, placement)),
        None => warnings.extend(sharing_cpus(busy, placement.cpus(), conditions.host, None)),
    }
    if !threads.is_alone() && senders != receivers {
        warnings.push(PlanWarning::OddThreads {
            senders,
            receivers,
            is_rr: case.is_rr(),
        });
    }
    if senders % receivers != 0 && case.sharing.is_none_or(Sharing::is_even) {
        let flows = case.flow_count();
        warnings.push(PlanWarning::UnevenFlows { flows, receivers });
    }
    match case.sharing {
        Some(Sharing::Reuseport(Spread::Hash)) => warnings.push(PlanWarning::HashedFlows),
        Some(Sharing::Reuseaddr) => warnings.push(PlanWarning::OneReceiver),
        _ => {}
    }
    if sender_cuts_nothing(case, sender) {
        warnings.push(PlanWarning::OnePerCall {
            sender: case.sender,
            payload: case.payload,
        });
    }
    if sender.about.group != Group::Offload {
        warnings.extend(too_fast(case));
    }
    if is_fragmented(case) {
        warnings.push(PlanWarning::TwoFragments);
    }
    if let Some(reason) = receiver.about.starves {
        warnings.push(PlanWarning::MayStarve {
            receiver: case.receiver,
            reason: reason.to_owned(),
        });
    }
    warnings
}

/// Datagrams per second that a thread cannot send with any system call per datagram or batch: at 200 ns each, the
/// kernel's own work alone takes longer.
const NOBODY_SENDS_PPS: f64 = 5e6;

/// Returns a warning about a rate that no thread can keep.
fn too_fast(case: &Case) -> Option<PlanWarning> {
    let rate = case.rate?;
    let each_pps = rate.per_second(case.payload) / case.threads.senders() as f64;
    (each_pps > NOBODY_SENDS_PPS).then_some(PlanWarning::RateTooHigh { rate, each_pps })
}

/// Returns whether an offload sender has nothing to segment: the payload is empty, or over half of what a call may hand
/// over.
fn sender_cuts_nothing(case: &Case, sender: &Entry) -> bool {
    let payload = u32::from(case.payload);
    sender.about.sends_trains(case.train) && (payload == 0 || 2 * payload > Payload::MAX_DATAGRAM)
}
