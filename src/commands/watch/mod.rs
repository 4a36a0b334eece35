//! `udpbench watch`: measures one case in endless windows and prints a line for each.

mod columns;
mod summary;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::slice;

use self::columns::{Said, failed};
use self::summary::Summary;
use super::session::interrupted;
use super::{run, say, show_to_reader};
use crate::VERSION;
use crate::cli::WatchArgs;
use crate::cli::options::watch::{Watched, watched};
use crate::data::Sample;
use crate::results::row::{EndedBy, Environment, Outcome, Row, RowInput};
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::trial::NoSample;
use crate::trial::agents::Agents;
use crate::trial::spec::TrialSpec;

/// Lines between two headers on a terminal.
const LINES_PER_HEADER: u32 = 20;

/// Reason why a watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The number of lines given by `--count` is printed.
    Counted,
    /// The reader of standard output is gone.
    Unread,
    /// A signal arrived.
    Interrupted,
}

/// Measures one case again and again and prints a line for each window. Exit code 1: no window could be measured.
///
/// # Errors
/// Fails on bad input, or if standard output cannot be written.
pub fn run(args: &WatchArgs) -> anyhow::Result<ExitCode> {
    let interrupt = super::interrupt_on_signals()?;
    let watched = watched(args)?;
    let findings = run::findings(&watched.request, None);
    introduce(&watched);
    run::warn(&findings);
    let columns = Said::of(&watched.case);
    let mut watch = Watch {
        environment: run::environment(&watched.request, &findings, None),
        agents: run::agents(None, &watched.request.schedule.settings.root, &interrupt).0,
        summary: Summary::new(columns.figures),
        columns,
        watched: &watched,
        interrupt: &interrupt,
    };
    let end = watch.lines(args.count)?;
    if end == End::Interrupted {
        // The terminal echoed ^C into the current line.
        say("");
    }
    if end != End::Unread {
        say(&watch.summary.to_string());
    }
    Ok(match end {
        End::Counted if watch.summary.is_empty() => ExitCode::FAILURE,
        // Ctrl-C is the normal end of a watch, not a failure, as with ping(8).
        End::Interrupted if !interrupt.is_ctrl_c() => interrupted(&interrupt).into(),
        End::Counted | End::Unread | End::Interrupted => ExitCode::SUCCESS,
    })
}

fn introduce(watched: &Watched) {
    let machine = watched.request.detected.machine(&watched.request.host);
    say(&format!("udpbench {VERSION} on {machine}"));
    let (key, placement) = (watched.case.key(), &watched.placement);
    say(&format!("{key} on CPUs {placement}; Ctrl-C ends"));
    for warning in &watched.warnings {
        say(&format!("warning: {warning}"));
    }
}

/// A running watch: the case and the windows so far.
struct Watch<'a> {
    watched: &'a Watched,
    environment: Environment,
    /// The agents. All windows run in one process, so memory placement does not differ between windows.
    agents: Agents<'a>,
    columns: Said,
    summary: Summary,
    interrupt: &'a Interrupt,
}

impl Watch<'_> {
    /// Prints `count` lines, or lines without end if it is `None`.
    fn lines(&mut self, count: Option<u32>) -> anyhow::Result<End> {
        let is_terminal = io::stdout().is_terminal();
        for printed in 0.. {
            if count == Some(printed) {
                break;
            }
            let Ok(line) = self.line() else {
                return Ok(End::Interrupted);
            };
            let is_due = printed == 0 || (is_terminal && printed % LINES_PER_HEADER == 0);
            let header = is_due.then(|| self.columns.header());
            if !show_to_reader(&format!("{}{line}\n", header.unwrap_or_default()))? {
                return Ok(End::Unread);
            }
        }
        Ok(End::Counted)
    }

    /// Measures the next window and returns its line.
    fn line(&mut self) -> Result<String, Interrupted> {
        match self.window() {
            Ok(sample) => {
                let row = self.row(&sample);
                self.summary.take(&row);
                Ok(self.columns.line(&row))
            }
            Err(NoSample::Interrupted) => Err(Interrupted),
            Err(NoSample::Failed(error)) => {
                // A window that fails at once would fill the screen with lines.
                let window = self.watched.request.schedule.settings.window;
                self.interrupt.sleep(window)?;
                self.summary.fail();
                Ok(failed(&format!("{error:#}")))
            }
        }
    }

    fn window(&mut self) -> Result<Sample, NoSample> {
        let Watched {
            request,
            case,
            placement,
            ..
        } = self.watched;
        let settings = &request.schedule.settings;
        let spec = TrialSpec::new(case, placement, settings);
        self.agents.run(&spec)
    }

    /// Returns the row that a sweep of this one window would have.
    fn row(&self, sample: &Sample) -> Row {
        let Watched {
            request,
            case,
            placement,
            ..
        } = self.watched;
        let input = RowInput {
            case,
            engines: request.plan.pair(case),
            pin: placement.to_string(),
            nics: <_>::default(),
            warnings: Vec::new(),
            outcome: Outcome::Complete(EndedBy::Rounds),
            samples: slice::from_ref(sample),
            repeated: &[],
            verified: None,
            reference: &[],
            half: &[],
            others: &[],
            settles_after: None,
            until_pct: None,
        };
        Row::new(&input, &self.environment)
    }
}
