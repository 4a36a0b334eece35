//! `udpbench summarize`: writes the results of raw samples or rows again, in another format or with other columns.

use std::process::ExitCode;

use crate::cli::SummarizeArgs;
use crate::experiment::register::ExperimentResults;
use crate::log::output_file::OutputFile;
use crate::results::export::selection::{ColumnSet, Selection};
use crate::results::export::{Format, is_stdout, table};
use crate::results::files::{Results, log_of};
use crate::results::log::Run;
use crate::results::row::Row;
use crate::term::fold;
use crate::term::output::{show_in_colours, to_stdout, width};
use crate::verdict::quality::Quality;

/// Reads the file and writes its rows.
///
/// # Errors
/// Fails if the file cannot be read, if the format contradicts the output's name or is not available, or if the output
/// exists or cannot be written.
pub fn run(args: &SummarizeArgs) -> anyhow::Result<ExitCode> {
    if args.warnings {
        return warnings(args);
    }
    let format = Format::choose(args.format, &args.output)?;
    let format = format.with_decimal_comma_if(args.decimal_comma)?;
    if let Some(found) = ExperimentResults::open("FILE", &log_of(&args.file)?)? {
        let format = if is_summary(args, &found) {
            Format::Table
        } else {
            format
        };
        let text = || found.table(width());
        let bytes = format.encode_answers(&found.conclusion(), || found.rows(), text)?;
        return put(args, format, &bytes);
    }
    let Results {
        rows, columns, run, ..
    } = Results::open(&args.file)?;
    let columns = match args.columns {
        Some(ColumnSet::All) => Selection::all(),
        Some(ColumnSet::Short) | None => columns,
    };
    let bytes = match format {
        Format::Table => draw(&rows, run).into_bytes(),
        format => format.encode(&rows, &columns, |rows| super::conclude(rows, run))?,
    };
    put(args, format, &bytes)
}

/// Returns whether the text for people is shown unless another format was asked for: it has more than the rows.
fn is_summary(args: &SummarizeArgs, found: &ExperimentResults) -> bool {
    let is_asked = args.format.is_some() || args.decimal_comma || !is_stdout(&args.output);
    // A search and a comparison have all of it in their rows.
    let is_in_rows = matches!(
        found,
        ExperimentResults::Search(_) | ExperimentResults::Sides(_)
    );
    !is_in_rows && !is_asked
}

/// Shows the warnings of a sweep. Tables of searches and comparisons always have them.
fn warnings(args: &SummarizeArgs) -> anyhow::Result<ExitCode> {
    let text = match ExperimentResults::open("FILE", &log_of(&args.file)?)? {
        Some(found) => found.table(width()),
        None => table::warnings(&Results::open(&args.file)?.rows, width()),
    };
    put(args, Format::Table, text.as_bytes())
}

/// Draws the table and the answer as the run did with `--explain`.
fn draw(rows: &[Row], run: Run) -> String {
    let (width, room) = (width(), width().into());
    let answer = super::answer(rows, run);
    let answer = answer.map_or_else(String::new, |answer| answer.draw_last(room));
    let quality = fold::text(&format!("quality  {}\n", Quality::of(rows)), room);
    let legend = table::explained(rows, width);
    format!("{}{legend}\n{answer}{quality}", table::draw(rows, width))
}

fn put(args: &SummarizeArgs, format: Format, bytes: &[u8]) -> anyhow::Result<ExitCode> {
    if !is_stdout(&args.output) {
        let mut file = OutputFile::create("--output", &args.output)?;
        if let Err(error) = file.replace(bytes) {
            // The output is still empty. The results are safe in the input file.
            file.remove();
            return Err(error);
        }
    } else if format == Format::Table {
        show_in_colours(&String::from_utf8_lossy(bytes))?;
    } else {
        to_stdout(bytes)?;
    }
    Ok(ExitCode::SUCCESS)
}
