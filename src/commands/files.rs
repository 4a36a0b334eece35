//! `udpbench files -- WORDS`: prints which files a sweep with this command line would write, as one line of JSON.
//! `scripts/fleet` uses it to copy the results home. The command is hidden. It measures and writes nothing.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::iter;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use serde::Serialize;

use crate::cli::options::suite::requests;
use crate::cli::options::{self, Request};
use crate::cli::{Cli, Command, FilesArgs, RunArgs, WireArgs};
use crate::experiment::suite;
use crate::plan::{Plan, Schedule};
use crate::results::baselines;

/// The files of a command line. Paths are as typed or follow from `--baseline`. A path is null if the program chooses
/// it.
#[derive(Debug, Default, Serialize)]
struct Files<'a> {
    /// True for a sweep, false for another subcommand, `--help` and `--version`.
    sweep: bool,
    output: Option<&'a Path>,
    samples: Option<&'a Path>,
    resume: Option<&'a Path>,
    /// Expected duration in seconds, which `udpbench plan` shows as "about". Null for a resumed sweep.
    expected_s: Option<u64>,
    /// Longest duration in seconds: all of `--max-time` is used and every cool-down takes its maximum. Null for a
    /// resumed sweep.
    longest_s: Option<u64>,
}

/// Prints the files of the command line as one line of JSON.
///
/// # Errors
/// Fails if the sweep would refuse the command line, or if standard output cannot be written.
pub fn run(args: &FilesArgs) -> anyhow::Result<ExitCode> {
    let words =
        iter::once(OsStr::new("udpbench")).chain(args.words.iter().map(OsString::as_os_str));
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => Some(cli),
        Err(error) if error.use_stderr() => return Err(error.into()),
        // The help, or the version.
        Err(_) => None,
    };
    let line = match cli.as_ref().map(|cli| (&cli.command, &cli.run)) {
        Some((None, run)) => line_of(run, 1)?,
        Some((Some(Command::Run(run)), _)) => line_of(run, 1)?,
        Some((Some(Command::Wire(wire)), _)) if wire.what.is_none() => line_of_wire(wire)?,
        Some((Some(Command::Resume(resume)), _)) => serde_json::to_string(&Files {
            sweep: true,
            resume: Some(&resume.log),
            ..Files::default()
        })?,
        _ => serde_json::to_string(&Files::default())?,
    };
    writeln!(io::stdout(), "{line}")?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the line of `udpbench wire` without connecting to the remote host. The sweep counts as one of this host for
/// each direction.
fn line_of_wire(wire: &WireArgs) -> anyhow::Result<String> {
    let mut args = wire.run.clone();
    options::wire::complete(&mut args.parameters);
    let directions = args.parameters.direction.take().unwrap_or_default();
    // An address of the remote host means nothing here.
    args.parameters.address = None;
    line_of(&args, directions.len().try_into()?)
}

/// Returns the line of a sweep whose cases are measured `times` times.
fn line_of(args: &RunArgs, times: u32) -> anyhow::Result<String> {
    let requests = match &args.suite {
        Some(name) => requests(&suite::find("--suite", name)?, args, None)?,
        None => vec![Request::new(args)?],
    };
    let seconds = |time: fn(&Schedule, &Plan) -> Duration, passes: u32| {
        let each = requests.iter().map(|it| time(&it.schedule, &it.plan));
        (!requests.is_empty()).then(|| (each.sum::<Duration>() * times * passes).as_secs().max(1))
    };
    // A baseline has two passes, and a comparison may have a second one.
    let is_baseline = args.output.baseline.is_some();
    let may_repeat = is_baseline || args.output.against.is_some();
    let (expected_s, longest_s) = (
        seconds(Schedule::expected_time, if is_baseline { 2 } else { 1 }),
        seconds(Schedule::longest_time, if may_repeat { 2 } else { 1 }),
    );
    let baseline = args.output.baseline.as_deref().map(baselines::next);
    Ok(serde_json::to_string(&Files {
        sweep: true,
        output: args.output.results().or(baseline.as_deref()),
        samples: args.output.samples.as_deref(),
        resume: None,
        expected_s,
        longest_s,
    })?)
}
