//! One trial: sockets, threads, warm-up, window, drain, accounting.
//!
//! A trial runs in an agent, a separate process, by the agent's own clock. [`local`] has the steps for one host,
//! `end_steps` the steps of each end between two hosts. Through [`agents`], the controller only says what to run,
//! and takes the sample. The order of events is the heart of the method; `docs/METHODOLOGY.md` explains it.
//!
//! | group | modules |
//! |---|---|
//! | controller | `agents`, `agent`, `across`, `carrier`, `spawned`, `longest_payload`, `merged`, `power_command` |
//! | messages | `message`, `conversation`, `noise`, `pulse`, `token`, `spec`, `end_result`, `scope` |
//! | one end: steps | `serve`, `echo_end`, `local`, `end_steps`, `prepared_end`, `running_end`, `wait`, `changes` |
//! | one end: sockets | `end_sockets`, `udp_sockets`, `bind`, `connections`, `flows` |
//! | one end: threads | `threads`, `bench_thread`, `workers`, `programs` |
//! | readings | `snapshot`, `queue_probes`, `path_watch`, `loss_watch`, `reason_watch`, `idle_counters`, `remote_facts` |

mod across;
pub mod agent;
pub mod agents;
mod bench_thread;
mod bind;
mod carrier;
pub mod changes;
mod connections;
mod conversation;
pub mod echo_end;
pub mod end_result;
mod end_sockets;
mod end_steps;
pub mod flows;
pub mod idle_counters;
pub mod local;
mod longest_payload;
mod loss_watch;
mod merged;
pub mod message;
mod noise;
mod path_watch;
pub mod power_command;
mod prepared_end;
mod programs;
mod pulse;
mod queue_probes;
mod reason_watch;
pub mod remote_facts;
mod running_end;
mod scope;
pub mod serve;
mod snapshot;
pub mod spawned;
pub mod spec;
mod threads;
mod token;
mod udp_sockets;
mod wait;
mod workers;

use crate::sys::interrupt::Interrupted;

/// Reason why a trial has no sample.
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

#[cfg(test)]
mod tests;
