//! The generic loops. A workload serves every engine, an engine every workload.
//!
//! These loops are what is timed: each is readable at a glance, and nothing else runs in a lane between
//! the gate and the stop.

mod alone;
mod flood;

use std::io;

use crate::case::Connection;
use crate::engine::{Addressing, Connected, Engine, Unconnected};
use crate::lane::{Job, LaneContext, Role};

/// Runs one lane of engine `E`: builds its halves, waits at the gate, and loops until the stop.
///
/// # Errors
/// What building the halves said, or an error that persisted in the loop.
pub fn run<E: Engine>(job: Job, lane: &LaneContext) -> io::Result<()> {
    match job.connection {
        Connection::Connected => E::run(work::<E, Connected>(job.role, lane)),
        Connection::Unconnected => E::run(work::<E, Unconnected>(job.role, lane)),
    }
}

async fn work<E: Engine, A: Addressing>(role: Role, lane: &LaneContext) -> io::Result<()> {
    match role {
        Role::Send(end) => {
            let mut sender = E::sender::<A>(end)?;
            lane.wait_at_gate()?;
            flood::send(&mut sender, lane).await
        }
        Role::Receive(end) => {
            let mut receiver = E::receiver::<A>(end)?;
            lane.wait_at_gate()?;
            flood::receive(&mut receiver, lane).await
        }
        Role::Alone(sending, receiving) => {
            let mut sender = E::sender::<A>(sending)?;
            let mut receiver = E::receiver::<A>(receiving)?;
            lane.wait_at_gate()?;
            alone::send_and_receive(&mut sender, &mut receiver, lane).await
        }
    }
}
