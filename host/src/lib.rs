//! The machine: host facts from `/proc` and `/sys`, board profiles, checks whether the host is fit to measure on,
//! captures, tunings, the bound of the clock's error, and the placement of threads on CPUs. And what all tools share to
//! speak with people and disks: text, the terminal, logs.

// Layers, from top to bottom: each module uses only those below it.
//
// | module | contents |
// |---|---|
// | `check` | whether the machine is fit to measure on, with the fix of each trouble |
// | `tuning` | settings that are changed and put back, also after `kill -9` |
// | `capture` | the files that make a recorded machine, for tests |
// | `board` | profiles of boards |
// | `placement` | which thread goes to which CPU |
// | `facts` | the machine by `/proc`, `/sys` and its kernel |
// | `clock` | the bound of the clock's error |
// | `log` | logs of all kinds: lines, files, names |
// | `term` | tables, folded lines, messages, escapes |
// | `text` | digits, units, lists of CPUs |
// | `error` | what the user got wrong |

#![forbid(unsafe_code)]

pub mod board;
pub mod capture;
pub mod check;
pub mod clock;
pub mod error;
pub mod facts;
pub mod log;
pub mod placement;
pub mod term;
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
