//! Messages on standard error, and answers on standard output. All of them go through these functions, which escape
//! control characters: a file's name or text cannot control the terminal.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::ops::RangeInclusive;

use anstream::AutoStream;
use anyhow::Context;
use console::Term;

use super::words::as_typed;
use super::{escape, fold};

/// Width of tables where no other is known, in columns.
pub const WIDTH: u16 = 100;
/// Range that known widths are clamped to, in columns.
const WIDTHS: RangeInclusive<u16> = 60..=120;

/// Writes a line for people to standard error. A closed standard error is no failure. On a terminal, the line is
/// wrapped at words. Elsewhere it stays whole.
pub fn say(line: &str) {
    let line = escape::line(line);
    let line = as_typed(&line);
    let line = folded(&line, &Term::stderr());
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes text for people to standard output. On a terminal, lines are wrapped at words. A closed pipe is no error:
/// `udpbench engines | head -1` has the line that it wants.
///
/// # Errors
/// Fails if standard output cannot be written for another reason than a closed pipe.
pub fn show(text: &str) -> anyhow::Result<()> {
    show_to_reader(text).map(drop)
}

/// Writes text as [`show`] does, and returns whether the reader is still there.
///
/// # Errors
/// Fails as [`show`] does.
pub fn show_to_reader(text: &str) -> anyhow::Result<bool> {
    let text = escape::text(text);
    print(io::stdout(), &folded(&as_typed(&text), &Term::stdout()))
}

/// Writes the text of a file to standard output, without wrapping lines.
///
/// # Errors
/// Fails as [`show`] does.
pub fn show_file(text: &str) -> anyhow::Result<()> {
    print(io::stdout(), &escape::text(text)).map(drop)
}

/// Writes text with colours to standard output. The text must already be escaped, as results are when they
/// are read. A closed pipe is no error: the reader's exit must not change the exit code.
///
/// # Errors
/// Fails as [`show`] does.
pub fn show_in_colours(text: &str) -> anyhow::Result<()> {
    print(AutoStream::auto(io::stdout()), &as_typed(text)).map(drop)
}

/// Writes results to standard output. A closed pipe is an error, because its reader got only a part of the results.
///
/// # Errors
/// Fails if the results cannot be written completely.
pub fn to_stdout(results: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(results).and_then(|()| stdout.flush()))
}

/// Returns the width of tables on standard output, in columns: the terminal's width. In a pipe, such as to `less`, it
/// is `COLUMNS`, else the width of the terminal at standard error, else 100.
pub fn width() -> u16 {
    let stderr = Term::stderr();
    let at_stderr = || width_of(&stderr).filter(|_| stderr.is_term());
    known_width().or_else(at_stderr).unwrap_or(WIDTH)
}

/// Returns the width of standard output, in columns, if it is a terminal or `COLUMNS` says it.
pub fn known_width() -> Option<u16> {
    width_of(&Term::stdout())
}

/// Returns whether a line of headings is due before this line of windows: before the first one, and on a terminal
/// before every twentieth.
pub fn is_header_due(printed: u32) -> bool {
    printed == 0 || (io::stdout().is_terminal() && printed % 20 == 0)
}

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

fn print(mut stdout: impl Write, text: &str) -> anyhow::Result<bool> {
    let shown = stdout.write_all(text.as_bytes());
    match shown.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        shown => written(shown).map(|()| true),
    }
}

fn written(done: io::Result<()>) -> anyhow::Result<()> {
    done.context("cannot write all of it to standard output")
}
