//! The subcommands, a file or a directory each. Each `run` returns the exit code. This file has what they share: what
//! is concluded from rows, and how interrupts end a command.

pub mod ab;
pub mod agent;
pub mod boards;
pub mod check;
pub mod compare;
pub mod engines;
pub mod files;
pub mod find;
pub mod latency;
#[cfg(feature = "manual")]
pub mod manual;
pub mod plan;
pub mod rank;
mod remote_host;
#[cfg(feature = "report")]
pub mod report;
pub mod run;
mod session;
#[cfg(feature = "field")]
pub mod soak;
pub mod suite;
pub mod summarize;
pub mod tuning;
pub mod wire;

use std::process::ExitCode;

use anyhow::Context;
use serde_json::Value;

use self::session::{Outcome, interrupted};
use crate::results::export::{Conclusion, Format, Grading};
use crate::results::files::Results;
use crate::results::log::Run;
use crate::results::row::{Row, Status};
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::term::output::{say, show_in_colours, to_stdout};
use crate::text::duration::about;
use crate::verdict::quality::Quality;
use crate::verdict::rank::{Answer, RankBy};

/// Returns which engine to use, and how good the run is.
fn conclude(rows: &[Row], run: Run) -> Conclusion {
    let is_measured = rows.iter().any(|row| row.status != Status::Skipped);
    let sentences = answer(rows, run).map(|answer| answer.sentences().collect());
    let quality = is_measured.then(|| Quality::of(rows));
    Conclusion {
        answer: sentences.unwrap_or_default(),
        quality: quality.map(|quality| Grading {
            grade: quality.grade.to_string(),
            because: quality.because(),
        }),
        verdict: None,
    }
}

/// Ranks the rows of a run. `None`: nothing can be ranked.
fn answer(rows: &[Row], run: Run) -> Option<Answer> {
    let results = Results {
        rows: rows.to_vec(),
        run,
        ..Results::default()
    };
    let boards = crate::verdict::rank::rank(&[results]);
    let board = boards.iter().find(|board| !board.groups.is_empty())?;
    Some(board.answer(RankBy::Both))
}

/// Installs the handlers of Ctrl-C and other termination signals, and returns the flag that they set. Call it before
/// the first file is created: from then on, Ctrl-C must leave the file complete.
///
/// # Errors
/// Fails if the system refuses a signal handler.
pub fn interrupt_on_signals() -> anyhow::Result<Interrupt> {
    Interrupt::on_signals().context("cannot handle Ctrl-C")
}

/// Runs a measuring command, and returns its exit code: that of the signal if one came before anything was measured.
///
/// # Errors
/// Fails as the command does.
fn measuring(run: impl FnOnce(&Interrupt) -> anyhow::Result<Outcome>) -> anyhow::Result<ExitCode> {
    let interrupt = interrupt_on_signals()?;
    match run(&interrupt) {
        Err(error) if error.is::<Interrupted>() => {
            say("interrupted: nothing is measured yet");
            Ok(interrupted(&interrupt).into())
        }
        ended => Ok(ended?.into()),
    }
}

/// Writes answers to standard output: the text that `draw` returns, or `rows` in another format.
///
/// # Errors
/// Fails if standard output cannot be written.
fn show_answers(
    format: Format,
    conclusion: &Conclusion,
    draw: impl FnOnce() -> String,
    rows: impl FnOnce() -> Vec<Value>,
) -> anyhow::Result<()> {
    match format {
        Format::Table => show_in_colours(&draw()),
        format => to_stdout(&format.encode_answers(conclusion, rows, draw)?),
    }
}
