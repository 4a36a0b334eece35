//! Whether a case runs, and what may mislead about it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Conditions;
use crate::data::{Case, Group, Ip, LEAST_REQUEST_BYTES, Payload, Sharing, Spread, Wait, Workers};
use crate::engines::{self, Engines, Entry};
use crate::platform::placement::{Pin, Placement};
use crate::workload::TIMEOUT_NS;

/// Whether a case runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// On these CPUs; what may mislead about it.
    Run(Placement, Vec<String>),
    /// Not; the reason.
    Skip(String),
}

impl Verdict {
    pub(super) fn of(case: &Case, conditions: &Conditions) -> Self {
        let engines = match engines::of(case) {
            Ok(engines) => engines,
            Err(reason) => return Self::Skip(reason),
        };
        if let Some(reason) = refusal(case, engines, conditions) {
            return Self::Skip(reason);
        }
        let (placement, fallback) = match conditions.pin {
            Pin::None => (Placement::unpinned(case.threads), None),
            Pin::To(senders, receivers) => {
                let placement = Placement::from_lists(case.threads, senders, receivers);
                (
                    placement.unwrap_or_else(|| Placement::unpinned(case.threads)),
                    None,
                )
            }
            Pin::Board => match conditions.board.placement(case.threads, conditions.host) {
                Ok(placed) => (placed.placement, placed.fallback),
                Err(reason) => return Self::Skip(reason),
            },
        };
        let mut warnings = warnings(case, engines, conditions, &placement);
        warnings.extend(fallback);
        Self::Run(placement, warnings)
    }
}

/// Why a case makes no sense, or cannot run here.
fn refusal(case: &Case, (sender, receiver): Engines, conditions: &Conditions) -> Option<String> {
    for entry in [sender, receiver] {
        let mut refusals = conditions.engine_refusals.iter();
        if let Some((_, reason)) = refusals.find(|(refused, _)| *refused == entry) {
            return Some(format!("{entry} cannot run here: {reason}"));
        }
    }
    if sender != receiver {
        if let Some(idle) = [sender, receiver]
            .into_iter()
            .find(|entry| !entry.about.moves_datagrams)
        {
            return Some(format!(
                "{idle} moves no datagrams: sender and receiver must both be {idle}"
            ));
        }
    }
    if case.asks() {
        if let Some(reason) = cannot_ask(case, (sender, receiver)) {
            return Some(reason);
        }
    }
    if case.threads.is_alone() {
        let Some(both) = engines::together(sender, receiver) else {
            return Some(
                "one thread runs one engine: sender and receiver must be the same".to_owned(),
            );
        };
        if let Err(reason) = both.about.one_thread {
            return Some(format!("{both} {reason}"));
        }
    }
    if sender.about.never_fragments && is_fragmented(case) {
        let most = Payload::MAX_UNFRAGMENTED_V6;
        return Some(format!(
            "{sender} forbids fragmentation: above {most} B IPv6 needs two fragments"
        ));
    }
    if case.sharing == Some(Sharing::Reuseport(Spread::Bpf)) {
        if let Some(reason) = conditions.steering_refusal {
            return Some(reason.to_owned());
        }
    }
    if let Some(reason) = too_few_workers(case, (sender, receiver)) {
        return Some(reason);
    }
    conditions.host.refusal(case.ip).map(str::to_owned)
}

/// Why nobody can ask or answer in a case, if it is so.
fn cannot_ask(case: &Case, (sender, receiver): Engines) -> Option<String> {
    if case.threads.is_alone() {
        return Some("a client and a server need a thread each: use --threads 2".to_owned());
    }
    if case.payload.bytes() < LEAST_REQUEST_BYTES {
        return Some(format!(
            "a request holds its number: use a payload of {LEAST_REQUEST_BYTES} B or more"
        ));
    }
    if case.tokio_workers.is_some() && (case.is_open_loop() || case.service.is_some()) {
        let why = "--rate and --service sleep or work, and would hold up a worker: leave out --tokio-workers";
        return Some(why.to_owned());
    }
    let spins = case.wait == Some(Wait::Spin) || sender.about.always_spins;
    if case.is_open_loop() && spins {
        let why = "with --rate, a client that spins would take the CPU from the thread that sends";
        return Some(why.to_owned());
    }
    if let Some(service) = case.service.filter(|_| !case.is_open_loop()) {
        let clients = case.threads.senders().div_ceil(case.threads.receivers());
        let queue_ns = service.ns * (clients * case.outstanding_requests()) as u64;
        if queue_ns >= TIMEOUT_NS {
            return Some(format!(
                "requests would wait for {} ms, and are given up after {}: use a shorter --service or fewer requests",
                queue_ns / 1_000_000,
                TIMEOUT_NS / 1_000_000
            ));
        }
    }
    [sender, receiver].into_iter().find_map(|entry| {
        let reason = entry.about.answers.err()?;
        Some(format!("{entry} {reason}"))
    })
}

