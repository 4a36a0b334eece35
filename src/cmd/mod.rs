//! One file per subcommand. Each returns the exit code.

pub mod boards;
pub mod check;
pub mod compare;
pub mod completions;
pub mod engines;
pub mod manual;
pub mod plan;
pub mod rank;
pub mod report;
pub mod run;
pub mod summarize;

use std::io::{self, Write};

/// A line for the person, on standard error, who may have closed it.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
