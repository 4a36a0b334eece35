//! One trial: sockets, threads, warm-up, window, drain, accounting.
//!
//! A trial runs in an agent, a separate process, by the agent's own clock. [`local`] has the steps for one host,
//! `end_steps` the steps of each end between two hosts. Through [`agents`], the controller only says what to run,
//! and takes the sample. The order of events is the heart of the method; `docs/METHODOLOGY.md` explains it.
//!
//! | module | contents |
//! |---|---|
//! | `controller` | agents as the controller sees them, and the steps of a trial between two hosts |
//! | `messages` | requests and answers, their frames and the heartbeat; a trial's specification, an end's result, the sample of both |
//! | `end` | an agent: it serves requests, prepares, runs and drains its end |
//! | `changes` | settings of a host that are changed for a trial |
//! | `sockets` | sockets of one end, and the flows between both |
//! | `threads` | bench threads, workers, and the programs that they run |
//! | `spawned` | processes and threads that are started, and waits for them |
//! | `readings` | what is read at the edges of a window, and of a host |

pub mod changes;
mod controller;
mod end;
mod messages;
mod readings;
mod sockets;
pub mod spawned;
mod threads;

pub use self::controller::{agent, agents, power_command};
pub use self::end::{echo_end, local, serve};
pub use self::messages::{end_result, message, spec};
pub use self::readings::remote_facts;
pub use self::sockets::flows;
#[cfg(test)]
mod tests;
