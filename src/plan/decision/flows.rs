//! Limits on the number of flows: ports, open files and memory.

use anyhow::{bail, ensure};

use crate::data::{Case, Ip};
use crate::engine::ManyEndpoints;
use crate::engines::Engines;
use crate::plan::Conditions;

/// Ports per address that the kernel assigns when a program asks for any (`ip_local_port_range`).
const PORTS: usize = 28_000;
/// Sockets whose drop counts can be read from the kernel's list of all sockets within some milliseconds.
const MOST_LISTED: usize = 64;
/// Open files of a run besides its sockets.
const FILES_BESIDES: usize = 64;
/// Open files besides its sockets of a run with a plain blocking engine: standard streams, pipes, counters.
const LEAST_BESIDES: usize = 12;
/// Open files of an event loop besides its sockets.
const FILES_OF_LOOP: usize = 8;
/// Limit of the memory that the buffers of all flows may take up, in bytes.
const MOST_FLOW_BYTES: usize = 256 << 20;

/// Checks that a case with `--flows` can have its flows. The error is the reason why not.
pub(super) fn can_serve(
    case: &Case,
    (sender, receiver): Engines,
    conditions: &Conditions,
) -> anyhow::Result<()> {
    let serves_from_one = case.serves_from_one_socket();
    let has_many = [Some(sender), (!serves_from_one).then_some(receiver)];
    let mut has_many = has_many.into_iter().flatten();
    if let Some(single) = has_many.find(|entry| entry.many_endpoints.0 == ManyEndpoints::No) {
        let instead = if serves_from_one {
            "; it can be the --receiver, which answers them all over one"
        } else {
            ""
        };
        bail!("{single} serves one socket per thread: its calls wait for that one alone{instead}");
    }
    ensure!(
        !case.threads.is_alone(),
        "one thread sends over one flow and receives, in turn: use --threads 2"
    );
    ensure!(
        case.tokio_workers.is_none(),
        "with --flows each thread has a runtime of its own: leave out --tokio-workers"
    );
    let (flows, directions) = (case.flow_count(), if case.is_full_duplex() { 2 } else { 1 });
    let most = usize::from(u16::MAX) / directions;
    ensure!(
        flows <= most,
        "{flows} flows, more than {most}: use fewer --threads or --flows"
    );
    let sockets = flows + case.receiver_sockets();
    ensure!(
        case.ip == Ip::V4 || sockets <= PORTS,
        "{flows} flows need {sockets} ports, and ::1 has {PORTS}: use --ip v4"
    );
    ensure!(
        !conditions.host.lists_drops || flows <= MOST_LISTED,
        "this kernel lists the drops of all sockets (before Linux 4.12, or emulated), which takes too long for {flows} \
         flows: use {MOST_LISTED} or fewer"
    );
    let bytes = 2 * flows * case.payload.bytes();
    ensure!(
        bytes <= MOST_FLOW_BYTES,
        "room for {flows} datagrams of {} B at either end takes {} MiB: use fewer --flows or a smaller --payload",
        case.payload,
        bytes >> 20
    );
    Ok(())
}

/// Checks that this process may have as many open files as a case needs.
pub(super) fn has_enough_files(case: &Case, conditions: &Conditions) -> anyhow::Result<()> {
    let files = files(case) as u64;
    let Some(allowed) = conditions.host.open_files.filter(|it| *it < files) else {
        return Ok(());
    };
    let what = match case.flows {
        Some(_) => format!("{} flows take", case.flow_count()),
        None if case.threads.is_alone() => "1 thread takes".to_owned(),
        None => format!("{} threads take", case.threads),
    };
    bail!(
        "{what} {files} open files, and {allowed} may be: raise the limit (ulimit -Hn {files}, as root)"
    )
}

/// Counts the open files of a case.
///
/// Included are the sockets of all flows, the copies of these sockets, the coordinator thread's own handle on each
/// receiving socket, and the other files of the run and of its event loops.
fn files(case: &Case) -> usize {
    let is_duplex = case.is_full_duplex();
    let sender = 1
        + usize::from(is_duplex || case.is_open_loop())
        + usize::from(case.receives_at_both_ends());
    let receiver = 2 + usize::from(is_duplex || case.server_model.is_some());
    let sockets = case.flow_count() * sender + case.receiver_sockets() * receiver;
    let threads = case.threads.senders() + case.threads.receivers();
    // The kernel's transmit timestamps, one for each paced sender.
    let stamps = if case.is_paced() {
        case.threads.senders()
    } else {
        0
    };
    // A case with few sockets may run with the minimum, so only the minimum is required.
    let besides = match case.flows {
        Some(_) => FILES_BESIDES + FILES_OF_LOOP * threads,
        None => LEAST_BESIDES,
    };
    sockets + stamps + besides
}
