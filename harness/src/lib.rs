//! udpbench: measures which UDP socket API or event loop is fastest on a board, where datagrams are lost, and
//! the CPU time that each costs.
//!
//! Layers, from top to bottom: each module uses only those below it, and no two files use each other. A test
//! (`tests/layers.rs`) reads this table and every `use`.
//!
//! | module | what it decides |
//! |---|---|
//! | [`commands`] | what each subcommand does, and in which order |
//! | [`options`] | what the command line means on this machine: defaults, CPUs, bad input |
//! | [`report`] | a page of charts and tables for a browser |
//! | [`cli`] | what can be typed |
//! | [`experiments`] | what other experiments than sweeps have found, by their logs |
//! | [`ab`] | whether B is better than A: both measured in turn, for that question |
//! | [`find`] | where something begins, which setting helps: searches, and the trials that they ask for |
//! | [`suite`] | named lists of sweeps, and what others have published about the like |
//! | [`compare`] | whether it changed, and how sure that is |
//! | [`rank`] | which engine is best here, and how sure that is |
//! | [`quality`] | how far the numbers of a run can be believed |
//! | [`results`] | rows, read from CSV files and logs |
//! | [`sweep`] | the order: blocks, rounds, shuffles, `--until` |
//! | [`export`] | CSV and other formats, the table, files that survive what happens to them |
//! | [`replay`] | which rows follow from a log, and when a row is final |
//! | [`session`] | the loop: the next step of an experiment, a trial once more, what happened |
//! | [`measure`] | one window: sockets, threads, start, warm-up, window, drain, books |
//! | [`log`] | what happened, event by event: the file that everything follows from |
//! | [`plan`] | every case: run, or skip with a reason; how often, and how long |
//! | [`engines`] | the registry: a file for each engine |
//! | [`row`] | every number that people read, and what may mislead about it |
//! | [`workload`] | what threads do: the loops that are timed, generic over engines |
//! | [`platform`] | the machine: host, board profile, fitness, placement |
//! | [`engine`] | the contract between loops and engines: ports on links, taps |
//! | [`data`] | cases and parameters, engines by name, samples, books |
//! | [`sys`] | what Linux tells and does: `/proc`, `/sys`, clocks, signals, socket options |
//! | [`stats`] | estimates and their intervals |
//! | [`nearest`] | what was probably meant |
//! | [`shell`] | words of commands, quoted |
//! | [`escape`] | what a terminal would obey, made visible |
//! | [`table`] | tables: which columns there is room for |
//! | [`digits`] | how many digits a number is worth |
//! | [`fold`] | lines wider than the terminal, broken at words |
//! | [`text`] | text files as editors and spreadsheets save them |
//! | [`error`] | what the user got wrong |
//! | [`duration`] | durations, as they are typed and stored |
//! | [`percent`] | percentages, as they are typed |
//!
//! [`engines`], [`workload`], [`engine`], [`data`] and [`sys`] are a crate of their own, in `datapath/`: it is
//! compiled for speed, this one for size. Nothing in this one is timed.
//!
//! A sweep goes down and comes back up: [`options`] makes a plan, [`sweep`] says what is next, [`session`] has [`measure`]
//! run each window, a [`workload`] times an engine of [`engines`], the counts become an event of the [`log`], [`replay`] makes
//! a [`row`] of them, and [`export`] writes it. [`results`] reads such files again.
//!
//! A new engine is one file in `datapath/src/engines/` and its line in the registry; a new board one TOML in
//! `boards/`; a new format one file in `export/` and its line there. `CONTRIBUTING.md` walks through each.

#![forbid(unsafe_code)]

pub mod ab;
pub mod cli;
pub mod commands;
pub mod compare;
pub mod digits;
pub mod duration;
pub mod error;
pub mod escape;
pub mod experiments;
pub mod export;
pub mod find;
pub mod fold;
pub mod log;
pub mod measure;
pub mod nearest;
pub mod options;
pub mod percent;
pub mod plan;
pub mod platform;
pub mod quality;
pub mod rank;
pub mod replay;
pub mod report;
pub mod results;
pub mod row;
pub mod session;
pub mod shell;
pub mod stats;
pub mod suite;
pub mod sweep;
pub mod table;
pub mod text;

pub use udpbench_datapath::{data, engine, engines, sys, workload};

/// Of this program, with the profile of cargo that built it, unless that is `dist`: `0.1.0-release`, `0.1.0-debug`.
/// Their numbers are not the same.
pub const VERSION: &str = env!("UDPBENCH_VERSION");

/// The target triple that it was built for.
pub const TARGET: &str = env!("UDPBENCH_TARGET");
