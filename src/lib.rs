//! udpbench: measures which UDP socket API or event loop is fastest on a board, where datagrams are lost, and
//! the CPU time that each costs.
//!
//! Layers, from top to bottom: each module uses only those below it. No two files use each other, except a `mod.rs` and
//! the files of its folder. A test (`tests/it/layers.rs`) reads this table and every `use`.
//!
//! | module | contents |
//! |---|---|
//! | [`program`] | the whole program, from the command line to the exit code |
//! | [`commands`] | subcommands and what they share: progress, output files, the connection to the other host |
//! | [`report`] | the page of charts and tables for a browser |
//! | [`cli`] | command line and `udpbench.toml` |
//! | [`experiment`] | sweep, `ab`, searches, suites: choose the next trial |
//! | [`session`] | the loop: next trial, run, repeat if faulty or disturbed, append to the log |
//! | [`verdict`] | comparisons, rankings, answers, quality |
//! | [`results`] | log, rows, columns, files |
//! | [`trial`] | one trial: agent, sockets, threads, warm-up, window, drain |
//! | [`plan`] | cases to run or to skip, rounds, durations |
//! | [`engines`] | an engine for each socket API, and helpers for several of them |
//! | [`workload`] | the timed loops, generic over engines |
//! | [`host`] | facts, board profiles, checks, placement, settings |
//! | [`engine`] | the contract between loops and engines |
//! | [`data`] | cases, parameters, counts, histograms |
//! | [`sys`] | Linux: clocks, `/proc`, signals, socket options, NIC counters |
//! | [`stats`] | estimates, intervals, tests |
//! | [`term`] | tables, digits, units, escapes |
//! | [`error`] | errors of the user |
//!
//! [`engines`], [`workload`], [`engine`], [`data`] and [`sys`] are the package `udpbench-datapath`: the code that each
//! datagram passes, and all `unsafe` code. The other modules, the package `udpbench`, are not timed.
//!
//! `docs/ARCHITECTURE.md` has the same table, and follows a datagram from an engine to a row.
//!
//! `CONTRIBUTING.md` has the steps to a new engine, parameter, column or board.

#![forbid(unsafe_code)]

pub mod cli;
pub mod commands;
pub mod error;
pub mod experiment;
pub mod host;
pub mod plan;
pub mod program;
pub mod report;
pub mod results;
pub mod session;
pub mod stats;
pub mod term;
pub mod trial;
pub mod verdict;

pub use program::run_with;
pub use udpbench_datapath::{data, engine, engines, sys, workload};

/// Version of this program, with the cargo profile that built it unless that is `dist`: `0.1.0-release`, `0.1.0-debug`.
/// Profiles differ in speed.
pub const VERSION: &str = env!("UDPBENCH_VERSION");

/// Target triple that the program was built for.
pub const TARGET: &str = env!("UDPBENCH_TARGET");
