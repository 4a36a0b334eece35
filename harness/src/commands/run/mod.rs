//! `udpbench` and `udpbench run`: the sweep.

mod live;
mod outputs;
mod progress;
mod resume;

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, anyhow};

use self::outputs::Outputs;
use self::progress::Progress;
use super::plan::summary;
use super::say;
use crate::VERSION;
use crate::cli::RunArgs;
use crate::data::Buffer;
use crate::log::Event;
use crate::measure::spawned::THIS_PROGRAM;
use crate::options::Request;
use crate::platform::board::Detected;
use crate::platform::check::{Finding, Gravity, Subject};
use crate::replay::Replay;
use crate::row::{Environment, Row, Status, milliseconds};
use crate::sweep::{self, Ending, Journal, Unable};
use crate::sys::interrupt::Interrupt;
use crate::sys::{cpu_speed, limits};

/// Runs the sweep, or goes on with one.
///
/// # Errors
/// Bad input, an output that cannot be made or written, or standard output that is gone.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    // Before the first file is there: from then on Ctrl-C must leave it complete.
    let interrupt = Interrupt::on_signals().context("cannot handle Ctrl-C")?;
    limits::raise_open_files();
    let begun = match &args.output.resume {
        Some(raw) => resume::resume(args, raw)?,
        None => begin(args)?,
    };
    let Begun {
        replay,
        unable,
        mut progress,
    } = begun;
    let planned = replay.header().plan.cases().count();
    let program = Some(Path::new(THIS_PROGRAM));
    let ending = sweep::run(replay, &unable, program, &interrupt, &mut progress);
    progress.finish();
    // What there is goes out however the sweep ended, and why it ended is what is said.
    let finished = progress.outputs.finish();
    let ending = match (ending, finished) {
        (Ok(ending), Ok(())) => ending,
        (Err(error), Ok(())) | (Ok(_), Err(error)) => return Err(broken_off(&progress, error)),
        (Err(first), Err(error)) => {
            say(&format!("error: {first:#}"));
            return Err(broken_off(&progress, error));
        }
    };
    match ending {
        Ending::Interrupted => {
            let left = planned - progress.rows.len();
            let missing = match left {
                0 => "all cases have rows, of fewer rounds".to_owned(),
                _ => format!("{left} cases have no row"),
            };
            say(&format!(
                "interrupted: {missing}; what was measured is kept"
            ));
            if let Some(how) = progress.outputs.resume_command() {
                say(&how);
            }
            let signal = interrupt.signal().unwrap_or_default();
            Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)))
        }
        Ending::Complete => Ok(exit_code(&progress.rows)),
    }
}

/// An error that ended the sweep, with how to go on once its cause is gone.
fn broken_off(progress: &Progress, error: anyhow::Error) -> anyhow::Error {
    match progress.outputs.resume_command() {
        Some(how) => anyhow!("{error:#}; {how}"),
        None => error,
    }
}

/// A sweep, and where its news go.
struct Begun {
    replay: Replay,
    unable: Unable,
    progress: Progress,
}

fn begin(args: &RunArgs) -> anyhow::Result<Begun> {
    let request = Request::new(args)?;
    let started_at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let findings = findings(&request);
    let environment = environment(&request, &findings);
    let outputs = Outputs::create(args, &request.detected.board.name, &started_at)?;
    if !args.output.quiet {
        introduce(&request, &outputs, &findings);
    }
    let header = request.header(args, &started_at, environment);
    let mut progress = Progress::new(outputs, args.output.quiet, &header, 0);
    if let Err(error) = progress.line(&Event::Header(Box::new(header.clone()))) {
        // Nothing was measured: leave no files behind that cannot be resumed.
        progress.outputs.remove();
        return Err(error);
    }
    let replay = Replay::new(header);
    progress.rows(replay.skipped())?;
    Ok(Begun {
        replay,
        unable: Unable::new(),
        progress,
    })
}

fn exit_code(rows: &[Row]) -> ExitCode {
    let failed = rows
        .iter()
        .filter(|row| row.status == Status::Failed)
        .count();
    if failed > 0 {
        say(&format!(
            "{failed} of {} cases failed: see the column `reason`",
            rows.len()
        ));
        ExitCode::FAILURE
    } else if rows.iter().all(|row| row.status == Status::Skipped) {
        say("nothing could run: see the column `reason`");
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn environment(request: &Request, findings: &[Finding]) -> Environment {
    let board = &request.detected.board;
    let cpus: Vec<usize> = request.host.cpus.iter().map(|cpu| cpu.id).collect();
    let is_invalid = |finding: &&Finding| finding.gravity == Gravity::Invalid;
    let unfit = findings.iter().filter(is_invalid);
    Environment {
        board: board.name.clone(),
        warmup_ms: milliseconds(request.schedule.settings.warmup),
        seed: request.schedule.seed,
        version: VERSION.to_owned(),
        paces: cpu_speed::of_all(&cpus),
        throttles_from_c: board.throttle.map(|throttle| throttle.from_c),
        unfit: unfit.map(|finding| finding.seen.clone()).collect(),
        ..Environment::of(&request.host)
    }
}

fn findings(request: &Request) -> Vec<Finding> {
    let settings = &request.schedule.settings;
    let (host, board) = (&request.host, &request.detected.board);
    let asked = request.plan.cases().map(|planned| planned.case.rcvbuf);
    let most = asked.max().unwrap_or(Buffer::DEFAULT);
    Subject::new(host, board, most.into(), &settings.root).findings()
}

fn introduce(request: &Request, outputs: &Outputs, findings: &[Finding]) {
    let Detected { board, because } = &request.detected;
    say(&format!(
        "udpbench {VERSION} on {} ({because})",
        board.title
    ));
    say(&summary(request));
    let seed = request.schedule.seed;
    say(&format!("seed {seed}; results in {}", outputs.shown));
    if let Some(advice) = &request.advice {
        say(&format!("advice: {advice}"));
    }
    let is_invalid = |finding: &&Finding| finding.gravity == Gravity::Invalid;
    for finding in findings.iter().filter(is_invalid) {
        say(&format!("warning: {}", finding.seen));
        for line in finding.fix.lines() {
            say(&format!("   fix: {line}"));
        }
    }
}
