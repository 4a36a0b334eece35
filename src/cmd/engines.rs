//! `udpbench engines`: each engine, whether it can run here, and if not, why.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::engine::{About, Selection};
use crate::engines;

/// Lists the registry.
///
/// # Errors
/// When standard output is gone.
pub fn run() -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    for entry in engines::ALL {
        let state = match (entry.probe)() {
            Ok(()) => "yes".to_owned(),
            Err(reason) => format!("no: {reason}"),
        };
        let default = match entry.about.selection {
            Selection::Default => "*",
            Selection::ByName => "",
        };
        let About { group, summary, .. } = entry.about;
        writeln!(
            out,
            "{entry:<16} {default:1} {group:<9} {state:<4} {summary}"
        )?;
        if let Err(reason) = entry.about.one_thread {
            writeln!(out, "{:21} not with --threads 1:", "")?;
            writeln!(out, "{:21} {reason}", "")?;
        }
    }
    for (name, reason) in engines::NOT_BUILT {
        writeln!(out, "{name:<16}   {:<9} no   {reason}", "")?;
    }
    writeln!(
        out,
        "* in the default sweep; `udpbench plan` says why a case is skipped"
    )?;
    Ok(ExitCode::SUCCESS)
}
