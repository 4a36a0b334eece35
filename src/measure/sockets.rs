//! The sockets of one run, all built before any thread starts: what cannot be built is an error, never
//! a thread that waits for ever.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use super::bind;
use super::flows::{self, Flow};
use super::taps::Taps;
use crate::data::{Batch, Case, Wait};
use crate::engine::null_link::{NullLink, NullQueue};
use crate::engine::verify::{SequenceTracker, SequenceWriter};
use crate::engine::{Direction, Link, PortOptions};
use crate::engines::Entry;
use crate::sys::interrupt::Interrupt;
use crate::workload::{Incoming, Outgoing, Program};

/// What the lanes are to do, senders first, and what the coordinator keeps.
pub(super) struct Sockets {
    pub(super) programs: Vec<Program>,
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

    Ok(Sockets {
        programs: programs(case, receiver, tracker, flows, receivers)?,
        taps,
    })
}

/// The programs of the lanes, each with the ports that it opens on these sockets.
fn programs(
    case: &Case,
    receiver: &Entry,
    tracker: Option<&Arc<SequenceTracker>>,
    flows: Vec<Flow>,
    receivers: Vec<UdpSocket>,
) -> io::Result<Vec<Program>> {
    let payload_bytes = case.payload.bytes();
    let options = |link, direction| PortOptions {
        // Verification has to see datagrams that are too long, too.
        buffer_bytes: payload_bytes + usize::from(tracker.is_some()),
        batch: case.batch.map_or(1, Batch::count),
        spins: case.wait == Some(Wait::Spin) && receiver.about.spins,
        distinct: tracker.is_some(),
        ..PortOptions::of(vec![link], direction, payload_bytes)
    };
    let mut incoming: Vec<Incoming> = Vec::with_capacity(receivers.len());
    let queues: Vec<Arc<NullQueue>> = flows.iter().map(|_| Arc::default()).collect();
    for (n, socket) in receivers.into_iter().enumerate() {
        let ends_here = flows.iter().zip(&queues);
        let ends_here = ends_here.filter(|(flow, _)| flow.receiver == n);
        let null = NullLink {
            incoming: ends_here.map(|(_, queue)| Arc::clone(queue)).collect(),
            ..NullLink::default()
        };
        let link = Link {
            socket,
            peer: None,
            null,
        };
        incoming.push(Incoming {
            options: options(link, Direction::Receives),
            tracker: tracker.cloned(),
        });
    }
    let mut outgoing = Vec::with_capacity(flows.len());
    for (n, (flow, queue)) in (0..).zip(flows.into_iter().zip(queues)) {
        if let Some(tracker) = tracker {
            tracker.expect_source(n, flow.sender.local_addr()?);
        }
        let null = NullLink {
            out: queue,
            ..NullLink::default()
        };
        let link = Link {
            socket: flow.sender,
            peer: Some(flow.peer),
            null,
        };
        outgoing.push(Outgoing {
            options: PortOptions {
                spins: false,
                ..options(link, Direction::Sends)
            },
            writer: tracker.map(|_| SequenceWriter::new(n, payload_bytes)),
        });
    }
    Ok(if case.threads.is_alone() {
        let pairs = outgoing.into_iter().zip(incoming);
        pairs.map(|(out, into)| Program::Turns(out, into)).collect()
    } else {
        let floods = outgoing.into_iter().map(Program::Flood);
        floods
            .chain(incoming.into_iter().map(Program::Sink))
            .collect()
    })
}
