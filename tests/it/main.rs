//! Tests of the whole program, in one binary: its modules run side by side. Tests that measure speed are not among
//! them.

mod ab;
mod agent;
mod bad_input;
mod baseline;
mod bench_threads;
mod bidir;
mod boards;
mod broken;
mod busy_poll;
mod cells;
mod check;
mod common;
mod compare;
mod docs;
mod drops;
mod energy;
mod exec;
mod files;
mod find;
mod flows;
mod formats;
mod interruption;
mod latency;
mod layers;
#[cfg(target_arch = "x86_64")] // An emulator needs descriptors and a stack of its own.
mod limits;
#[cfg(feature = "field")]
mod listen;
mod loopback;
#[cfg(feature = "manual")]
mod manual;
mod matrix;
mod network;
mod null;
mod pacing;
mod rank;
mod raw;
mod real_time;
#[cfg(feature = "report")]
mod report;
mod results;
mod rr;
mod saved;
mod schema;
mod shown_commands;
#[cfg(feature = "field")]
mod soak;
mod socket_options;
mod suites;
mod sweep;
mod terminal;
mod transports;
mod verify;
#[cfg(feature = "field")]
mod watch_program;
mod widths;
mod wire;

use udpbench::engines::{self, Entry};

/// The program under test.
const PROGRAM: &str = "udpbench";
/// The repository.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn engines_under_test() -> impl Iterator<Item = &'static Entry> {
    engines::all()
}
