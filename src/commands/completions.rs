//! `udpbench completions`: prints a shell's completion script, generated from the clap definition.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::{Generator, shells};

use crate::cli::{Cli, CompletionsArgs, Shell};

/// Prints the completion script of a shell.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    // Written to memory first: clap_complete panics if a write fails.
    match args.shell {
        Shell::Bash => generate(shells::Bash, &mut script),
        Shell::Fish => generate(shells::Fish, &mut script),
        Shell::Zsh => generate(shells::Zsh, &mut script),
    }
    super::show(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

fn generate(shell: impl Generator, script: &mut Vec<u8>) {
    clap_complete::generate(shell, &mut Cli::command(), "udpbench", script);
}
