//! The machine: host facts from `/proc` and `/sys`, board profiles, checks whether the host is fit to measure on,
//! captures, tunings, the bound of the clock's error, the placement of threads on CPUs, and other programs with sockets.

#![forbid(unsafe_code)]

pub mod board;
pub mod capture;
pub mod check;
pub mod clock;
pub mod error;
pub mod facts;
pub mod placement;
pub mod program;
pub mod text;
pub mod tuning;

use udpbench_datapath::{data, sys};

/// Version of this program, with the cargo profile that built it unless that is `dist`: `0.1.0-release`, `0.1.0-debug`.
/// Profiles differ in speed.
pub const VERSION: &str = env!("UDPBENCH_VERSION");

/// Returns whether a version is that of a debug build, which is slower.
pub fn is_debug(version: &str) -> bool {
    version.ends_with("-debug")
}

/// Target triple that the program was built for.
pub const TARGET: &str = env!("UDPBENCH_TARGET");
