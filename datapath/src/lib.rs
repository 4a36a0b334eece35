//! What each datagram of udpbench passes: the engines, the loops that are timed, and what both need of Linux.
//!
//! It is compiled for speed, and the harness above it, which plans, writes down and judges, for size.
//! `harness/src/lib.rs` hands these modules on, and has the table of layers that they stand in.

pub mod data;
pub mod engine;
pub mod engines;
pub mod sys;
pub mod workload;
