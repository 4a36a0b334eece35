//! One file per subcommand. Each returns the exit code.

pub mod ab;
pub mod agent;
mod baselines;
pub mod boards;
pub mod check;
pub mod compare;
#[cfg(feature = "manual")]
pub mod completions;
mod default_name;
pub mod engines;
pub mod files;
pub mod find;
pub mod knob;
pub mod latency;
#[cfg(feature = "manual")]
pub mod manual;
mod other_host;
pub mod plan;
pub mod rank;
pub mod report;
pub mod resume;
pub mod run;
mod session;
pub mod suite;
pub mod suites;
pub mod summarize;
pub mod watch;
pub mod wire;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anstream::AutoStream;
use anyhow::Context;
use console::Term;
use serde_json::Value;

use crate::cli::Shape;
use crate::error::UsageError;
use crate::results::export::table::WIDTH;
use crate::results::export::{Format, to_stdout, written_to_stdout};
use crate::results::files::Results;
use crate::results::row::Row;
use crate::sys::interrupt::Interrupt;
use crate::term::escape;
use crate::term::fold;
use crate::verdict::rank::{Answer, BoardRanking, By};

/// Reads results for people: see [`Row::shown`]. Says what of them is left out.
fn open(path: &Path) -> Result<Results, UsageError> {
    let mut results = open_exact(path)?;
    results.rows = results.rows.iter().map(Row::shown).collect();
    Ok(results)
}

/// The same, with the rows as they are in the file.
fn open_exact(path: &Path) -> Result<Results, UsageError> {
    let results = Results::open(path)?;
    if results.is_torn {
        let name = &results.name;
        say(&format!("{name}: the last line is cut off and left out"));
    }
    if results.rows.iter().any(|row| !row.knows_its_host()) {
        let (name, log) = (&results.name, escape::name(&path.with_extension("jsonl")));
        say(&format!(
            "{name}: the host and its buffers are unknown: it has only the columns that matter most, and {log} does not \
             have its rows"
        ));
    }
    Ok(results)
}

/// What to use, by these rows: lines, below the name of the machine where there are several.
fn advice(rows: &[Row]) -> Vec<String> {
    let answers = answers(rows).into_iter();
    let lines = answers.flat_map(|(machine, answer)| {
        let name = machine.map(|name| format!("{name}:"));
        name.into_iter()
            .chain(answer.sentences())
            .collect::<Vec<_>>()
    });
    lines.collect()
}

/// What to use on each machine, with its name where there are several.
fn answers(rows: &[Row]) -> Vec<(Option<String>, Answer)> {
    let results = Results {
        rows: rows.to_vec(),
        ..Results::default()
    };
    let ranking = crate::verdict::rank::rank(&[results]);
    if ranking.is_empty() {
        return Vec::new();
    }
    let several = ranking.boards.len() > 1;
    let of_board = |board: &BoardRanking| {
        let name = several.then(|| board.machine.to_string());
        (name, board.answer(By::Both))
    };
    ranking.boards.iter().map(of_board).collect()
}

/// The error of a command that was left out with its cargo feature.
#[cfg(not(all(feature = "manual", feature = "report")))]
pub fn not_built(command: &'static str, value: &str, feature: &str) -> UsageError {
    let fix = "use one that was built with it";
    let problem = format!("this udpbench was built without the feature {feature}; {fix}");
    UsageError::flag(command, value, problem)
}

/// `about 1m 20s`, in whole seconds.
fn about(time: Duration) -> String {
    let seconds = Duration::from_secs(time.as_secs().max(1));
    format!("about {}", humantime::format_duration(seconds))
}

/// What Ctrl-C and the like set. To be made before the first file is there: from then on Ctrl-C must leave it complete.
///
/// # Errors
/// What the system said.
fn interrupt_on_signals() -> anyhow::Result<Interrupt> {
    Interrupt::on_signals().context("cannot handle Ctrl-C")
}

