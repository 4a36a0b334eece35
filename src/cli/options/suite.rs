//! Turns a suite's sweeps and searches into requests: their own options, combined with the options typed beside
//! `--suite`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::Request;
use super::wire;
use crate::cli::peer::Peer;
use crate::cli::{Cli, Command, FindCommand, MeasuringArgs, PROGRAM, RunArgs};
use crate::engines;
use crate::error::UsageError;
use crate::experiment::find::Record;
use crate::experiment::suite::{Suite, SuitePart};
use crate::plan::Plan;
use crate::results::log::Log;
use crate::text::digits::counted;

/// Returns the options of a suite's sweep whose files are in `directory`. Typed options override the suite's. If the
/// raw samples exist, the sweep is to be resumed.
///
/// # Errors
/// Fails if the suite has options that do not exist.
pub fn options(
    sweep: &SuitePart,
    typed: &RunArgs,
    directory: &Path,
    peer: Option<&Peer>,
) -> anyhow::Result<RunArgs> {
    let cli = Cli::try_parse_from(std::iter::once("udpbench".to_owned()).chain(words(sweep)))?;
    if cli.command.is_some() {
        let fix = "a suite has the options of sweeps, and no command";
        return Err(UsageError::flag("--suite", &sweep.name, fix).into());
    }
    let mut own = cli.run;
    if peer.and_then(Peer::across_wire).is_some() {
        wire::complete(&mut own.parameters);
    }
    let samples = directory.join(format!("{}.jsonl", sweep.name));
    let mut run = RunArgs {
        parameters: own.parameters,
        measuring: measuring(own.measuring, &typed.measuring),
        suite: None,
        ..typed.clone()
    };
    run.placement.pin = own.placement.pin;
    run.output.output = Some(directory.join(format!("{}.csv", sweep.name)));
    run.output.resume = samples.exists().then_some(samples);
    Ok(run)
}

/// Returns the command of a suite's search whose log is in `directory`. If the log exists, the search is to be resumed.
///
/// # Errors
/// Fails if the suite has options that do not exist.
pub fn search(
    search: &SuitePart,
    typed: &RunArgs,
    directory: &Path,
    peer: Option<&Peer>,
) -> anyhow::Result<FindCommand> {
    let log = directory.join(format!("{}.jsonl", search.name));
    let start = ["udpbench", "find"].map(str::to_owned).into_iter();
    let command = Cli::try_parse_from(start.chain(words(search)))?.command;
    let Some(Command::Find(mut args)) = command else {
        return Err(UsageError::flag("--suite", &search.name, "it is no search").into());
    };
    let common = args.what.common_mut();
    common.placement.board.clone_from(&typed.placement.board);
    common.output.root.clone_from(&typed.root);
    common.output.quiet = typed.output.quiet;
    common.output.resume = log.exists().then(|| log.clone());
    common.output.output = Some(log);
    if peer.and_then(Peer::across_wire).is_some() {
        wire::complete(&mut common.parameters);
    }
    Ok(args.what)
}

/// Returns the options of a sweep as words, without engines that are left out.
fn words(sweep: &SuitePart) -> impl Iterator<Item = String> {
    let mut names_engines = false;
    sweep.options.split_whitespace().map(move |word| {
        let is_list = names_engines;
        names_engines = ["--engine", "--sender", "--receiver"].contains(&word);
        if !is_list {
            return word.to_owned();
        }
        let built = word.split(',').filter(|name| absent(name).is_none());
        built.collect::<Vec<&str>>().join(",")
    })
}

/// Returns the reason why an engine is left out: this build does not have it, or its program does not exist. `None` if
/// there is none.
fn absent(name: &str) -> Option<&'static str> {
    if let Some(program) = name.strip_prefix(PROGRAM) {
        let fix = "there is no such file: udpbench suites NAME says how to build it";
        return (!Path::new(program).exists()).then_some(fix);
    }
    engines::why_not_built(name)
}

/// Returns the engines of a suite that are left out, with the reasons.
pub fn left_out(suite: &Suite) -> BTreeMap<&str, &'static str> {
    let all = suite.sweeps.iter().chain(&suite.searches);
    let words = all.flat_map(|it| it.options.split([' ', ',']));
    words
        .filter_map(|word| Some((word, absent(word)?)))
        .collect()
}

/// Returns the request of each sweep of a suite, with the remote host `peer` or on this host alone.
///
/// # Errors
/// Fails if an option is wrong or impossible here, and names the fix.
pub fn requests(
    suite: &Suite,
    typed: &RunArgs,
    peer: Option<&Peer>,
) -> anyhow::Result<Vec<Request>> {
    let sweeps = suite.sweeps.iter();
    let options = sweeps.map(|sweep| options(sweep, typed, Path::new(""), peer));
    options.map(|run| Ok(Request::new(&run?, peer)?)).collect()
}

/// Returns a new record of each search of a suite, without results.
///
/// # Errors
/// Fails if an option is wrong or impossible here, and names the fix.
pub fn searches(
    suite: &Suite,
    typed: &RunArgs,
    peer: Option<&Peer>,
) -> anyhow::Result<Vec<Record>> {
    let record = |of| {
        let what = search(of, typed, Path::new(""), peer)?;
        Ok(Record::new(super::find::header(&what, peer, "")?))
    };
    suite.searches.iter().map(record).collect()
}

/// Checks that a log has the cases of this sweep.
///
/// # Errors
/// Fails if the log cannot be read or has other cases.
pub fn check_log(raw: &Path, request: &Request) -> Result<(), UsageError> {
    let log: Log = Log::open("--output", raw)?;
    let keys = |plan: &Plan| plan.cases().map(|it| it.case.key()).collect::<Vec<_>>();
    if keys(&log.header.plan) == keys(&request.plan) {
        return Ok(());
    }
    let problem = "it is of a sweep with other cases; choose another directory";
    Err(UsageError::flag("--output", &raw.display(), problem))
}

/// Returns the numbers of sweeps and searches as text.
pub fn parts(requests: &[Request], searches: &[Record]) -> String {
    let sweeps = counted(requests.len(), "sweep");
    match searches.len() {
        0 => sweeps,
        1 => format!("{sweeps}, 1 search"),
        many => format!("{sweeps}, {many} searches"),
    }
}

/// Returns the expected total time.
pub fn expected_time(requests: &[Request], searches: &[Record]) -> Duration {
    let sweeps = requests.iter();
    let sweeps = sweeps.map(|request| request.schedule.expected_time(&request.plan));
    let searches = searches.iter().map(|record| record.expected_time().0);
    sweeps.chain(searches).sum()
}

fn measuring(own: MeasuringArgs, typed: &MeasuringArgs) -> MeasuringArgs {
    MeasuringArgs {
        duration: typed.duration.or(own.duration),
        rounds: typed.rounds.or(own.rounds),
        until: typed.until.or(own.until),
        max_time: typed.max_time.or(own.max_time),
        warmup: typed.warmup.or(own.warmup),
        heat: typed.heat.or(own.heat),
        power_command: typed.power_command.clone().or(own.power_command),
        seed: typed.seed.or(own.seed),
        no_reference: typed.no_reference || own.no_reference,
        verify: typed.verify || own.verify,
        full: typed.full || own.full,
        quick: typed.quick || own.quick,
        #[cfg(feature = "calibration")]
        delay: typed.delay.clone(),
    }
}
