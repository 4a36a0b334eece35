//! `udpbench --suite`: runs several sweeps and searches in turn and writes a page. `udpbench suites` lists the suites,
//! or shows one.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::remote_host::RemoteHost;
use super::session::Outcome;
use super::{about, find, measuring, run};
use crate::cli::options::Request;
use crate::cli::options::suite::{
    check_log, expected_time, left_out, options, parts, requests, search, searches,
};
use crate::cli::{RunArgs, SuitesArgs};
use crate::error::UsageError;
use crate::experiment::find::Record;
use crate::experiment::suite::{self, Suite, SuitePart};
use crate::log::name::{default_path, now};
use crate::results::export::is_stdout;
use crate::sys::interrupt::Interrupt;
use crate::term::output::{say, show, show_file, width};
use crate::term::{fold, shell};

/// Runs the sweeps and searches of a suite, or without `--suite` the sweep. Interrupted ones are resumed.
///
/// # Errors
/// Fails if a sweep or search returns an error, if the directory cannot be created, or if it has logs of other
/// experiments.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    match &args.suite {
        Some(name) => measuring(|interrupt| measure(args, name, interrupt)),
        None => run::run(args),
    }
}

fn measure(args: &RunArgs, name: &str, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let mut other = RemoteHost::of_sweep(args, interrupt)?;
    let suite = suite::find("--suite", name)?;
    // All errors in the options are reported before the first sweep runs.
    let peer = other.as_ref().map(|other| &other.peer);
    let requests = requests(&suite, args, peer)?;
    let searches = searches(&suite, args, peer)?;
    let directory = directory(args, &suite, &requests)?;
    let sweeps = suite.sweeps.iter();
    let sweeps = sweeps.map(|sweep| options(sweep, args, &directory, peer));
    let sweeps: Vec<RunArgs> = sweeps.collect::<anyhow::Result<_>>()?;
    for (sweep, request) in sweeps.iter().zip(&requests) {
        if let Some(raw) = &sweep.output.resume {
            check_log(raw, request)?;
        }
    }
    if !args.output.quiet {
        introduce(&suite, &requests, &searches, &directory);
    }
    let mut outcome = Outcome::Done;
    for (sweep, own) in suite.sweeps.iter().zip(&sweeps) {
        announce(args, sweep);
        let request =
            |other: Option<&mut RemoteHost>| Ok(Request::new(own, other.map(|other| &other.peer))?);
        let ended = run::sweep(own, interrupt, other.as_mut(), request);
        match part(ended, &directory)? {
            Outcome::Done => {}
            interrupted @ Outcome::Interrupted(_) => return Ok(interrupted),
            _ => outcome = Outcome::Failed,
        }
    }
    for of in &suite.searches {
        announce(args, of);
        let peer = other.as_ref().map(|other| &other.peer);
        let what = search(of, args, &directory, peer)?;
        let ended = find::search_on(&what, interrupt, other.as_mut());
        match part(ended, &directory)? {
            Outcome::Done | Outcome::Inconclusive => {}
            interrupted @ Outcome::Interrupted(_) => return Ok(interrupted),
            _ => outcome = Outcome::Failed,
        }
    }
    #[cfg(feature = "report")]
    write_page(&suite, sweeps, &directory)?;
    Ok(outcome)
}

/// Writes the report page.
#[cfg(feature = "report")]
fn write_page(suite: &Suite, sweeps: Vec<RunArgs>, directory: &Path) -> anyhow::Result<()> {
    let logs = suite.searches.iter();
    let logs = logs.map(|of| directory.join(format!("{}.jsonl", of.name)));
    let files = sweeps.into_iter().filter_map(|sweep| sweep.output.output);
    super::report::run(&crate::cli::ReportArgs {
        files: files.chain(logs).collect(),
        output: directory.join("report.html"),
        overwrite: false,
        suite: Some(suite.name.clone()),
    })?;
    Ok(())
}

/// Passes the outcome of one part on. If the part did not finish, says how to resume the whole suite.
fn part(ended: anyhow::Result<Outcome>, directory: &Path) -> anyhow::Result<Outcome> {
    if !matches!(ended, Ok(Outcome::Done | Outcome::Failed)) {
        let shown = shell::path(directory);
        say(&format!(
            "the whole suite goes on with the same command and -o {shown}"
        ));
    }
    ended
}

fn announce(args: &RunArgs, sweep: &SuitePart) {
    if !args.output.quiet {
        say("");
        say(&format!("== {}: {}", sweep.name, sweep.about));
    }
}

/// Creates the directory of the suite's files and returns its path.
fn directory(args: &RunArgs, suite: &Suite, requests: &[Request]) -> Result<PathBuf, UsageError> {
    let directory = match &args.output.output {
        Some(path) if is_stdout(path) => {
            let fix = "a suite has several files: name a directory";
            return Err(UsageError::flag("--output", "-", fix));
        }
        Some(path) => path.clone(),
        None => {
            let board = requests.first().map(|it| it.detected.board.name.as_str());
            let suffix = format!("-{}", suite.name);
            default_path(&now(), board.unwrap_or_default(), &suffix)?
        }
    };
    fs::create_dir_all(&directory).map_err(|error| {
        let problem = format!("no directory can be made there: {error}; choose another place");
        UsageError::flag("--output", &directory.display(), problem)
    })?;
    Ok(directory)
}

fn introduce(suite: &Suite, requests: &[Request], searches: &[Record], directory: &Path) {
    say(&format!("{}: {}", suite.name, suite.title));
    say(&format!("from {}", suite.source));
    for (engine, why) in left_out(suite) {
        say(&format!("without {engine}: {why}"));
    }
    say(&format!(
        "{}, {}; results in {}",
        parts(requests, searches),
        about(expected_time(requests, searches)),
        directory.display()
    ));
}

/// Lists the suites, or shows the file of one.
///
/// # Errors
/// Fails if the name is unknown or standard output cannot be written.
pub fn show_suites(args: &SuitesArgs) -> anyhow::Result<ExitCode> {
    match &args.name {
        Some(name) => {
            let suite = suite::find("suites", name)?;
            show_file(suite::source(&suite.name).unwrap_or_default())?;
        }
        None => show(&list(&suite::all()))?,
    }
    Ok(ExitCode::SUCCESS)
}

const HOW: &str = "
udpbench --suite NAME       runs one
udpbench plan --suite NAME  says what that is, and how long it takes
udpbench suites NAME        shows its file
";

fn list(suites: &[Suite]) -> String {
    let mut text = String::new();
    for suite in suites {
        let all = suite.sweeps.iter().chain(&suite.searches);
        let parts: Vec<&str> = all.map(|sweep| &*sweep.name).collect();
        let _ = writeln!(text, "{}", suite.name);
        let (title, source) = (&suite.title, &suite.source);
        let lines = format!(
            "  {title}\n  sweeps: {}\n  from {source}\n",
            parts.join(", ")
        );
        text += &fold::text(&lines, width().into());
    }
    text + HOW
}