/// A line for people, on standard error, which may be closed. All messages pass here, so that no name of a file
/// and no text from one steers the terminal. On one, it is broken at words; elsewhere it stays whole.
pub fn say(line: &str) {
    let line = escape::line(line);
    let line = Width::of(&Term::stderr()).fold(&line);
    let _ = writeln!(io::stderr(), "{line}");
}

/// The same for lines of this program's own, with escape sequences for colours, which are taken out where they do not
/// belong.
///
/// # Errors
/// When they cannot be written.
pub fn say_in_colours(lines: &str) -> io::Result<()> {
    let lines = Width::of(&Term::stderr()).fold(lines);
    AutoStream::auto(io::stderr()).write_all(lines.as_bytes())
}

/// How many columns there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// Of a terminal, or as COLUMNS says.
    Known(u16),
    /// It goes to a file or to another program.
    Usual,
}

/// From how narrow to how wide tables are drawn.
const WIDTHS: std::ops::RangeInclusive<u16> = 60..=120;

impl Width {
    fn of(term: &Term) -> Self {
        let terminal = || term.size_checked().map(|(_, columns)| columns);
        let said = || std::env::var("COLUMNS").ok()?.parse().ok();
        let known = if term.is_term() { terminal() } else { said() };
        known.map_or(Self::Usual, |width| {
            Self::Known(width.clamp(*WIDTHS.start(), *WIDTHS.end()))
        })
    }

    /// Breaks lines at words, where that is known.
    fn fold(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Usual => text.into(),
            Self::Known(width) => fold::text(text, width.into()).into(),
        }
    }
}

/// How wide tables on standard output are, in columns: as the terminal, as COLUMNS says where there is none, or 100.
pub fn width() -> u16 {
    match Width::of(&Term::stdout()) {
        Width::Known(width) => width,
        Width::Usual => WIDTH,
    }
}

/// Text for people, on standard output; on a terminal, lines are broken at words. `udpbench engines | head -1` is no error: the reader has what it wants.
///
/// # Errors
/// When it cannot be written for another reason.
pub fn show(text: &str) -> anyhow::Result<()> {
    show_to_reader(text).map(drop)
}

/// Like [`show`], in colours: of a text that was made safe when it was read. A reader that is gone does not change what
/// is said by the exit code.
///
/// # Errors
/// When it cannot be written for another reason.
fn show_in_colours(text: &str) -> anyhow::Result<()> {
    let mut out = AutoStream::auto(io::stdout());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        shown => written_to_stdout(shown),
    }
}

/// Answers, on standard output: the table that `draw` draws, or rows.
///
/// # Errors
/// When they cannot be written, or not there: see [`refuse_on_stdout`].
fn show_answers(
    shape: Shape,
    draw: impl FnOnce() -> String,
    rows: impl FnOnce() -> Vec<Value>,
) -> anyhow::Result<()> {
    refuse_on_stdout(shape)?;
    match shape {
        Shape::Table => show_in_colours(&draw()),
        Shape::File(format) => to_stdout(&format.shape_answers(&rows())?),
    }
}

/// Refuses what standard output cannot take, before anything is measured.
///
/// # Errors
/// Such as a workbook on a terminal.
fn refuse_on_stdout(shape: Shape) -> Result<(), UsageError> {
    match shape {
        Shape::Table => Ok(()),
        Shape::File(format) => Format::choose(Some(format), Path::new("-")).map(drop),
    }
}

/// The same for the text of a file, whose lines stay whole.
///
/// # Errors
/// As for [`show`].
fn show_file(text: &str) -> anyhow::Result<()> {
    print(&escape::text(text)).map(drop)
}

/// The same. Says whether somebody still reads it.
///
/// # Errors
/// As for [`show`].
fn show_to_reader(text: &str) -> anyhow::Result<bool> {
    print(&Width::of(&Term::stdout()).fold(&escape::text(text)))
}

fn print(text: &str) -> anyhow::Result<bool> {
    let mut stdout = io::stdout().lock();
    let shown = stdout.write_all(text.as_bytes());
    match shown.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        shown => written_to_stdout(shown).map(|()| true),
    }
}
