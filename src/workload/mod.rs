//! The generic loops. A workload serves every engine, an engine every workload.
//!
//! These loops are what is timed: each is readable at a glance, and nothing else runs in a lane between
//! the gate and the stop.

mod alone;
mod flood;

use std::io;

use crate::case::Connection;
use crate::content::{Uninspected, Unstamped};
use crate::engine::{Addressing, Connected, Engine, Remark, Transmit, Unconnected};
use crate::lane::{Job, LaneContext, Role};
use crate::verify::Inspector;

/// Runs one lane of engine `E`: builds its halves, waits at the gate, and loops until the stop.
///
/// # Errors
/// What building the halves said, or an error that persisted in the loop.
pub fn run<E: Engine>(job: Job, lane: &LaneContext) -> io::Result<Remark> {
    match job.connection {
        Connection::Connected => work::<E, Connected>(job.role, lane),
        Connection::Unconnected => work::<E, Unconnected>(job.role, lane),
    }
}

/// The halves are built outside the futures: what lives in a future lives in memory, and a loop that
/// counts in memory costs 2 ns a datagram instead of half of one.
fn work<E: Engine, A: Addressing>(role: Role, lane: &LaneContext) -> io::Result<Remark> {
    let engine = E::start(&lane.brief(&role))?;
    match role {
        Role::Send(end) => {
            let stamper = end.stamper.clone();
            let mut sender = engine.sender::<A>(end)?;
            lane.wait_at_gate()?;
            match stamper {
                None => engine.run(flood::send(&mut sender, Unstamped, lane))?,
                Some(stamper) => engine.run(flood::send(&mut sender, stamper, lane))?,
            }
            Ok(sender.remark())
        }
        Role::Receive(end) => {
            let inspector = end.ledger.clone().map(Inspector);
            let mut receiver = engine.receiver::<A>(end)?;
            lane.wait_at_gate()?;
            match inspector {
                None => engine.run(flood::receive(&mut receiver, Uninspected, lane))?,
                Some(inspector) => engine.run(flood::receive(&mut receiver, inspector, lane))?,
            }
            Ok(None)
        }
        Role::Alone(sending, receiving) => {
            let verifying = sending.stamper.clone().zip(receiving.ledger.clone());
            let mut sender = engine.sender::<A>(sending)?;
            let mut receiver = engine.receiver::<A>(receiving)?;
            lane.wait_at_gate()?;
            let (to, from) = (&mut sender, &mut receiver);
            match verifying {
                None => engine.run(alone::send_and_receive(
                    to,
                    Unstamped,
                    from,
                    Uninspected,
                    lane,
                ))?,
                Some((stamper, ledger)) => {
                    let inspector = Inspector(ledger);
                    engine.run(alone::send_and_receive(to, stamper, from, inspector, lane))?;
                }
            }
            Ok(sender.remark())
        }
    }
}
