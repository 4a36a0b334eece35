//! `udpbench completions`: prints a shell's completion script, which clap_complete generates from the command line's
//! definition.

use std::process::ExitCode;

use clap::builder::Resettable::Reset;
use clap::{Arg, Command, CommandFactory};
use clap_complete::{Generator, shells};

use crate::cli::{Cli, CompletionsArgs, Shell};
use crate::results::export::to_stdout;

/// Prints the completion script of a shell.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let script = match args.shell {
        Shell::Bash => generate(shells::Bash),
        Shell::Fish => generate(shells::Fish),
        Shell::Zsh => generate(shells::Zsh),
    };
    to_stdout(&script)?;
    Ok(ExitCode::SUCCESS)
}

fn generate(shell: impl Generator) -> Vec<u8> {
    let mut command = shown(&Cli::command()).version(crate::VERSION);
    // Written to memory first: clap_complete panics if a write fails.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "udpbench", &mut script);
    script
}

/// Returns a copy of a command with the subcommands and options that its help shows. clap_complete would offer hidden
/// ones as well.
fn shown(command: &Command) -> Command {
    // clap takes no other names than those that live as long as the program, which soon ends.
    let name: &'static str = command.get_name().to_owned().leak();
    let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let below = command.get_subcommands().filter(|it| !it.is_hide_set());
    Command::new(name)
        .about(command.get_about().cloned().unwrap_or_default())
        .disable_help_subcommand(true)
        .args(args.cloned().map(alone))
        .subcommands(below.map(shown))
}

/// Returns an argument without its relations to others, which may be hidden.
fn alone(arg: Arg) -> Arg {
    arg.conflicts_with(Reset).requires(Reset)
}
