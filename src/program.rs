//! The whole program: parses the command line, runs the subcommand and turns its outcome into the exit code.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::thread;

use anyhow::anyhow;
#[cfg(feature = "field")]
use udpbench_field::{listen, watch};

use crate::cli::{AgentArgs, Cli, Command};
use crate::commands;
use crate::engines::{self, Entry};
use crate::error::UsageError;
use crate::sys::limits;
use crate::term::output::say;
use crate::term::words;

/// Stack that building and checking the clap definition needs, in bytes, with a wide margin.
const STACK_BYTES: usize = 2 << 20;

/// Runs udpbench with the engines of your crate beside its own. Call it first in `main`: the program starts itself
/// again for its agents.
///
/// # Panics
/// Panics if the name of an engine is taken, or if it is called a second time.
pub fn run_with(added: &'static [Entry]) -> ExitCode {
    engines::add(added);
    limits::survive_file_size();
    limits::raise_open_files();
    if !limits::is_stack_below(STACK_BYTES) {
        return run();
    }
    // A small stack limit (ulimit -s) binds the main thread only: a thread gets the stack size that the program sets.
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    match thread.spawn(run) {
        // The panic message is already printed. 101 is the exit code of a panic in the main thread.
        Ok(running) => running.join().unwrap_or(ExitCode::from(101)),
        Err(error) => {
            explain(&anyhow!(error).context("cannot start a thread beside a stack this small"))
        }
    }
}

fn run() -> ExitCode {
    execute(&words::words()).unwrap_or_else(|error| explain(&error))
}

fn execute(words: &[OsString]) -> anyhow::Result<ExitCode> {
    if let Some(args) = AgentArgs::parse(words) {
        return commands::agent::run(&args);
    }
    let mut cli = Cli::typed(words)?;
    if let Some(Command::Resume(args)) = &cli.command {
        cli = args.command_line()?;
    }
    match &cli.command {
        None | Some(Command::Resume(_)) => commands::suite::run(&cli.run),
        Some(Command::Run(args)) => commands::suite::run(args),
        Some(Command::Latency(args)) => commands::latency::run(args),
        Some(Command::Find(args)) => commands::find::run(args),
        Some(Command::Wire(args)) => commands::wire::run(args),
        #[cfg(feature = "field")]
        Some(Command::Watch(args)) => watch::run(args, &commands::interrupt_on_signals()?),
        #[cfg(feature = "field")]
        Some(Command::Listen(args)) => listen::run(args, &commands::interrupt_on_signals()?),
        #[cfg(feature = "field")]
        Some(Command::Soak(args)) => commands::soak::run(args),
        Some(Command::Plan(args)) => commands::plan::run(args),
        Some(Command::Check(args)) => commands::check::run(args),
        Some(Command::PutBack(args)) => commands::tuning::put_back(args),
        Some(Command::Files(args)) => commands::files::run(args),
        Some(Command::Engines(args)) => commands::engines::run(args),
        Some(Command::Boards(args)) => commands::boards::run(args),
        Some(Command::Suites(args)) => commands::suite::show_suites(args),
        Some(Command::Summarize(args)) => commands::summarize::run(args),
        Some(Command::Compare(args)) => commands::compare::run(args),
        Some(Command::Ab(args)) => commands::ab::run(args),
        Some(Command::Rank(args)) => commands::rank::run(args),
        #[cfg(feature = "report")]
        Some(Command::Report(args)) => commands::report::run(args),
        Some(Command::Agent(args)) => commands::agent::run(args),
        #[cfg(feature = "manual")]
        Some(Command::Completions(args)) => commands::manual::completions(args),
        #[cfg(feature = "manual")]
        Some(Command::Manual(args)) => commands::manual::run(args),
    }
}

/// Prints what clap returns instead of a command: the help, the version, or an error. Returns clap's exit code.
fn answer(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        error.to_string().lines().for_each(say);
    } else if let Err(broken) = error.print() {
        // clap has wrapped the help to the terminal's width.
        if broken.kind() != io::ErrorKind::BrokenPipe {
            return explain(&anyhow!(broken).context("cannot write all of it to standard output"));
        }
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Prints the error and returns the exit code: 2 if the command line or a file is wrong, 1 for other failures.
fn explain(error: &anyhow::Error) -> ExitCode {
    if let Some(error) = error.downcast_ref::<clap::Error>() {
        return answer(error);
    }
    let text = format!("error: {error:#}");
    if error.is::<UsageError>() {
        // Names of files in it may have line breaks.
        say(&text);
        return ExitCode::from(2);
    }
    // The command to resume is on a line of its own.
    text.lines().for_each(say);
    ExitCode::FAILURE
}
