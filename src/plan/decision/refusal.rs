//! Reasons why a case does not run.

use anyhow::{anyhow, bail, ensure};

use super::across;
use super::flows::{can_serve, has_enough_files};
use super::programs;
use super::transport::can_carry;
use super::{is_fragmented, permitted, refused_engine, threads_on_workers};
use crate::data::{
    Case, Checksum, Cmsg, Ip, LEAST_REQUEST_BYTES, LoopbackTrains, Payload, ServerModel, Sharing,
    Spread, Wait, Workload,
};
use crate::engine::ManyEndpoints;
use crate::engines::{self, Engines, Entry};
use crate::host::facts::loopback_fix;
use crate::plan::Conditions;
use crate::workload::TIMEOUT_NS;

/// Checks that a case makes sense, and can run on these hosts. The error is the reason why not.
pub(super) fn can_run(
    case: &Case,
    engines: Engines,
    conditions: &Conditions,
) -> anyhow::Result<()> {
    if let Some(remote) = &conditions.remote {
        across::can_run(case, engines, remote)?;
    }
    if let Some((entry, place, reason)) = refused_engine(case, engines, conditions) {
        bail!("{entry} cannot run {place}: {reason}");
    }
    makes_sense(case, engines, conditions)?;
    if case.sharing == Some(Sharing::Reuseport(Spread::Bpf)) {
        let receivers_host = conditions.remote.filter(|_| !case.remote_sends());
        permitted(receivers_host.map_or(conditions.steering_refusal, |it| it.steering_refusal))?;
    }
    if conditions.remote.is_some() {
        return Ok(());
    }
    if let Some(reason) = conditions.loopback_refusal {
        ensure!(
            case.loopback != Some(LoopbackTrains::Cut),
            "trains are cut in a network namespace of its own, which the host refuses ({reason}): --loopback whole"
        );
    }
    let problem = conditions.host.loopback_problem(case.ip);
    permitted(problem.map(|problem| format!("{problem}; {}", loopback_fix(case.ip))))?;
    has_address(case)
}

/// Checks that a case makes sense with these engines on some host. The error is the reason why not.
pub(in crate::plan) fn makes_sense(
    case: &Case,
    engines: Engines,
    conditions: &Conditions,
) -> anyhow::Result<()> {
    let (sender, receiver) = engines;
    let mut both = [sender, receiver].into_iter();
    let idle = both.find(|entry| !entry.about.moves_datagrams);
    if let Some(idle) = idle.filter(|_| sender != receiver) {
        bail!("{idle} moves no datagrams: sender and receiver must both be {idle}");
    }
    let (transport, most) = (case.transport(), Payload::MAX_DATAGRAM);
    ensure!(
        !transport.keeps_messages() || u32::from(case.payload) <= most,
        "{transport} carries {most} B at most in one message"
    );
    if let Some(transport) = case.transport {
        can_carry(case, transport, engines)?;
    }
    permitted(case.rate.and_then(|rate| rate.refusal(case.payload)))?;
    programs::can_run(case, engines)?;
    if case.is_paced() {
        can_pace(case, sender)?;
    }
    if case.is_rr() {
        can_ask(case, engines)?;
    }
    if case.flows.is_some() {
        can_serve(case, engines, conditions)?;
    }
    if case.workload == Some(Workload::Bidir) {
        can_duplex(case, engines)?;
    }
    if case.threads.is_alone() {
        let both = engines::together(sender, receiver).ok_or_else(|| {
            anyhow!("one thread runs one engine: sender and receiver must be the same")
        })?;
        permitted(
            both.about
                .one_thread
                .err()
                .map(|why| format!("{both} {why}")),
        )?;
    }
    ensure!(
        !sender.about.never_fragments || !is_fragmented(case),
        "{sender} forbids fragmentation: above {} B IPv6 needs two fragments",
        Payload::MAX_UNFRAGMENTED_V6
    );
    ensure!(
        case.checksum != Some(Checksum::Off) || !sender.about.sends_trains(case.train),
        "the kernel segments only what has checksums: {sender} sends trains, unless with --train 1"
    );
    can_have_controls(case, receiver)?;
    has_enough_workers(case, engines)?;
    has_enough_files(case, conditions)
}

/// Checks that datagrams can have the control messages of a case, whose engines know some of them.
fn can_have_controls(case: &Case, receiver: &Entry) -> anyhow::Result<()> {
    let Some(kinds) = case.cmsg else {
        return Ok(());
    };
    ensure!(
        case.workload.is_none() && !case.is_paced() && !case.threads.is_alone(),
        "control messages need a flood at full speed: leave out --cmsg; or use --threads 2, no latency, --workload or \
         --rate"
    );
    let known = receiver.about.control_messages;
    ensure!(
        known == Cmsg::NONE || kinds.common(known) == kinds,
        "--cmsg {kinds}: {receiver} reads no other control messages than {known}"
    );
    Ok(())
}

/// Checks that a case has an address to send to.
fn has_address(case: &Case) -> anyhow::Result<()> {
    let link = match case.ip {
        Ip::V4 => "",
        Ip::V6 => " (one of fe80::/10 is not enough)",
    };
    ensure!(
        case.receivers_address().is_some(),
        "no interface that is up has an IP{} address but for loopback's{link}: see ip -br address",
        case.ip
    );
    Ok(())
}

