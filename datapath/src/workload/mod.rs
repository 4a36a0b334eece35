//! The timed loops. They are generic: each workload runs on every engine.
//!
//! A workload gives each of its threads a [`Program`]. Flood: senders run [`Program::Flood`], receivers
//! [`Program::Sink`], and the only thread of a case [`Program::Turns`]; the result is the received datagrams. Request
//! and response (rr): clients and servers have a [`Role`] each; the result is the responses and their round-trip
//! times. A sender of a paced flood has a [`Role`] as well.
//!
//! [`listening`] alone runs on no engine, and measures senders that are not udpbench.
//!
//! Only these loops are timed. Each is short, and a bench thread runs nothing else between the start and the stop.

mod answering;
mod client;
pub mod context;
#[cfg(feature = "calibration")]
pub mod delay;
mod due;
mod echo;
pub(crate) mod flood;
mod flows;
pub mod listening;
mod meters;
mod numbering;
mod open_loop_client;
mod paced_flood;
pub mod probe;
mod prober;
mod program;
mod requests;
mod server;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;

pub use self::client::{Client, own_round_trip_ns};
pub use self::due::DueTimes;
pub use self::echo::{Echo, UnsentAnswers};
pub use self::flood::Rotation;
pub use self::flows::run as run_flows;
pub use self::meters::{PaceMeter, RoundTripMeter, TIMEOUT_NS, WakeupSampler};
pub use self::numbering::Numbering;
pub use self::open_loop_client::{Collector, InFlight, Pacer};
pub use self::paced_flood::PacedFlood;
pub use self::prober::{Prober, Probing};
pub use self::program::{Incoming, Outgoing, Program};
pub use self::requests::Role;
pub use self::server::Server;
use crate::engine::erased;
use crate::engine::payload::{NoCheck, NoFill};
use crate::engine::prelude::*;
use crate::engine::verify::{SequenceTracker, SequenceWriter};
use crate::workload::context::ThreadContext;

/// Runs one bench thread of engine `E`: opens its sockets, waits at the start barrier, and loops until the stop.
///
/// The objects that move, fill and check datagrams live outside the futures. A future that points into itself lives in
/// memory, and a loop that counts in memory costs 2 ns per datagram instead of 0.5 ns. `scripts/instructions.py` shows
/// it.
///
/// # Errors
/// Returns an error if opening fails, if an error persists in the loop, or if a control message was wrong.
pub fn run<E: Engine>(program: Program, thread: &Arc<ThreadContext>) -> io::Result<Remark> {
    let engine = E::start(&thread.brief())?;
    match program {
        Program::Flood(Outgoing { options, writers }) => {
            let writer = writers.into_iter().next();
            let mut port = open(&engine, options)?;
            thread.wait_at_start()?;
            match writer {
                None => engine.run(flood::send(&mut port, &mut NoFill, thread))?,
                Some(mut writer) => {
                    run_erased(&engine, flood::send(&mut port, &mut writer, thread))?;
                }
            }
            remark(&port)
        }
        Program::Sink(Incoming {
            options, tracker, ..
        }) => {
            let mut port = open(&engine, options)?;
            thread.wait_at_start()?;
            match tracker {
                None => engine.run(flood::receive(&mut port, &mut NoCheck, thread))?,
                Some(mut check) => {
                    run_erased(&engine, flood::receive(&mut port, &mut check, thread))?;
                }
            }
            remark(&port)
        }
        Program::Turns(outgoing, incoming) => {
            let mut sender = open(&engine, outgoing.options)?;
            let mut receiver = open(&engine, incoming.options)?;
            thread.wait_at_start()?;
            let (tx, rx) = (&mut sender, &mut receiver);
            if let Some(contents) = outgoing.writers.into_iter().next().zip(incoming.tracker) {
                verify_turns(&engine, tx, rx, contents, thread)?;
                return Ok(sender.remark());
            }
            let (fill, check) = (&mut NoFill, &mut NoCheck);
            let loops = flood::send_and_receive(tx, rx, fill, check, thread);
            // The plan refuses the other cases. They run only to count their instructions.
            if E::ABOUT.one_thread.is_ok() {
                engine.run(loops)?;
            } else {
                run_erased(&engine, loops)?;
            }
            receiver.check_controls()?;
            Ok(sender.remark())
        }
        Program::Roles(options, roles) => {
            let open = |options| open(&engine, options);
            take_role(&engine, options, roles, thread, open)
        }
    }
}

/// Returns the remark on a run, unless a control message was wrong.
fn remark(port: &impl DatagramIo) -> io::Result<Remark> {
    port.check_controls()?;
    Ok(port.remark())
}

/// Runs a role over one endpoint. A separate function: otherwise the compiler would keep the sockets of the flood
/// loops in memory. A round trip, and the wait for a paced datagram, take far longer than the erased loop's overhead.
#[cold]
#[inline(never)]
fn take_role<E: Engine, P: DatagramIo>(
    engine: &E,
    options: IoOptions,
    roles: Vec<Role>,
    thread: &ThreadContext,
    open: impl FnOnce(IoOptions) -> io::Result<P>,
) -> io::Result<Remark> {
    let mut role = roles
        .into_iter()
        .next()
        .ok_or(io::ErrorKind::InvalidInput)?;
    role.begin(engine, options.payload_bytes, thread)?;
    let mut port = open(options)?;
    thread.wait_at_start()?;
    run_erased(engine, requests::drive(&mut port, &mut role, thread))?;
    Ok(port.remark())
}

/// Calls [`Engine::open`]. Compiled once instead of inlined at each call, because opening is not timed.
#[inline(never)]
fn open<E: Engine>(engine: &E, options: IoOptions) -> io::Result<E::DatagramIo> {
    engine.open(options)
}

/// Runs the loop of [`Program::Turns`] with verification. A separate function: otherwise the compiler would keep the
/// sockets of the timed loop in memory.
#[cold]
#[inline(never)]
fn verify_turns<E: Engine>(
    engine: &E,
    sender: &mut impl DatagramIo,
    receiver: &mut impl DatagramIo,
    (mut writer, mut tracker): (SequenceWriter, Arc<SequenceTracker>),
    thread: &ThreadContext,
) -> io::Result<()> {
    let loops = flood::send_and_receive(sender, receiver, &mut writer, &mut tracker, thread);
    run_erased(engine, loops)
}

/// Runs a loop in which one more instruction does not matter. The code that drives futures is compiled once for all
/// such loops.
fn run_erased<E: Engine>(
    engine: &E,
    loops: impl Future<Output = io::Result<()>> + Send,
) -> io::Result<()> {
    engine.run(erased(pin!(loops)))
}
