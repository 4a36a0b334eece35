//! One trial: sockets, threads, warm-up, window, drain, closed books.
//!
//! It runs in an agent, a process of its own, by its own clock: [`here`] is the script for one host, `halves` that of each
//! end between two. The controller, [`agents`], only says what is to be run, and takes the sample. The order of events is the
//! heart of the method; `docs/METHODOLOGY.md` says why it is so.

mod across;
pub mod agent;
pub mod agents;
mod bind;
mod carrier;
mod connections;
mod conversation;
mod ends;
pub mod facts;
pub mod flows;
pub mod half;
mod halves;
pub mod here;
pub mod idle_counters;
pub mod keeper;
mod lane;
pub mod message;
mod noise;
mod opened;
mod path_mtu;
mod path_watch;
mod programs;
mod pulse;
mod put_back;
mod reason_watch;
mod running;
mod sample;
mod scope;
pub mod serve;
pub mod settings;
mod snapshot;
mod sockets;
pub mod spawned;
pub mod spec;
mod taps;
mod threads;
mod token;
mod wait;
pub mod watchdog;
mod workers;

use std::time::Duration;

use crate::sys::interrupt::Interrupted;

/// Why there is no sample.
#[derive(Debug)]
pub enum NoSample {
    /// The program was asked to end.
    Interrupted,
    /// The case could not be run, or broke.
    Failed(anyhow::Error),
}

impl From<Interrupted> for NoSample {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<anyhow::Error> for NoSample {
    fn from(error: anyhow::Error) -> Self {
        if error.is::<Interrupted>() {
            return Self::Interrupted;
        }
        Self::Failed(error)
    }
}

/// How often the coordinator looks while it waits for lanes to drain or to stop.
const GLANCE: Duration = Duration::from_micros(100);

#[cfg(test)]
mod tests;
