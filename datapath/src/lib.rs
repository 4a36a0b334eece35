//! The code that each datagram of udpbench passes: the engines, the timed loops, and their interface to Linux.
//!
//! `udpbench` re-exports these modules.

#![allow(
    clippy::inline_always,
    reason = "a loop whose calls are not inlined takes up to 80 instructions more per datagram"
)]

// Layers, from top to bottom: each module uses only those below it.
//
// | module | contents |
// |---|---|
// | `engines` | an engine for each socket API, and helpers for several of them |
// | `testing` | the contract between loops and engines, as a test |
// | `workload` | the timed loops, generic over engines |
// | `engine` | the contract between loops and engines |
// | `data` | cases, parameters, counts, histograms |
// | `sys` | Linux: clocks, `/proc`, signals, socket options, NIC counters |

pub mod data;
pub mod engine;
pub mod engines;
pub mod sys;
pub mod testing;
pub mod workload;
