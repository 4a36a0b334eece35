//! The sockets of one run, all built before any thread starts: what cannot be built is an error, never
//! a thread that waits for ever.

use std::sync::Arc;
use std::time::Duration;

use super::bind;
use super::flows::{self, Flow};
use super::taps::Taps;
use crate::data::{Batch, Case, Wait};
use crate::engine::null_link::NullLink;
use crate::engine::verify::{SequenceTracker, SequenceWriter};
use crate::engine::{ReceiveEnd, SendEnd};
use crate::engines::Entry;
use crate::sys::interrupt::Interrupt;
use crate::workload::lane::{Job, Role};

/// How long the only thread of a case waits for a datagram before it takes it for lost.
const TURN_TIMEOUT: Duration = Duration::from_millis(10);

/// The jobs of the lanes, senders first, and what the coordinator keeps.
pub(super) struct Sockets {
    pub(super) jobs: Vec<Job>,
    pub(super) taps: Taps,
}

/// Builds the sockets of `case`: receivers share one address, every sender has its own, each flow's
/// receiver is known, and what is to be connected is connected.
///
/// # Errors
/// What the system refused, and what was asked of it.
pub(super) fn build(
    case: &Case,
    receiver: &Entry,
    tracker: Option<&Arc<SequenceTracker>>,
    interrupt: &Interrupt,
) -> anyhow::Result<Sockets> {
    let receivers = bind::receivers(case)?;
    let flows = flows::flows(case, &receivers, interrupt)?;
    let taps = Taps::new(&receivers, &flows)?;
    // Probes that were sent more than once.
    taps.take_unread();

    let payload_bytes = case.payload.bytes();
    // Verification has to see datagrams that are too long, too.
    let room = payload_bytes + usize::from(tracker.is_some());
    let batch = case.batch.map_or(1, Batch::count);
    let null_links: Vec<Arc<NullLink>> = flows.iter().map(|_| Arc::default()).collect();
    let alone = case.threads.is_alone();
    let recv_timeout = if case.wait == Some(Wait::Spin) && receiver.about.spins {
        Some(Duration::ZERO)
    } else {
        alone.then_some(TURN_TIMEOUT)
    };
    let receive_ends = receivers.into_iter().enumerate().map(|(n, socket)| {
        let ends_here = |(flow, null_link): (&Flow, &Arc<NullLink>)| {
            (flow.receiver == n).then(|| Arc::clone(null_link))
        };
        ReceiveEnd {
            socket,
            payload_bytes: room,
            batch,
            recv_timeout,
            tracker: tracker.cloned(),
            null_links: flows
                .iter()
                .zip(&null_links)
                .filter_map(ends_here)
                .collect(),
        }
    });
    let receive_ends: Vec<ReceiveEnd> = receive_ends.collect();
    let send_ends = (0..).zip(flows.into_iter().zip(null_links));
    let send_ends = send_ends.map(|(n, (flow, null_link))| SendEnd {
        socket: flow.sender,
        peer: flow.peer,
        payload_bytes,
        batch,
        writer: tracker.map(|_| SequenceWriter::new(n, payload_bytes)),
        null_link,
    });
    let roles: Vec<Role> = if alone {
        let pairs = send_ends.zip(receive_ends);
        pairs
            .map(|(send, receive)| Role::Alone(send, receive))
            .collect()
    } else {
        let receive_roles = receive_ends.into_iter().map(Role::Receive);
        send_ends.map(Role::Send).chain(receive_roles).collect()
    };
    let connection = case.connection;
    let jobs = roles.into_iter().map(|role| Job { role, connection });
    Ok(Sockets {
        jobs: jobs.collect(),
        taps,
    })
}
