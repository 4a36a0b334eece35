//! One file per subcommand. Each returns the exit code.

pub mod boards;
pub mod check;
pub mod compare;
pub mod completions;
pub mod engines;
pub mod files;
pub mod manual;
pub mod plan;
pub mod rank;
pub mod report;
pub mod run;
pub mod summarize;

use std::io::{self, Write};
use std::path::Path;

use crate::error::UsageError;
use crate::results::Results;

/// Reads results, and says what of them is left out.
fn open(path: &Path) -> Result<Results, UsageError> {
    let results = Results::open(path)?;
    if results.is_torn {
        let name = &results.name;
        say(&format!("{name}: its last line has no end and is left out"));
    }
    Ok(results)
}

/// A line for the person, on standard error, who may have closed it.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
