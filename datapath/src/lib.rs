//! The code that each datagram of udpbench passes: the engines, the timed loops, and their interface to Linux.
//!
//! `src/lib.rs` re-exports these modules. Its documentation has the table of layers that they belong to.

pub mod data;
pub mod engine;
pub mod engines;
pub mod sys;
pub mod testing;
pub mod workload;