/// A lane that goes on until `WouldBlock` gives way to no other one on its worker, and so starves it.
fn too_few_workers(case: &Case, (sender, receiver): Engines) -> Option<String> {
    let (workers, lanes) = (
        case.tokio_workers?,
        lanes_on_workers(case, (sender, receiver)),
    );
    let is_greedy = |entry: &&Entry| entry.about.shares_workers && entry.about.one_thread.is_err();
    let greedy = [sender, receiver].into_iter().find(is_greedy)?;
    (workers.count() < lanes).then(|| {
        format!("{greedy} never yields: {lanes} tasks need {lanes} workers, not {workers}")
    })
}

/// How many lanes workers run.
fn lanes_on_workers(case: &Case, (sender, receiver): Engines) -> usize {
    let threads = case.threads;
    let receivers = if threads.is_alone() {
        0
    } else {
        threads.receivers()
    };
    let sides = [(sender, threads.senders()), (receiver, receivers)];
    let on_workers = sides
        .iter()
        .filter(|(entry, _)| entry.runs_on_workers(case));
    on_workers.map(|(_, lanes)| lanes).sum()
}

/// What may mislead about a case that runs.
fn warnings(
    case: &Case,
    (sender, receiver): Engines,
    conditions: &Conditions,
    placement: &Placement,
) -> Vec<String> {
    let threads = case.threads;
    let pinned: BTreeSet<usize> = placement.cpus().flatten().collect();
    let cpus = if pinned.is_empty() {
        conditions.host.cpus.len()
    } else {
        pinned.len()
    };
    let (senders, receivers) = (threads.senders(), threads.receivers());
    let mut warnings = Vec::new();
    let workers = case.tokio_workers.map_or(0, Workers::count);
    // A client that asks at a rate is two threads.
    let collectors = if case.is_open_loop() { senders } else { 0 };
    let busy = threads.count() + collectors - lanes_on_workers(case, (sender, receiver)) + workers;
    if busy > cpus {
        let plural = if cpus == 1 { "" } else { "s" };
        warnings.push(format!("{busy} threads share {cpus} CPU{plural}"));
    }
    if !threads.is_alone() && senders != receivers {
        let (send, receive) = if case.asks() {
            ("ask", "answer")
        } else {
            ("send", "receive")
        };
        warnings.push(format!(
            "an odd thread count: {senders} {send}, {receivers} {receive}"
        ));
    }
    if senders % receivers != 0 && case.sharing.is_none_or(Sharing::is_even) {
        warnings.push(format!(
            "{senders} flows cannot be spread evenly over {receivers} receivers: some get one more"
        ));
    }
    match case.sharing {
        Some(Sharing::Reuseport(Spread::Hash)) => {
            warnings.push(
                "the kernel's hash assigns the flows: some receivers may get none".to_owned(),
            );
        }
        Some(Sharing::Reuseaddr) => warnings.push(
            "SO_REUSEADDR: the kernel gives all datagrams to one of the receivers".to_owned(),
        ),
        _ => {}
    }
    if sender_cuts_nothing(case, sender) {
        let payload = case.payload;
        warnings.push(format!(
            "{} sends one datagram per call at {payload} B",
            case.sender
        ));
    }
    if is_fragmented(case) {
        warnings
            .push("above 65488 B IPv6 sends two fragments per datagram over loopback".to_owned());
    }
    if let Some(reason) = receiver.about.starves {
        warnings.push(format!("{} may starve: {reason}", case.receiver));
    }
    warnings
}

fn is_fragmented(case: &Case) -> bool {
    case.ip == Ip::V6 && u32::from(case.payload) > Payload::MAX_UNFRAGMENTED_V6
}

/// Half of what a call may hand over, or nothing, leaves nothing to cut.
fn sender_cuts_nothing(case: &Case, sender: &Entry) -> bool {
    let payload = u32::from(case.payload);
    sender.about.group == Group::Offload && (payload == 0 || 2 * payload > Payload::MAX)
}