/// Checks that a case can send at its rate.
fn can_pace(case: &Case, sender: &Entry) -> anyhow::Result<()> {
    ensure!(
        !case.threads.is_alone(),
        "who sends at a rate sleeps meanwhile, and one thread alone has to receive: use --threads 2"
    );
    ensure!(
        !sender.runs_on_workers(case),
        "--rate sleeps, and would hold up a worker: leave out --tokio-workers"
    );
    Ok(())
}

/// Checks that a case can send requests and responses.
fn can_ask(case: &Case, (sender, receiver): Engines) -> anyhow::Result<()> {
    ensure!(
        !case.threads.is_alone(),
        "a client and a server need a thread each: use --threads 2"
    );
    ensure!(
        case.payload.bytes() >= LEAST_REQUEST_BYTES,
        "a request holds its number: use a payload of {LEAST_REQUEST_BYTES} B or more"
    );
    let has_workers = case.tokio_workers.is_some();
    ensure!(
        !has_workers || !(case.is_open_loop() || case.service.is_some()),
        "--rate and --service sleep or work, and would hold up a worker: leave out --tokio-workers"
    );
    if case.think_time.is_some() {
        ensure!(
            case.flows.is_none() && case.outstanding.is_none(),
            "a client that thinks has one request at a time: leave out --flows and --outstanding, or --think-time"
        );
        ensure!(
            !has_workers,
            "--think-time sleeps, and would hold up a worker: leave out --tokio-workers"
        );
    }
    let spins = case.wait == Some(Wait::Spin) || sender.about.always_spins;
    ensure!(
        !(case.is_open_loop() && spins),
        "with --rate, a client that spins would take the CPU from the thread that sends"
    );
    answers_in_time(case)?;
    ensure!(
        case.server_model != Some(ServerModel::SpawnBlocking) || receiver.about.spawns_blocking,
        "{receiver} has no threads for what blocks: use --server-model pool, or tokio"
    );
    let has_many = case.flows.is_some() && !case.serves_from_one_socket();
    let has_a_port_each = has_many && receiver.many_endpoints.0 == ManyEndpoints::IoEach;
    ensure!(
        !(case.server_model == Some(ServerModel::Pool) && has_a_port_each),
        "each flow of {receiver} would have a pool: use --server-model spawn-blocking"
    );
    for entry in [sender, receiver] {
        let refused = entry.about.can_serve_requests.err();
        permitted(refused.map(|reason| format!("{entry} {reason}")))?;
    }
    Ok(())
}

/// Checks that requests do not wait for their service until they are given up.
fn answers_in_time(case: &Case) -> anyhow::Result<()> {
    let Some(service) = case.service.filter(|_| !case.is_open_loop()) else {
        return Ok(());
    };
    let clients = case.threads.senders().div_ceil(case.threads.receivers());
    let at_a_time = case.server_model.unwrap_or_default().at_a_time();
    let requests = clients * case.flows_each() * case.outstanding_requests();
    // Requests that compute share the server's CPU, on however many threads.
    let at_a_time = if service.sleeps { at_a_time } else { 1 };
    let queue_ns = service.ns * requests.div_ceil(at_a_time) as u64;
    ensure!(
        queue_ns < TIMEOUT_NS,
        "requests would wait for {} ms, and are given up after {}: use a shorter --service or fewer requests",
        queue_ns / 1_000_000,
        TIMEOUT_NS / 1_000_000
    );
    Ok(())
}

/// Checks that a case can send in both directions.
fn can_duplex(case: &Case, (sender, receiver): Engines) -> anyhow::Result<()> {
    ensure!(
        sender.about.moves_datagrams,
        "{sender} moves no datagrams, in neither direction"
    );
    let threads = case.threads;
    ensure!(
        threads.senders() == threads.receivers() && !threads.is_alone(),
        "each sender has one receiver: use an even number of --threads"
    );
    let is_steered = case.sharing == Some(Sharing::Reuseport(Spread::Bpf));
    ensure!(
        !is_steered && case.sharing.is_none_or(Sharing::is_even),
        "each sender has one receiver: leave out --sharing and --spread"
    );
    ensure!(
        case.tokio_workers.is_none(),
        "each socket has two threads: leave out --tokio-workers"
    );
    // A thread that spins and one that sleeps cannot share a socket.
    ensure!(
        sender.pair() == receiver.pair(),
        "{sender} and {receiver} would share each socket, and each waits in its own way"
    );
    Ok(())
}

/// Checks that a case has enough workers.
///
/// A task that goes on until `WouldBlock` never yields to other tasks on its worker, and starves them.
fn has_enough_workers(case: &Case, (sender, receiver): Engines) -> anyhow::Result<()> {
    let is_greedy = |entry: &&Entry| entry.about.shares_workers && entry.about.one_thread.is_err();
    let greedy = [sender, receiver].into_iter().find(is_greedy);
    if let Some((workers, greedy)) = case.tokio_workers.zip(greedy) {
        let threads = threads_on_workers(case, (sender, receiver));
        ensure!(
            workers.count() >= threads,
            "{greedy} never yields: {threads} tasks need {threads} workers, not {workers}"
        );
    }
    Ok(())
}
