//! udpbench: measures which UDP socket API or event loop is fastest on a board, where datagrams are lost, and
//! the CPU time that each costs.
//!
//! Layers, from top to bottom: each module uses only those below it, and no two files use each other. A test
//! (`tests/it/layers.rs`) reads this table and every `use`.
//!
//! | module | what it is |
//! |---|---|
//! | [`commands`] | a file for each subcommand |
//! | [`report`] | the page of charts and tables for a browser |
//! | [`cli`] | the command line and `udpbench.toml`, and what they mean on this machine |
//! | [`experiment`] | sweep, `ab`, searches, suites: which trial is next, and what is known |
//! | [`session`] | the loop: next trial, run, retry once, append to the log |
//! | [`verdict`] | comparisons, rankings, answers, and how far numbers can be believed |
//! | [`results`] | the log, the rows that follow from it, their columns, files in and out |
//! | [`trial`] | one trial: agent, sockets, threads, start, warm-up, window, drain, accounting |
//! | [`plan`] | cases to run, and those to skip with a reason; how often, and how long |
//! | [`engines`] | a file for each engine |
//! | [`workload`] | the loops that are timed, generic over engines |
//! | [`host`] | the machine: facts, board profiles, checks, placement, settings |
//! | [`engine`] | the contract between loops and engines |
//! | [`data`] | cases and their parameters, counts, histograms: plain data |
//! | [`sys`] | Linux: clocks, `/proc`, `/sys`, signals, socket options, NIC counters |
//! | [`stats`] | estimates, their intervals, tests |
//! | [`term`] | tables, digits, typed units, folding, escapes |
//! | [`error`] | errors of the user |
//!
//! [`engines`], [`workload`], [`engine`], [`data`] and [`sys`] are the package `udpbench-datapath`: all that a datagram
//! passes, and all `unsafe` code. Nothing in this package is timed.
//!
//! A sweep goes down and comes back up: [`cli`] makes a [`plan`], an [`experiment`] says what is next, the [`session`] has a
//! [`trial`] run it, a [`workload`] times an engine of [`engines`], and the counts become an event of the log, from which
//! [`results`] computes rows.
//!
//! A new engine is one file in `datapath/src/engines/` and its line in the registry; a new board is one TOML file in
//! `boards/`. `CONTRIBUTING.md` walks through each.

#![forbid(unsafe_code)]

pub mod cli;
pub mod commands;
pub mod error;
pub mod experiment;
pub mod host;
pub mod plan;
pub mod report;
pub mod results;
pub mod session;
pub mod stats;
pub mod term;
pub mod trial;
pub mod verdict;

pub use udpbench_datapath::{data, engine, engines, sys, workload};

/// Of this program, with the profile of cargo that built it, unless that is `dist`: `0.1.0-release`, `0.1.0-debug`.
/// Their numbers are not the same.
pub const VERSION: &str = env!("UDPBENCH_VERSION");

/// The target triple that it was built for.
pub const TARGET: &str = env!("UDPBENCH_TARGET");
