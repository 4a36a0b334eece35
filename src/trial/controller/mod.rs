//! The controller's side of a trial: the agents, what they are asked for, and the sample of their results.

pub(crate) mod across;
pub mod agent;
pub mod agents;
pub mod power_command;
