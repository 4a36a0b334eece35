//! One end of a trial in its own process, step by step.

pub mod echo_end;
pub(crate) mod end_steps;
pub mod local;
pub(crate) mod running_end;
pub mod serve;
pub(crate) mod wait;
