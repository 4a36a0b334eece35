//! The generic loops. A workload serves every engine, an engine every workload.
//!
//! A workload is what its threads do: a [`Program`] each. With flood, senders [`Program::Flood`] and receivers
//! [`Program::Sink`]; the only thread of a case takes [`Program::Turns`]. What is received is the result. With ask,
//! clients and servers have a [`Role`] each; the answers are the result, and how soon they came. A sender that floods
//! at a rate has one, too.
//! These loops are what is timed: each is readable at a glance, and nothing else runs in a lane between
//! the start and the stop.

mod answering;
mod arrivals;
mod asked;
mod client;
#[cfg(feature = "calibration")]
pub mod delay;
pub(crate) mod flood;
mod flows;
mod gaps;
mod in_flight;
pub mod lane;
mod numbering;
mod own_time;
mod pace_meter;
mod paced;
mod paced_flood;
mod program;
mod requests;
mod rotation;
mod round_trips;
mod schedule;
mod server;
mod start_barrier;
pub(crate) mod turns;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;

pub use self::arrivals::ArrivalSampler;
pub use self::client::Client;
pub use self::flows::run as run_flows;
pub use self::in_flight::InFlight;
pub use self::numbering::Numbering;
pub use self::own_time::own_round_trip_ns;
pub use self::pace_meter::PaceMeter;
pub use self::paced::{Collector, Pacer};
pub use self::paced_flood::PacedFlood;
pub use self::program::{Incoming, Outgoing, Program};
pub use self::requests::Role;
pub use self::rotation::Rotation;
pub use self::round_trips::{RoundTripMeter, TIMEOUT_NS};
pub use self::schedule::Schedule;
pub use self::server::Server;
pub use self::start_barrier::CALLED_OFF;
use crate::data::Connection;
use crate::engine::payload::{NoCheck, NoFill};
use crate::engine::verify::{SequenceCheck, SequenceTracker, SequenceWriter};
use crate::engine::{
    Addressing, Connected, Engine, Port, PortOptions, Remark, Unconnected, erased,
};
use crate::workload::lane::LaneContext;

/// Runs one lane of engine `E`: opens its ports, waits at the start barrier, and loops until the stop.
///
/// # Errors
/// What opening the ports said, or an error that persisted in the loop.
pub fn run<E: Engine>(
    program: Program,
    connection: Connection,
    lane: &LaneContext,
) -> io::Result<Remark> {
    match program.connection().unwrap_or(connection) {
        Connection::Connected => work::<E, Connected>(program, lane),
        Connection::Unconnected => work::<E, Unconnected>(program, lane),
    }
}

/// The ports, and what fills and checks, live outside the futures: a future that points to something
/// within itself lives in memory, and a loop that counts in memory costs 2 ns a datagram instead of half of
/// one. `scripts/instructions` shows it.
fn work<E: Engine, A: Addressing>(program: Program, lane: &LaneContext) -> io::Result<Remark> {
    let engine = E::start(&lane.brief())?;
    match program {
        Program::Flood(Outgoing { options, writers }) => {
            let writer = only(writers);
            let mut port = open::<E, A>(&engine, options)?;
            lane.wait_at_start()?;
            match writer {
                None => engine.run(flood::send(&mut port, &mut NoFill, lane))?,
                Some(mut writer) => {
                    run_erased(&engine, flood::send(&mut port, &mut writer, lane))?;
                }
            }
            Ok(port.remark())
        }
        Program::Sink(Incoming {
            options, tracker, ..
        }) => {
            let mut port = open::<E, A>(&engine, options)?;
            lane.wait_at_start()?;
            match tracker.map(SequenceCheck) {
                None => engine.run(flood::receive(&mut port, &mut NoCheck, lane))?,
                Some(mut check) => {
                    run_erased(&engine, flood::receive(&mut port, &mut check, lane))?;
                }
            }
            Ok(port.remark())
        }
        Program::Turns(outgoing, incoming) => {
            let mut sender = open::<E, A>(&engine, outgoing.options)?;
            let mut receiver = open::<E, A>(&engine, incoming.options)?;
            lane.wait_at_start()?;
            let (tx, rx) = (&mut sender, &mut receiver);
            if let Some(contents) = only(outgoing.writers).zip(incoming.tracker) {
                verify_turns(&engine, tx, rx, contents, lane)?;
                return Ok(sender.remark());
            }
            let (fill, check) = (&mut NoFill, &mut NoCheck);
            let loops = turns::send_and_receive(tx, rx, fill, check, lane);
            // The plan refuses the others: only their instructions are counted.
            if E::ABOUT.one_thread.is_ok() {
                engine.run(loops)?;
            } else {
                run_erased(&engine, loops)?;
            }
            Ok(sender.remark())
        }
        Program::Roles(options, roles) => take_role::<E, A>(&engine, options, roles, lane),
    }
}

/// Of the only link.
fn only<T>(mut of_links: Vec<T>) -> Option<T> {
    of_links.pop()
}

/// Apart from the loops of a flood, whose ports it would keep in memory; what happens on the way of a request, and
/// until a datagram is due, takes far longer than what drives its loop.
#[cold]
#[inline(never)]
fn take_role<E: Engine, A: Addressing>(
    engine: &E,
    options: PortOptions,
    roles: Vec<Role>,
    lane: &LaneContext,
) -> io::Result<Remark> {
    let mut role = only(roles).ok_or(io::ErrorKind::InvalidInput)?;
    role.begin(engine, options.payload_bytes, lane)?;
    let mut port = open::<E, A>(engine, options)?;
    lane.wait_at_start()?;
    run_erased(engine, requests::drive(&mut port, &mut role, lane))?;
    Ok(port.remark())
}

/// [`Engine::open`], compiled once and not into each place above: opening is not timed.
#[inline(never)]
fn open<E: Engine, A: Addressing>(engine: &E, options: PortOptions) -> io::Result<E::Port<A>> {
    engine.open::<A>(options)
}

/// Apart from the loop that is timed, whose ports it would keep in memory.
#[cold]
#[inline(never)]
fn verify_turns<E: Engine>(
    engine: &E,
    sender: &mut impl Port,
    receiver: &mut impl Port,
    (mut writer, tracker): (SequenceWriter, Arc<SequenceTracker>),
    lane: &LaneContext,
) -> io::Result<()> {
    let check = &mut SequenceCheck(tracker);
    let loops = turns::send_and_receive(sender, receiver, &mut writer, check, lane);
    run_erased(engine, loops)
}

/// Runs a loop in which an instruction more does not matter: what drives futures is compiled once for all of them.
fn run_erased<E: Engine>(
    engine: &E,
    loops: impl Future<Output = io::Result<()>> + Send,
) -> io::Result<()> {
    engine.run(erased(pin!(loops)))
}
