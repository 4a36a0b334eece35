//! What a suite's sweeps are here: their own options, with what was typed beside `--suite`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use clap::Parser;

use super::Request;
use crate::cli::{self, Cli, MeasuringArgs, OutputArgs, PlacementArgs, RunArgs};
use crate::engines;
use crate::error::UsageError;
use crate::log::Log;
use crate::plan::Plan;
use crate::suite::{Suite, Sweep};
use crate::sys::files::{self, Kind};

/// The options of a suite's sweep, whose files lie in `directory`: what the suite says, and what was typed beside it, which
/// comes first. Where its raw samples are there, it is to be resumed.
///
/// # Errors
/// Options that do not exist.
pub fn options(sweep: &Sweep, typed: &RunArgs, directory: &Path) -> anyhow::Result<RunArgs> {
    let cli = Cli::try_parse_from(cli::spread(
        std::iter::once("udpbench".to_owned()).chain(words(sweep)),
    ))?;
    if cli.command.is_some() {
        let fix = "a suite has the options of sweeps, and no command";
        return Err(UsageError::flag("--suite", &sweep.name, fix).into());
    }
    let own = cli.run;
    let samples = directory.join(format!("{}.jsonl", sweep.name));
    let resume = samples.exists().then_some(samples);
    Ok(RunArgs {
        parameters: own.parameters,
        measuring: measuring(&own.measuring, &typed.measuring),
        placement: PlacementArgs {
            pin: own.placement.pin,
            ..typed.placement.clone()
        },
        output: OutputArgs {
            output: Some(directory.join(format!("{}.csv", sweep.name))),
            resume,
            ..typed.output.clone()
        },
        suite: None,
        config: None,
        no_config: true,
        from_config: Vec::new(),
        root: typed.root.clone(),
    })
}

/// Its words, without the engines that this build does not have.
fn words(sweep: &Sweep) -> impl Iterator<Item = String> {
    let mut names_engines = false;
    sweep.options.split_whitespace().map(move |word| {
        let is_list = names_engines;
        names_engines = ["--engine", "--sender", "--receiver"].contains(&word);
        if !is_list {
            return word.to_owned();
        }
        let built = word.split(',').filter(|name| not_built(name).is_none());
        built.collect::<Vec<&str>>().join(",")
    })
}

/// Why this build does not have an engine, if it has not.
fn not_built(name: &str) -> Option<&'static str> {
    let mut absent = engines::NOT_BUILT.iter();
    absent.find(|(it, _)| *it == name).map(|(_, why)| *why)
}

/// The engines that a suite names and this build does not have, each once, and why.
pub fn left_out(suite: &Suite) -> BTreeMap<&str, &'static str> {
    let words = suite
        .sweeps
        .iter()
        .flat_map(|it| it.options.split([' ', ',']));
    words
        .filter_map(|word| Some((word, not_built(word)?)))
        .collect()
}

/// What each sweep of a suite is to do.
///
/// # Errors
/// What was asked for and is impossible, with the fix.
pub fn requests(suite: &Suite, typed: &RunArgs) -> anyhow::Result<Vec<Request>> {
    let request = |sweep| Ok(Request::new(&options(sweep, typed, Path::new(""))?)?);
    suite.sweeps.iter().map(request).collect()
}

/// Whether a log is of such a sweep.
///
/// # Errors
/// The log, if it cannot be read or has other cases.
pub fn check_log(raw: &Path, request: &Request) -> Result<(), UsageError> {
    let refused = |problem: String| UsageError::flag("--output", &raw.display(), problem);
    let bytes = files::read_whole(raw, Kind::File);
    let bytes = bytes.map_err(|error| refused(format!("cannot read it: {error}")))?;
    let log = Log::parse(&raw.display().to_string(), &bytes)?;
    let keys = |plan: &Plan| plan.cases().map(|it| it.case.key()).collect::<Vec<_>>();
    if keys(&log.header.plan) == keys(&request.plan) {
        Ok(())
    } else {
        let problem = "it is of a sweep with other cases; choose another directory";
        Err(refused(problem.to_owned()))
    }
}

/// How long all of them take.
pub fn expected_time(requests: &[Request]) -> Duration {
    let times = requests.iter();
    times
        .map(|request| request.schedule.expected_time(&request.plan))
        .sum()
}

fn measuring(own: &MeasuringArgs, typed: &MeasuringArgs) -> MeasuringArgs {
    MeasuringArgs {
        duration: typed.duration.or(own.duration),
        rounds: typed.rounds.or(own.rounds),
        until: typed.until.or(own.until),
        max_time: typed.max_time.or(own.max_time),
        warmup: typed.warmup.or(own.warmup),
        soak: typed.soak.or(own.soak),
        seed: typed.seed.or(own.seed),
        no_reference: typed.no_reference || own.no_reference,
        verify: typed.verify || own.verify,
        full: typed.full || own.full,
        quick: typed.quick || own.quick,
        #[cfg(feature = "calibration")]
        delay: typed.delay.clone(),
    }
}
