//! The generic loops. A workload serves every engine, an engine every workload.
//!
//! These loops are what is timed: each is readable at a glance, and nothing else runs in a lane between
//! the start and the stop.

#[cfg(feature = "calibration")]
pub mod delay;
pub(crate) mod flood;
pub mod lane;
mod start_barrier;

pub use self::start_barrier::CALLED_OFF;
pub(crate) mod turns;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use crate::data::Connection;
use crate::engine::payload::{NoCheck, NoFill};
use crate::engine::verify::{SequenceCheck, SequenceTracker, SequenceWriter};
use crate::engine::{Addressing, Connected, Engine, Receive, Remark, Transmit, Unconnected};
use crate::workload::lane::{Job, LaneContext, Role};

/// Runs one lane of engine `E`: builds its halves, waits at the start barrier, and loops until the stop.
///
/// # Errors
/// What building the halves said, or an error that persisted in the loop.
pub fn run<E: Engine>(job: Job, lane: &LaneContext) -> io::Result<Remark> {
    match job.connection {
        Connection::Connected => work::<E, Connected>(job.role, lane),
        Connection::Unconnected => work::<E, Unconnected>(job.role, lane),
    }
}

/// The halves, and what stamps and inspects, live outside the futures: a future that points to something
/// within itself lives in memory, and a loop that counts in memory costs 2 ns a datagram instead of half of
/// one. `scripts/instructions` shows it.
fn work<E: Engine, A: Addressing>(role: Role, lane: &LaneContext) -> io::Result<Remark> {
    let engine = E::start(&lane.brief(&role))?;
    match role {
        Role::Send(end) => {
            let writer = end.writer.clone();
            let mut sender = engine.sender::<A>(end)?;
            lane.wait_at_start()?;
            match writer {
                None => engine.run(flood::send(&mut sender, &mut NoFill, lane))?,
                Some(mut writer) => {
                    run_untimed(&engine, flood::send(&mut sender, &mut writer, lane))?;
                }
            }
            Ok(sender.remark())
        }
        Role::Receive(end) => {
            let sequence_check = end.tracker.clone().map(SequenceCheck);
            let mut receiver = engine.receiver::<A>(end)?;
            lane.wait_at_start()?;
            match sequence_check {
                None => {
                    engine.run(flood::receive(&mut receiver, &mut NoCheck, lane))?;
                }
                Some(mut sequence_check) => {
                    run_untimed(
                        &engine,
                        flood::receive(&mut receiver, &mut sequence_check, lane),
                    )?;
                }
            }
            Ok(None)
        }
        Role::Alone(sending, receiving) => {
            let looks = sending.writer.clone().zip(receiving.tracker.clone());
            let mut sender = engine.sender::<A>(sending)?;
            let mut receiver = engine.receiver::<A>(receiving)?;
            lane.wait_at_start()?;
            if let Some(looks) = looks {
                verify_alone(&engine, &mut sender, &mut receiver, looks, lane)?;
                return Ok(sender.remark());
            }
            let (unstamped, uninspected) = (&mut NoFill, &mut NoCheck);
            let (tx, rx) = (&mut sender, &mut receiver);
            let loops = turns::send_and_receive(tx, rx, unstamped, uninspected, lane);
            // The plan refuses the others: only their instructions are counted.
            if E::ABOUT.one_thread.is_ok() {
                engine.run(loops)?;
            } else {
                run_untimed(&engine, loops)?;
            }
            Ok(sender.remark())
        }
    }
}

/// Looks at the datagrams of a single thread.
#[cold]
#[inline(never)]
fn verify_alone<E: Engine>(
    engine: &E,
    sender: &mut impl Transmit,
    receiver: &mut impl Receive,
    (mut writer, tracker): (SequenceWriter, Arc<SequenceTracker>),
    lane: &LaneContext,
) -> io::Result<()> {
    let sequence_check = &mut SequenceCheck(tracker);
    let loops = turns::send_and_receive(sender, receiver, &mut writer, sequence_check, lane);
    run_untimed(engine, loops)
}

/// Runs a loop that is not timed: boxed, so that what drives futures is compiled once for all of them.
fn run_untimed<E: Engine>(
    engine: &E,
    loops: impl Future<Output = io::Result<()>> + Send,
) -> io::Result<()> {
    let boxed: Pin<Box<dyn Future<Output = io::Result<()>> + Send + '_>> = Box::pin(loops);
    engine.run(boxed)
}
