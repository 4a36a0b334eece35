//! What each datagram of udpbench passes: the engines, the loops that are timed, and what both need of Linux.
//!
//! `src/lib.rs` hands these modules on, and has the table of layers that they stand in.

pub mod data;
pub mod engine;
pub mod engines;
pub mod sys;
pub mod workload;
