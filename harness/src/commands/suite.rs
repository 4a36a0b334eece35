//! `udpbench --suite`: several sweeps, one after the other, and what has been published about the like.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use super::run::{self, Outcome};
use super::{about, open, say, show, width};
use crate::cli::{ReportArgs, RunArgs};
use crate::error::UsageError;
use crate::export::is_stdout;
use crate::options::Request;
use crate::options::suite::{check_log, expected_time, left_out, options, requests};
use crate::rank::table::counted;
use crate::row::Row;
use crate::suite::{self, Suite, Swept, beside, draw};

/// Runs the sweeps of a suite, those that are interrupted from where they were.
///
/// # Errors
/// As of each sweep; a directory that cannot be made, or that has logs of other sweeps.
pub fn run(args: &RunArgs, name: &str) -> anyhow::Result<ExitCode> {
    let suite = suite::find("--suite", name)?;
    // What is wrong with any of them is said before the first runs.
    let requests = requests(&suite, args)?;
    let directory = directory(args, &suite, &requests)?;
    let sweeps = suite
        .sweeps
        .iter()
        .map(|sweep| options(sweep, args, &directory));
    let sweeps: Vec<RunArgs> = sweeps.collect::<anyhow::Result<_>>()?;
    for (sweep, request) in sweeps.iter().zip(&requests) {
        if let Some(raw) = &sweep.output.resume {
            check_log(raw, request)?;
        }
    }
    if !args.output.quiet {
        introduce(&suite, &requests, &directory);
    }
    let interrupt = run::interrupt_on_signals()?;
    let mut outcome = Outcome::Done;
    for (sweep, args) in suite.sweeps.iter().zip(&sweeps) {
        if !args.output.quiet {
            say("");
            say(&format!("== {}: {}", sweep.name, sweep.about));
        }
        let ended = run::sweep(args, &interrupt);
        if !matches!(ended, Ok(Outcome::Done | Outcome::Failed)) {
            say(&format!(
                "the whole suite goes on with the same command and -o {}",
                directory.display()
            ));
        }
        match ended? {
            Outcome::Done => {}
            Outcome::Failed | Outcome::Worse => outcome = Outcome::Failed,
            interrupted @ Outcome::Interrupted(_) => return Ok(interrupted.into()),
        }
    }
    let files = sweeps.into_iter().filter_map(|sweep| sweep.output.output);
    conclude(args, &suite, &directory, files.collect())?;
    Ok(outcome.into())
}

/// Where the files go.
fn directory(args: &RunArgs, suite: &Suite, requests: &[Request]) -> Result<PathBuf, UsageError> {
    let directory = match &args.output.output {
        Some(path) if is_stdout(path) => {
            let fix = "a suite has several files: name a directory";
            return Err(UsageError::flag("--output", "-", fix));
        }
        Some(path) => path.clone(),
        None => {
            let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
            let board = requests
                .first()
                .map_or("", |it| it.detected.board.name.as_str());
            let name = format!("{}-{board}-{}", time.replace(':', ""), suite.name);
            Path::new("results").join(name)
        }
    };
    fs::create_dir_all(&directory).map_err(|error| {
        let problem = format!("no directory can be made there: {error}; choose another place");
        UsageError::flag("--output", &directory.display(), problem)
    })?;
    Ok(directory)
}

fn introduce(suite: &Suite, requests: &[Request], directory: &Path) {
    say(&format!("{}: {}", suite.name, suite.title));
    say(&format!("from {}", suite.source));
    for (engine, why) in left_out(suite) {
        say(&format!("without {engine}: {why}"));
    }
    say(&format!(
        "{}, {}; results in {}",
        counted(requests.len(), "sweep"),
        about(expected_time(requests)),
        directory.display()
    ));
}

/// Says what came of it: beside what has been published, and as a page.
fn conclude(
    args: &RunArgs,
    suite: &Suite,
    directory: &Path,
    files: Vec<PathBuf>,
) -> anyhow::Result<()> {
    let rows: Vec<Vec<Row>> = files
        .iter()
        .map(|file| Ok(open(file)?.rows))
        .collect::<anyhow::Result<_>>()?;
    if cfg!(feature = "report") {
        let page = ReportArgs {
            files,
            output: directory.join("report.html"),
            force: false,
            suite: Some(suite.name.clone()),
        };
        super::report::run(&page)?;
    } else {
        let (name, shown) = (&suite.name, directory.display());
        say(&format!(
            "this udpbench was built without the feature report: for a page, use one with it: udpbench report --suite {name} \
             {shown}/*.csv"
        ));
    }
    let sweeps: Vec<Swept> = rows.iter().map(Vec::as_slice).collect();
    if !args.output.quiet {
        show(&draw(&beside(suite, &sweeps), width()))?;
    }
    Ok(())
}
