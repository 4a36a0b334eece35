//! Reasons why a case does not run.

use super::across;
use super::flows::{cannot_serve, exceeds_files};
use super::programs;
use super::transport::cannot_carry;
use super::{Refused, is_fragmented, refused_engine, threads_on_workers};
use crate::data::{
    Case, Checksum, Cmsg, Ip, LEAST_REQUEST_BYTES, LoopbackTrains, Payload, ServerModel, Sharing,
    Spread, Wait, Workload,
};
use crate::engine::ManyEndpoints;
use crate::engines::{self, Engines, Entry};
use crate::host::facts::loopback_fix;
use crate::plan::Conditions;
use crate::workload::TIMEOUT_NS;

/// Returns why a case makes no sense, or cannot run on these hosts.
pub(super) fn refusal(
    case: &Case,
    (sender, receiver): Engines,
    conditions: &Conditions,
) -> Option<String> {
    let engines = (sender, receiver);
    let between =
        (conditions.remote.as_ref()).and_then(|remote| across::refusal(case, engines, remote));
    let at_hosts = between.or_else(|| {
        let refused = refused_engine(case, engines, conditions)?;
        let Refused {
            entry,
            place,
            reason,
        } = refused;
        Some(format!("{entry} cannot run {place}: {reason}"))
    });
    if let Some(reason) = at_hosts.or_else(|| can_run_nowhere(case, engines, conditions)) {
        return Some(reason);
    }
    if case.sharing == Some(Sharing::Reuseport(Spread::Bpf)) {
        let receivers_are_here = conditions.remote.is_none() || case.remote_sends();
        let remote = || conditions.remote.and_then(|remote| remote.steering_refusal);
        let refusal = if receivers_are_here {
            conditions.steering_refusal
        } else {
            remote()
        };
        if let Some(reason) = refusal {
            return Some(reason.to_owned());
        }
    }
    if conditions.remote.is_some() {
        return None;
    }
    if let Some(reason) = cannot_cut_trains(case, conditions) {
        return Some(reason);
    }
    let problem = conditions.host.loopback_problem(case.ip);
    let problem = problem.map(|problem| format!("{problem}; {}", loopback_fix(case.ip)));
    problem.or_else(|| has_no_address(case))
}

/// Returns why a case can have no loopback that cuts trains, if it needs one.
fn cannot_cut_trains(case: &Case, conditions: &Conditions) -> Option<String> {
    let reason = conditions.loopback_refusal?;
    let is_cut = case.loopback == Some(LoopbackTrains::Cut);
    is_cut.then(|| {
        format!("trains are cut in a network namespace of its own, which the host refuses ({reason}): --loopback whole")
    })
}

