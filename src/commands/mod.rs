//! The subcommands, a file or a directory each. Each `run` returns the exit code. This file has what they share:
//! opening results, and writing messages to standard error and answers to standard output.

pub mod ab;
pub mod agent;
pub mod boards;
pub mod check;
pub mod compare;
pub mod engines;
pub mod files;
pub mod find;
pub mod latency;
pub mod listen;
#[cfg(feature = "manual")]
pub mod manual;
pub mod plan;
pub mod rank;
mod remote_host;
#[cfg(feature = "report")]
pub mod report;
pub mod run;
mod session;
pub mod soak;
mod start_time;
pub mod suite;
pub mod summarize;
pub mod tuning;
pub mod watch;
pub mod wire;

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::ops::RangeInclusive;
use std::process::ExitCode;

use anstream::AutoStream;
use anyhow::Context;
use console::Term;
use serde_json::Value;

use self::session::{Outcome, interrupted};
use crate::cli::as_typed;
use crate::results::export::table::WIDTH;
use crate::results::export::{Conclusion, Format, Grading, to_stdout, written_to_stdout};
use crate::results::files::Results;
use crate::results::log::Run;
use crate::results::row::{Row, Status};
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::term::escape;
use crate::term::fold;
use crate::text::duration::about;
use crate::verdict::quality::Quality;
use crate::verdict::rank::{Answer, By};

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
    Some(board.answer(By::Both))
}

/// Installs the handlers of Ctrl-C and other termination signals, and returns the flag that they set. Call it before
/// the first file is created: from then on, Ctrl-C must leave the file complete.
///
/// # Errors
/// Fails if the system refuses a signal handler.
fn interrupt_on_signals() -> anyhow::Result<Interrupt> {
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

/// Writes a line for people to standard error. A closed standard error is no failure. All messages go through this
/// function. It escapes control characters, so a file's name or text cannot control the terminal. On a terminal, the
/// line is wrapped at words. Elsewhere it stays whole.
pub fn say(line: &str) {
    let line = escape::line(line);
    let line = as_typed(&line);
    let line = folded(&line, &Term::stderr());
    let _ = writeln!(io::stderr(), "{line}");
}

/// Range that known widths are clamped to, in columns.
const WIDTHS: RangeInclusive<u16> = 60..=120;

/// Returns the width of an output stream, in columns: of its terminal, or `COLUMNS` if it is none. `None`: it is a file
/// or a pipe, and lines stay whole.
fn width_of(term: &Term) -> Option<u16> {
    let terminal = || term.size_checked().map(|(_, columns)| columns);
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    let known = if term.is_term() { terminal() } else { said() };
    known.map(|width| width.clamp(*WIDTHS.start(), *WIDTHS.end()))
}

/// Wraps lines at words if the width of the stream is known.
fn folded<'a>(text: &'a str, term: &Term) -> Cow<'a, str> {
    width_of(term).map_or(text.into(), |width| fold::text(text, width.into()).into())
}

/// Returns whether a line of headings is due before this line of windows: before the first one, and on a terminal before
/// every twentieth.
fn is_header_due(printed: u32) -> bool {
    printed == 0 || (io::stdout().is_terminal() && printed % 20 == 0)
}

/// Returns the width of standard output, in columns, if it is a terminal or `COLUMNS` says it.
fn known_width() -> Option<u16> {
    width_of(&Term::stdout())
}

/// Returns the width of tables on standard output, in columns: the terminal's width. In a pipe, such as to `less`, it
/// is `COLUMNS`, else the width of the terminal at standard error, else 100.
pub fn width() -> u16 {
    let stderr = Term::stderr();
    let at_stderr = || width_of(&stderr).filter(|_| stderr.is_term());
    known_width().or_else(at_stderr).unwrap_or(WIDTH)
}

/// Writes text for people to standard output. On a terminal, lines are wrapped at words. A closed pipe is no error:
/// `udpbench engines | head -1` has the line that it wants.
///
/// # Errors
/// Fails if standard output cannot be written for another reason than a closed pipe.
pub fn show(text: &str) -> anyhow::Result<()> {
    show_to_reader(text).map(drop)
}

/// Writes text with colours to standard output. The text must already be escaped, as results are when they are read. A
/// closed pipe is no error: the reader's exit must not change the exit code.
///
/// # Errors
/// Fails if standard output cannot be written for another reason than a closed pipe.
fn show_in_colours(text: &str) -> anyhow::Result<()> {
    print(AutoStream::auto(io::stdout()), &as_typed(text)).map(drop)
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

/// Writes the text of a file to standard output, with control characters escaped and without wrapping lines.
///
/// # Errors
/// Fails if standard output cannot be written for another reason than a closed pipe.
fn show_file(text: &str) -> anyhow::Result<()> {
    print(io::stdout(), &escape::text(text)).map(drop)
}

/// Writes text for people to standard output and returns whether the reader is still there.
///
/// # Errors
/// Fails if standard output cannot be written for another reason than a closed pipe.
fn show_to_reader(text: &str) -> anyhow::Result<bool> {
    let text = escape::text(text);
    print(io::stdout(), &folded(&as_typed(&text), &Term::stdout()))
}

fn print(mut stdout: impl Write, text: &str) -> anyhow::Result<bool> {
    let shown = stdout.write_all(text.as_bytes());
    match shown.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        shown => written_to_stdout(shown).map(|()| true),
    }
}
