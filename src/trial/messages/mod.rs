//! What crosses between the controller and an agent, and what carries it.

pub(crate) mod conversation;
pub mod end_result;
pub mod message;
pub(crate) mod noise;
pub(crate) mod pulse;
pub(crate) mod scope;
pub mod spec;
pub(crate) mod token;
