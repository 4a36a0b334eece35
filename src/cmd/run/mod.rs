//! `udpbench` and `udpbench run`: the sweep.

pub mod live;
mod outputs;

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use indicatif::{FormattedDuration, ProgressBar, ProgressState, ProgressStyle};

use self::outputs::Outputs;
use super::plan::summary;
use super::say;
use crate::VERSION;
use crate::board::Detected;
use crate::case::Buffer;
use crate::check::{Finding, Gravity, Subject};
use crate::cli::RunArgs;
use crate::record::{Environment, Record, Status};
use crate::request::Request;
use crate::sample::Sample;
use crate::sink::table;
use crate::sweep::{self, Ending, Journal};
use crate::sys::interrupt::Interrupt;
use crate::sys::{limits, pace};

/// Runs the sweep.
///
/// # Errors
/// Bad input, an output that cannot be made or written, or standard output that is gone.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let request = Request::new(args)?;
    let started_at = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let findings = findings(&request);
    let environment = environment(&request, &findings);
    // Before the first file is there: whoever sees it may press Ctrl-C and expect it to be finished.
    let interrupt = Interrupt::on_signals().context("cannot handle Ctrl-C")?;
    let outputs = Outputs::create(args, &request, &started_at, &environment)?;
    limits::raise_open_files();
    introduce(&request, &outputs, &findings);

    let mut desk = Desk::new(outputs, &request);
    let ending = sweep::run(
        &request.plan,
        &request.schedule,
        &environment,
        &interrupt,
        &mut desk,
    );
    desk.finish();
    match ending? {
        Ending::Interrupted => {
            let left = request.plan.cases().count() - desk.rows.len();
            say(&format!(
                "interrupted: {left} cases have no row; what was measured is kept"
            ));
            let signal = interrupt.signal().unwrap_or_default();
            Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)))
        }
        Ending::Complete => Ok(exit_code(&desk.rows)),
    }
}

fn exit_code(rows: &[Record]) -> ExitCode {
    let failed = rows
        .iter()
        .filter(|row| row.status == Status::Failed)
        .count();
    if failed > 0 {
        say(&format!(
            "{failed} of {} cases failed: the column `reason` says why",
            rows.len()
        ));
        ExitCode::FAILURE
    } else if rows.iter().all(|row| row.status == Status::Skipped) {
        say("nothing could run: the column `reason` says why");
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn environment(request: &Request, findings: &[Finding]) -> Environment {
    let board = &request.detected.board;
    let cpus: Vec<usize> = request.host.cpus.iter().map(|cpu| cpu.id).collect();
    let spoils = |finding: &&Finding| finding.gravity == Gravity::Spoils;
    let unfit = findings.iter().filter(spoils);
    Environment {
        board: board.name.clone(),
        warmup_ms: milliseconds(request.schedule.settings.warmup),
        seed: request.schedule.seed,
        version: VERSION.to_owned(),
        paces: pace::of_all(&cpus),
        throttles_from_c: board.throttle.map(|throttle| throttle.from_c),
        unfit: unfit.map(|finding| finding.seen.clone()).collect(),
        ..Environment::of(&request.host)
    }
}

/// To the microsecond.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
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
    let spoils = |finding: &&Finding| finding.gravity == Gravity::Spoils;
    for finding in findings.iter().filter(spoils) {
        say(&format!("warning: {}", finding.seen));
        for line in finding.cure.lines() {
            say(&format!("   cure: {line}"));
        }
    }
}

/// All windows take the same time, so the time left is known and need not be estimated.
fn style(time_per_window: Duration) -> ProgressStyle {
    let left = move |state: &ProgressState, out: &mut dyn fmt::Write| {
        let windows = state.len().unwrap_or_default().saturating_sub(state.pos());
        let left = time_per_window * u32::try_from(windows).unwrap_or(u32::MAX);
        let _ = write!(out, "{} left", FormattedDuration(left));
    };
    ProgressStyle::with_template("{wide_bar} {percent:>3} % {left:>13}  {msg:36!}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", left)
}

/// Where the sweep's news arrive: kept in the outputs, shown as progress.
struct Desk {
    outputs: Outputs,
    bar: ProgressBar,
    rows: Vec<Record>,
}

impl Desk {
    fn new(outputs: Outputs, request: &Request) -> Self {
        // Draws on standard error, and only if that is a terminal.
        let bar = ProgressBar::new(request.windows());
        bar.set_style(style(request.time_per_window()));
        Self {
            outputs,
            bar,
            rows: Vec::new(),
        }
    }

    /// Takes the progress away and shows the table.
    fn finish(&self) {
        self.bar.finish_and_clear();
        let table = table::draw(&self.rows);
        if !self.outputs.to_stdout {
            // Whoever closed the pipe does not want it; how the sweep ended is not theirs to decide.
            let _ = io::stdout().lock().write_all(table.as_bytes());
        } else if io::stderr().is_terminal() {
            say(&table);
        }
    }
}

impl Journal for Desk {
    fn doing(&mut self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    fn waiting(&mut self, what: &str) {
        // On a terminal the bar says it; elsewhere nothing else would.
        if self.bar.is_hidden() {
            say(what);
        }
    }

    fn window(&mut self, sample: &Sample) -> anyhow::Result<()> {
        self.bar.inc(1);
        self.outputs.window(sample)
    }

    fn verified(&mut self, sample: &Sample) -> anyhow::Result<()> {
        self.outputs.window(sample)
    }

    fn lost_windows(&mut self, windows: u32) {
        self.bar.inc(windows.into());
    }

    fn rows(&mut self, rows: Vec<Record>) -> anyhow::Result<()> {
        self.outputs.rows(&rows)?;
        self.rows.extend(rows);
        Ok(())
    }
}
