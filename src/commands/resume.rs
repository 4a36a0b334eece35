//! `udpbench --resume LOG` for the log of a search or a comparison: continues it as `find --resume` or `ab --resume`
//! does.

use std::process::ExitCode;

use clap::Parser;

use super::{ab, find, soak};
use crate::cli::{Cli, Command, RunArgs};
use crate::error::UsageError;
use crate::experiment::register::ExperimentResults;

/// Resumes the search or comparison of the log. Returns `None` if the log is of a sweep or no log was given.
///
/// # Errors
/// Fails if the log cannot be read, and as [`find::run`] and [`ab::run`] do.
pub fn run(args: &RunArgs) -> anyhow::Result<Option<ExitCode>> {
    let Some(raw) = &args.output.resume else {
        return Ok(None);
    };
    let Some(found) = ExperimentResults::open("--resume", raw)? else {
        return Ok(None);
    };
    if matches!(found, ExperimentResults::Listen(_)) {
        let fix = "a listener has no rest to do: start another one with udpbench listen";
        return Err(UsageError::flag("--resume", &raw.display(), fix).into());
    }
    let mut words = vec!["udpbench".to_owned()];
    words.extend(found.command().into_iter().map(str::to_owned));
    words.extend(["--resume".to_owned(), raw.to_string_lossy().into_owned()]);
    words.extend(args.output.quiet.then(|| "--quiet".to_owned()));
    if let Some(on) = &args.remote.on {
        words.extend(["--on".to_owned(), on.clone()]);
        words.extend(args.remote.words());
    }
    match Cli::try_parse_from(words)?.command {
        Some(Command::Ab(args)) => ab::run(&args).map(Some),
        Some(Command::Find(args)) => find::run(&args).map(Some),
        Some(Command::Soak(args)) => soak::run(&args).map(Some),
        _ => Ok(None),
    }
}
