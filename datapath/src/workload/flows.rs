//! Loops of threads with several flows. A sender uses its endpoints in rotation, a receiver waits on all of its
//! endpoints.
//!
//! If an engine serves all endpoints through one object, one loop runs. If each of its futures waits for one endpoint,
//! one loop per endpoint runs, and the loops share the thread.

use std::io;
use std::mem;
use std::sync::Arc;

use super::flood::Rotation;
use super::program::{Incoming, Outgoing, Program};
use super::requests::{self, Role};
use super::{open, run_erased, take_role};
use crate::engine::prelude::*;
use crate::engine::verify::SequenceTracker;
use crate::engine::{FlowMeter, Loop};
use crate::workload::context::ThreadContext;

/// Runs one bench thread of engine `E` with several flows. [`super::run`] is the version for one flow.
///
/// # Errors
/// Returns an error if opening fails, if an error persists in the loop, or if the engine cannot serve several
/// endpoints.
pub fn run<E: Engine>(program: Program, thread: &Arc<ThreadContext>) -> io::Result<Remark> {
    let engine = E::start(&thread.brief())?;
    match (E::ABOUT.many_endpoints, program) {
        (ManyEndpoints::No, _) => Err(io::ErrorKind::Unsupported.into()),
        (ManyEndpoints::OneIo, program) => {
            over_one_port(&engine, program, thread, |options| open(&engine, options))
        }
        (ManyEndpoints::IoEach, Program::Sink(incoming)) => {
            receive_over_each(&engine, incoming, thread)
        }
        (ManyEndpoints::IoEach, Program::Roles(options, roles)) if roles.len() > 1 => {
            drive_over_each(&engine, (options, roles), thread)
        }
        // A sender uses its endpoints in rotation.
        (ManyEndpoints::IoEach, program) => over_one_port(&engine, program, thread, |options| {
            Ports::open(&engine, options)
        }),
    }
}

fn over_one_port<E: Engine, P: DatagramIo>(
    engine: &E,
    program: Program,
    thread: &ThreadContext,
    open: impl Fn(IoOptions) -> io::Result<P>,
) -> io::Result<Remark> {
    let run = |options, work: &mut dyn FnMut(&mut P) -> io::Result<()>| {
        let mut port = open(options)?;
        thread.wait_at_start()?;
        work(&mut port)?;
        Ok(port.remark())
    };
    match program {
        Program::Flood(Outgoing { options, writers }) => {
            let mut rotation = Rotation::of(options.endpoints.len(), writers);
            run(options, &mut |port| {
                run_erased(engine, send(port, &mut rotation, thread))
            })
        }
        Program::Sink(incoming) => {
            let mut check = Counted::of(&incoming, 0);
            run(incoming.options, &mut |port| {
                run_erased(engine, receive(port, &mut check, thread))
            })
        }
        Program::Roles(options, roles) => take_role(engine, options, roles, thread, open),
        Program::Turns(..) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Runs a loop for each endpoint, which receives.
fn receive_over_each<E: Engine>(
    engine: &E,
    incoming: Incoming,
    thread: &Arc<ThreadContext>,
) -> io::Result<Remark> {
    let check = |n| Counted::of(&incoming, n);
    let checks: Vec<Counted> = (0..incoming.options.endpoints.len()).map(check).collect();
    let ports = Ports::open(engine, incoming.options)?;
    thread.wait_at_start()?;
    let loops = ports.0.into_iter().zip(checks);
    let loops = loops.map(|(mut port, mut check)| {
        let thread = Arc::clone(thread);
        Box::pin(async move { receive(&mut port, &mut check, &thread).await }) as Loop
    });
    engine.run_all(loops.collect()).map(|()| None)
}

/// Runs a loop for each endpoint, with a role of its own.
fn drive_over_each<E: Engine>(
    engine: &E,
    (options, mut roles): (IoOptions, Vec<Role>),
    thread: &Arc<ThreadContext>,
) -> io::Result<Remark> {
    for role in &mut roles {
        role.begin(engine, options.payload_bytes, thread)?;
    }
    let ports = Ports::open(engine, options)?;
    thread.share(roles.len());
    thread.wait_at_start()?;
    let loops = ports.0.into_iter().zip(roles);
    let loops = loops.map(|(mut port, mut role)| {
        let thread = Arc::clone(thread);
        Box::pin(async move { requests::drive(&mut port, &mut role, &thread).await }) as Loop
    });
    engine.run_all(loops.collect()).map(|()| None)
}

/// Sends a batch over each endpoint in turn until told to stop.
async fn send(
    port: &mut impl DatagramIo,
    rotation: &mut Rotation,
    thread: &ThreadContext,
) -> io::Result<()> {
    while !thread.sending_stopped() {
        let packets = match port.transmit(rotation.endpoint, &*rotation).await {
            Ok(moved) => moved.packets,
            Err(error) => thread.refused(error, port.packets_per_failure())?,
        };
        rotation.sent(packets);
        #[cfg(feature = "calibration")]
        thread.delay(packets);
        thread.meter.sent.add(packets);
        rotation.turn();
    }
    thread.done_sending();
    Ok(())
}

/// Receives until told to stop. Unlike in [`super::flood::receive`], several loops may add to a thread's count.
async fn receive(
    port: &mut impl DatagramIo,
    check: &mut Counted,
    thread: &ThreadContext,
) -> io::Result<()> {
    while !thread.receiving_stopped() {
        match port.receive(check).await {
            Ok(moved) => thread.meter.received.add(moved),
            Err(error) => thread.tolerate(error)?,
        }
    }
    Ok(())
}

/// Counts the datagrams received over each endpoint, and records them in the tracker during verification.
struct Counted {
    flows: Option<FlowMeter>,
    tracker: Option<Arc<SequenceTracker>>,
}

impl Counted {
    /// Creates the counter for the endpoints from index `first` on.
    fn of(incoming: &Incoming, first: usize) -> Self {
        let counts = incoming.flows.clone();
        Self {
            flows: counts.map(|counts| FlowMeter { counts, first }),
            tracker: incoming.tracker.clone(),
        }
    }
}

impl Check for Counted {
    const READS_PAYLOAD: bool = true;

    fn check(&mut self, datagram: &[u8], origin: Origin) {
        if let Some(flows) = &self.flows {
            flows.count(origin.endpoint);
        }
        if let Some(tracker) = &self.tracker {
            tracker.enter(datagram, origin);
        }
    }
}

/// An object per endpoint, combined for sending. Receiving fails: a receive call would wait for one endpoint only.
struct Ports<P>(Vec<P>);

impl<P: DatagramIo> Ports<P> {
    fn open<E: Engine<DatagramIo = P>>(engine: &E, mut options: IoOptions) -> io::Result<Self> {
        let endpoints = mem::take(&mut options.endpoints).into_iter();
        let ports = endpoints.map(|endpoint| open(engine, options.over(vec![endpoint])));
        ports.collect::<io::Result<_>>().map(Self)
    }
}

impl<P: DatagramIo> DatagramIo for Ports<P> {
    async fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        self.0[endpoint].transmit(0, fill).await
    }

    async fn receive<C: Check>(&mut self, _check: &mut C) -> io::Result<BatchCount> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
