//! `udpbench completions`: a completion script, made from the definition of the command line.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};

/// Prints the script.
///
/// # Errors
/// When standard output is gone.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    // Into memory first: clap_complete panics where it cannot write.
    clap_complete::generate(args.shell, &mut Cli::command(), "udpbench", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
