//! What crosses between the controller and an agent, and what carries it.

pub mod end_result;
pub mod message;
pub mod spec;
pub(crate) mod stream;
