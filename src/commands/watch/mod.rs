//! `udpbench watch`: measures one case in endless windows, or looks at the sockets of another program, and prints a line
//! for each window.

mod columns;
mod program;
mod summary;

use std::process::ExitCode;
use std::slice;
use std::time::Instant;

use self::columns::{WatchColumns, failed};
use self::summary::Summary;
use super::run::{environment, findings, warn};
use super::session::interrupted;
use super::{is_header_due, say, show_to_reader};
use crate::VERSION;
use crate::cli::WatchArgs;
use crate::cli::options::watch::{WatchPlan, plan_watch};
use crate::data::Sample;
use crate::results::row::{EndedBy, Environment, Row, RowInput};
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::trial::agents::Agents;
use crate::trial::spawned::THIS_PROGRAM;
use crate::trial::spec::TrialSpec;

/// Reason why a watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The lines or the time that were asked for are over.
    Complete,
    /// Nobody reads standard output any more.
    PipeClosed,
    /// A signal arrived.
    Interrupted,
    /// There is nothing left to watch.
    Closed,
}

/// Prints the line of one window after the other: `count` of them, or until `end`. `line` returns `None` if there are
/// no more.
fn print_lines(
    count: Option<u32>,
    end: Option<Instant>,
    header: &str,
    mut line: impl FnMut() -> Result<Option<String>, Interrupted>,
) -> anyhow::Result<End> {
    for printed in 0.. {
        if count == Some(printed) || end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        let line = match line() {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(End::Closed),
            Err(Interrupted) => {
                // The terminal echoed ^C into the current line.
                say("");
                return Ok(End::Interrupted);
            }
        };
        let header = if is_header_due(printed) { header } else { "" };
        if !show_to_reader(&format!("{header}{line}"))? {
            return Ok(End::PipeClosed);
        }
    }
    Ok(End::Complete)
}

/// Returns the exit code of a watch, which has `failed` if it measured nothing that was asked for.
fn exit_code(end: End, failed: bool, interrupt: &Interrupt) -> ExitCode {
    match end {
        // Ctrl-C is the normal end of a watch, not a failure, as with ping(8).
        End::Interrupted if !interrupt.is_ctrl_c() => interrupted(interrupt).into(),
        End::Complete | End::Closed if failed => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

/// Measures one case again and again and prints a line for each window. Exit code 1: all windows of `--count` failed.
///
/// # Errors
/// Fails on bad input, or if standard output cannot be written.
pub fn run(args: &WatchArgs) -> anyhow::Result<ExitCode> {
    if let Some(target) = args.program() {
        return program::run(args, target);
    }
    let interrupt = super::interrupt_on_signals()?;
    let plan = plan_watch(args)?;
    let findings = findings(&plan.request, None);
    print_heading(&plan);
    warn(&findings);
    let columns = WatchColumns::of(&plan.case);
    let root = &plan.request.schedule.settings.root;
    let mut watch = Watch {
        environment: environment(&plan.request, &findings, None),
        agents: Agents::new(THIS_PROGRAM.as_ref(), root, None, &interrupt)
            .for_plans(&[&plan.request.plan]),
        summary: Summary::new(columns.figures),
        columns,
        plan: &plan,
        interrupt: &interrupt,
    };
    let header = watch.columns.header();
    let end = args.length.map(|length| Instant::now() + length);
    let end = print_lines(args.count, end, &header, || watch.measure_line().map(Some))?;
    if end != End::PipeClosed {
        say(&watch.summary.to_string());
    }
    Ok(exit_code(end, watch.summary.is_empty(), &interrupt))
}

/// Prints the machine, the case, its CPUs and its warnings.
fn print_heading(plan: &WatchPlan) {
    let machine = plan.request.detected.machine(&plan.request.host);
    say(&format!("udpbench {VERSION} on {machine}"));
    let (case, placement) = (&plan.case, &plan.placement);
    let (label, block, connection) = (case.label(), case.block(), case.connection);
    say(&format!(
        "{label}, {block}, {connection}, on CPUs {placement}; Ctrl-C ends"
    ));
    for advice in &plan.request.advice {
        say(&format!("advice: {advice}"));
    }
    for warning in &plan.warnings {
        say(&format!("warning: {warning}"));
    }
}

/// A running watch: the case and the windows so far.
struct Watch<'a> {
    plan: &'a WatchPlan,
    environment: Environment,
    /// The agent of all windows. Unlike a sweep, a watch has no fresh process for each round, so memory placement does
    /// not differ between windows.
    agents: Agents<'a>,
    columns: WatchColumns,
    summary: Summary,
    interrupt: &'a Interrupt,
}

impl Watch<'_> {
    /// Measures the next window and returns its line.
    fn measure_line(&mut self) -> Result<String, Interrupted> {
        match self.window() {
            Ok(sample) => {
                let row = self.row(&sample);
                self.summary.add(&row);
                Ok(self.columns.line(&row) + "\n")
            }
            Err(error) if error.is::<Interrupted>() => Err(Interrupted),
            Err(error) => {
                // Waits as long as a window, so that instant failures do not flood the screen.
                let window = self.plan.request.schedule.settings.window;
                self.interrupt.sleep(window)?;
                self.summary.fail();
                Ok(failed(&format!("{error:#}")) + "\n")
            }
        }
    }

    fn window(&mut self) -> anyhow::Result<Sample> {
        let plan = self.plan;
        let settings = &plan.request.schedule.settings;
        let spec = TrialSpec::new(&plan.case, &plan.placement, settings);
        self.agents.run(&spec)
    }

    /// Returns the row that a sweep of this one window would have.
    fn row(&self, sample: &Sample) -> Row {
        let plan = self.plan;
        let input = RowInput {
            engines: plan.request.plan.pair(&plan.case),
            pin: Some(&plan.placement),
            schedule: Some(&plan.request.schedule),
            ended: Ok(EndedBy::Rounds),
            samples: slice::from_ref(sample),
            ..RowInput::skipped(&plan.case, String::new())
        };
        Row::new(&input, &self.environment)
    }
}
