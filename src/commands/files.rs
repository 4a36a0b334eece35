//! `udpbench files -- WORDS`: prints which files a sweep with this command line would write, as one line of JSON.
//! `scripts/fleet` uses it to copy the results home. The command is hidden. It measures and writes nothing.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::iter;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::options::suite::requests;
use crate::cli::options::{self, Request};
use crate::cli::{Cli, Command, FilesArgs, RunArgs, WireArgs};
use crate::experiment::suite;
use crate::plan::{Plan, Schedule};
use crate::results::baselines;

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
    let mut files = json!({"sweep": true, "output": null, "samples": null, "resume": null,
        "expected_s": null, "longest_s": null});
    match cli.as_ref().map(|cli| (&cli.command, &cli.run)) {
        Some((None, run)) => add(&mut files, run, 1)?,
        Some((Some(Command::Run(run)), _)) => add(&mut files, run, 1)?,
        Some((Some(Command::Wire(wire)), _)) if wire.what.is_none() => {
            add_of_wire(&mut files, wire)?;
        }
        Some((Some(Command::Resume(resume)), _)) => files["resume"] = json!(resume.log),
        _ => files["sweep"] = false.into(),
    }
    writeln!(io::stdout(), "{files}")?;
    Ok(ExitCode::SUCCESS)
}

/// Adds the files of `udpbench wire` without connecting to the remote host. The sweep counts as one of this host for
/// each direction.
fn add_of_wire(files: &mut Value, wire: &WireArgs) -> anyhow::Result<()> {
    let mut args = wire.run.clone();
    options::wire::complete(&mut args.parameters);
    let directions = args.parameters.direction.take().unwrap_or_default();
    // An address of the remote host means nothing here.
    args.parameters.address = None;
    add(files, &args, directions.len().try_into()?)
}

/// Adds the files of a sweep whose cases are measured `times` times. Paths are as typed or follow from `--baseline`. A
/// path is null if the program chooses it. `expected_s` is the duration that `udpbench plan` shows as "about",
/// `longest_s` that with all of `--max-time` and the longest cool-downs.
fn add(files: &mut Value, args: &RunArgs, times: u32) -> anyhow::Result<()> {
    let requests = match &args.suite {
        Some(name) => requests(&suite::find("--suite", name)?, args, None)?,
        None => vec![Request::new(args, None)?],
    };
    let seconds = |time: fn(&Schedule, &Plan) -> Duration, passes: u32| {
        let each = requests.iter().map(|it| time(&it.schedule, &it.plan));
        (!requests.is_empty()).then(|| (each.sum::<Duration>() * times * passes).as_secs().max(1))
    };
    // A baseline has two passes, and a comparison may have a second one.
    let output = &args.output;
    let passes = if output.baseline.is_some() { 2 } else { 1 };
    let most = if output.against.is_some() { 2 } else { passes };
    files["expected_s"] = json!(seconds(Schedule::expected_time, passes));
    files["longest_s"] = json!(seconds(Schedule::longest_time, most));
    let baseline = output.baseline.as_deref().map(baselines::next);
    files["output"] = json!(output.results().or(baseline.as_deref()));
    files["samples"] = json!(output.samples);
    Ok(())
}
