//! How many flows can be had.

use crate::data::{Case, Ip};
use crate::engine::ManyLinks;
use crate::engines::Engines;
use crate::plan::Conditions;

/// Ports of one address that the kernel gives to whoever asks for any (`ip_local_port_range`).
const PORTS: usize = 28_000;
/// So many sockets' drops are read from the list of all within some milliseconds.
const MOST_LISTED: usize = 64;
/// Open files of a run besides its sockets.
const FILES_BESIDES: usize = 64;
/// The same of a plain blocking engine: standard streams, pipes, counters.
const LEAST_BESIDES: usize = 12;
/// Open files of an event loop besides its sockets.
const FILES_OF_LOOP: usize = 8;
/// What the buffers of all flows may take up.
const MOST_FLOW_BYTES: usize = 256 << 20;

/// Why the flows of a case cannot be had, if there are many of them and it is so.
pub(super) fn cannot_serve(
    case: &Case,
    (sender, receiver): Engines,
    conditions: &Conditions,
) -> Option<String> {
    let serves_from_one = case.serves_from_one_socket();
    let has_many = [Some(sender), (!serves_from_one).then_some(receiver)];
    let mut has_many = has_many.into_iter().flatten();
    if let Some(single) = has_many.find(|entry| entry.many_links.0 == ManyLinks::No) {
        let instead = if serves_from_one {
            "; it can be the --receiver, which answers them all over one"
        } else {
            ""
        };
        return Some(format!(
            "{single} serves one socket per thread: its calls wait for that one alone{instead}"
        ));
    }
    if case.threads.is_alone() {
        return Some(
            "one thread sends over one flow and receives, in turn: use --threads 2".to_owned(),
        );
    }
    if case.tokio_workers.is_some() {
        return Some(
            "with --flows each thread has a runtime of its own: leave out --tokio-workers"
                .to_owned(),
        );
    }
    let (flows, directions) = (case.flow_count(), if case.is_full_duplex() { 2 } else { 1 });
    let most = usize::from(u16::MAX) / directions;
    if flows > most {
        return Some(format!(
            "{flows} flows, more than {most}: use fewer --threads or --flows"
        ));
    }
    let sockets = flows + case.receiver_sockets();
    if case.ip == Ip::V6 && sockets > PORTS {
        return Some(format!(
            "{flows} flows need {sockets} ports, and ::1 has {PORTS}: use --ip v4"
        ));
    }
    if conditions.host.lists_drops && flows > MOST_LISTED {
        return Some(format!(
            "this kernel lists the drops of all sockets (before Linux 4.12, or emulated), which takes too long for \
             {flows} flows: use {MOST_LISTED} or fewer"
        ));
    }
    let bytes = 2 * flows * case.payload.bytes();
    if bytes > MOST_FLOW_BYTES {
        return Some(format!(
            "room for {flows} datagrams of {} B at either end takes {} MiB: use fewer --flows or a smaller --payload",
            case.payload,
            bytes >> 20
        ));
    }
    None
}

/// Why a case needs more open files than this process may have, if it is so.
pub(super) fn exceeds_files(case: &Case, conditions: &Conditions) -> Option<String> {
    let files = files(case) as u64;
    let allowed = conditions
        .host
        .open_files
        .filter(|&allowed| allowed < files)?;
    let what = match case.flows {
        Some(_) => format!("{} flows take", case.flow_count()),
        None if case.threads.is_alone() => "1 thread takes".to_owned(),
        None => format!("{} threads take", case.threads),
    };
    Some(format!(
        "{what} {files} open files, and {allowed} may be: raise the limit (ulimit -Hn {files}, as root)"
    ))
}

/// Open files of all flows: their sockets, the copies of these, and the coordinator's own handle on each that
/// receives; and what else a run and the loops of its threads have open.
fn files(case: &Case) -> usize {
    let is_duplex = case.is_full_duplex();
    let sender = 1
        + usize::from(is_duplex || case.is_open_loop())
        + usize::from(case.receives_at_both_ends());
    let receiver = 2 + usize::from(is_duplex || case.server_model.is_some());
    let sockets = case.flow_count() * sender + case.receiver_sockets() * receiver;
    let threads = case.threads.senders() + case.threads.receivers();
    // Of a flood at a rate, the kernel's stamps.
    let stamps = if case.is_paced() {
        case.threads.senders()
    } else {
        0
    };
    // The least that a case can do with, where it is one of few sockets: it would run with that.
    let besides = match case.flows {
        Some(_) => FILES_BESIDES + FILES_OF_LOOP * threads,
        None => LEAST_BESIDES,
    };
    sockets + stamps + besides
}
