//! Parse, dispatch, exit code.

use std::io;
use std::process::ExitCode;

use clap::Parser;
use udpbench::cli::{Cli, Command};
use udpbench::cmd;
use udpbench::error::UsageError;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match &cli.command {
        None => cmd::run::run(&cli.run),
        Some(Command::Run(args)) => cmd::run::run(args),
        Some(Command::Plan(args)) => cmd::plan::run(args),
        Some(Command::Check(args)) => cmd::check::run(args),
        Some(Command::Files(args)) => cmd::files::run(args),
        Some(Command::Engines) => cmd::engines::run(),
        Some(Command::Boards(args)) => cmd::boards::run(args),
        Some(Command::Summarize(args)) => cmd::summarize::run(args),
        Some(Command::Compare(args)) => cmd::compare::run(args),
        Some(Command::Rank(args)) => cmd::rank::run(args),
        Some(Command::Report(args)) => cmd::report::run(args),
        Some(Command::Completions(args)) => cmd::completions::run(args),
        Some(Command::Manual(args)) => cmd::manual::run(args),
    };
    outcome.unwrap_or_else(|error| explain(&error))
}

/// 2: the command line or a file was wrong. 1: something broke. A closed pipe (`| head`) is no error.
fn explain(error: &anyhow::Error) -> ExitCode {
    let io_kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    if io_kind == Some(io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    cmd::say(&format!("error: {error:#}"));
    if error.is::<UsageError>() {
        ExitCode::from(2)
    } else {
        ExitCode::FAILURE
    }
}