/// Returns why a case makes no sense with these engines, on any host.
pub(in crate::plan) fn can_run_nowhere(
    case: &Case,
    (sender, receiver): Engines,
    conditions: &Conditions,
) -> Option<String> {
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
    let transport = case.transport();
    if transport.keeps_messages() && u32::from(case.payload) > Payload::MAX_DATAGRAM {
        let most = Payload::MAX_DATAGRAM;
        return Some(format!(
            "{transport} carries {most} B at most in one message"
        ));
    }
    if let Some(transport) = case.transport {
        if let Some(reason) = cannot_carry(case, transport, (sender, receiver)) {
            return Some(reason);
        }
    }
    if let Some(reason) = case.rate.and_then(|rate| rate.refusal(case.payload)) {
        return Some(reason);
    }
    if let Some(reason) = programs::refusal(case, (sender, receiver)) {
        return Some(reason);
    }
    if case.is_paced() {
        if let Some(reason) = cannot_pace(case, sender) {
            return Some(reason);
        }
    }
    if case.is_rr() {
        if let Some(reason) = cannot_ask(case, (sender, receiver)) {
            return Some(reason);
        }
    }
    if case.flows.is_some() {
        if let Some(reason) = cannot_serve(case, (sender, receiver), conditions) {
            return Some(reason);
        }
    }
    if case.workload == Some(Workload::Bidir) {
        if let Some(reason) = cannot_duplex(case, (sender, receiver)) {
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
    if case.checksum == Some(Checksum::Off) && sender.about.sends_trains(case.train) {
        return Some(format!(
            "the kernel segments only what has checksums: {sender} sends trains, unless with --train 1"
        ));
    }
    if let Some(reason) = cannot_have_controls(case, receiver) {
        return Some(reason);
    }
    too_few_workers(case, (sender, receiver)).or_else(|| exceeds_files(case, conditions))
}

/// Returns why datagrams cannot have the control messages of a case, whose engines know some of them.
fn cannot_have_controls(case: &Case, receiver: &Entry) -> Option<String> {
    let kinds = case.cmsg?;
    if case.workload.is_some() || case.is_paced() || case.threads.is_alone() {
        return Some(
            "control messages need a flood at full speed: leave out --cmsg; or use --threads 2, no latency, --workload \
             or --rate"
                .to_owned(),
        );
    }
    let known = receiver.about.control_messages;
    let reads_others = known != Cmsg::NONE && kinds.common(known) != kinds;
    reads_others
        .then(|| format!("--cmsg {kinds}: {receiver} reads no other control messages than {known}"))
}

/// Returns why a case has no address to send to, if it has none.
fn has_no_address(case: &Case) -> Option<String> {
    let is_missing = case.receivers_address().is_none();
    is_missing.then(|| {
        let link = if case.ip == Ip::V6 {
            " (one of fe80::/10 is not enough)"
        } else {
            ""
        };
        format!(
            "no interface that is up has an IP{} address but for loopback's{link}: see ip -br address",
            case.ip
        )
    })
}

/// Returns why a case cannot send at its rate, if it cannot.
fn cannot_pace(case: &Case, sender: &Entry) -> Option<String> {
    if case.threads.is_alone() {
        let why = "who sends at a rate sleeps meanwhile, and one thread alone has to receive: use --threads 2";
        return Some(why.to_owned());
    }
    sender
        .runs_on_workers(case)
        .then(|| "--rate sleeps, and would hold up a worker: leave out --tokio-workers".to_owned())
}

/// Returns why a case cannot send requests or responses, if it cannot.
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
    if case.think_time.is_some() {
        if case.flows.is_some() || case.outstanding.is_some() {
            let why = "a client that thinks has one request at a time: leave out --flows and --outstanding, or --think-time";
            return Some(why.to_owned());
        }
        if case.tokio_workers.is_some() {
            let why = "--think-time sleeps, and would hold up a worker: leave out --tokio-workers";
            return Some(why.to_owned());
        }
    }
    let spins = case.wait == Some(Wait::Spin) || sender.about.always_spins;
    if case.is_open_loop() && spins {
        let why = "with --rate, a client that spins would take the CPU from the thread that sends";
        return Some(why.to_owned());
    }
    if let Some(service) = case.service.filter(|_| !case.is_open_loop()) {
        let clients = case.threads.senders().div_ceil(case.threads.receivers());
        let at_a_time = case.server_model.unwrap_or_default().at_a_time();
        let requests = clients * case.flows_each() * case.outstanding_requests();
        // Requests that compute share the server's CPU, on however many threads.
        let at_a_time = if service.sleeps { at_a_time } else { 1 };
        let queue_ns = service.ns * requests.div_ceil(at_a_time) as u64;
        if queue_ns >= TIMEOUT_NS {
            return Some(format!(
                "requests would wait for {} ms, and are given up after {}: use a shorter --service or fewer requests",
                queue_ns / 1_000_000,
                TIMEOUT_NS / 1_000_000
            ));
        }
    }
    if case.server_model == Some(ServerModel::SpawnBlocking) && !receiver.about.spawns_blocking {
        return Some(format!(
            "{receiver} has no threads for what blocks: use --server-model pool, or tokio"
        ));
    }
    let has_many = case.flows.is_some() && !case.serves_from_one_socket();
    let has_a_port_each = has_many && receiver.many_endpoints.0 == ManyEndpoints::IoEach;
    if case.server_model == Some(ServerModel::Pool) && has_a_port_each {
        return Some(format!(
            "each flow of {receiver} would have a pool: use --server-model spawn-blocking"
        ));
    }
    [sender, receiver].into_iter().find_map(|entry| {
        let reason = entry.about.can_serve_requests.err()?;
        Some(format!("{entry} {reason}"))
    })
}

/// Returns why a case cannot send in both directions, if it cannot.
fn cannot_duplex(case: &Case, (sender, receiver): Engines) -> Option<String> {
    if !sender.about.moves_datagrams {
        return Some(format!("{sender} moves no datagrams, in neither direction"));
    }
    let threads = case.threads;
    if threads.senders() != threads.receivers() || threads.is_alone() {
        return Some("each sender has one receiver: use an even number of --threads".to_owned());
    }
    let is_steered = case.sharing == Some(Sharing::Reuseport(Spread::Bpf));
    if is_steered || case.sharing.is_some_and(|sharing| !sharing.is_even()) {
        return Some("each sender has one receiver: leave out --sharing and --spread".to_owned());
    }
    if case.tokio_workers.is_some() {
        return Some("each socket has two threads: leave out --tokio-workers".to_owned());
    }
    // A thread that spins and one that sleeps cannot share a socket.
    let waits_alike = sender.pair() == receiver.pair();
    (!waits_alike).then(|| {
        format!("{sender} and {receiver} would share each socket, and each waits in its own way")
    })
}

/// Returns why a case needs more workers, if it does.
///
/// A task that goes on until `WouldBlock` never yields to other tasks on its worker, and starves them.
fn too_few_workers(case: &Case, (sender, receiver): Engines) -> Option<String> {
    let (workers, threads) = (
        case.tokio_workers?,
        threads_on_workers(case, (sender, receiver)),
    );
    let is_greedy = |entry: &&Entry| entry.about.shares_workers && entry.about.one_thread.is_err();
    let greedy = [sender, receiver].into_iter().find(is_greedy)?;
    (workers.count() < threads).then(|| {
        format!("{greedy} never yields: {threads} tasks need {threads} workers, not {workers}")
    })
}
