//! `udpbench summarize`: the results again, from the raw samples or from rows, in the format that is asked for.

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

use super::session::log_file;
use crate::ab::{self, Comparison};
use crate::cli::{Shape, SummarizeArgs};
use crate::compare::table::Detail;
use crate::error::UsageError;
use crate::export::output_file::OutputFile;
use crate::export::selection::Selection;
use crate::export::{Format, contradiction, is_stdout, table, to_stdout};
use crate::find;
use crate::results::Results;
use crate::session::Experiment;

/// Reads the file and writes its rows.
///
/// # Errors
/// A file that cannot be read, a format that contradicts the name of the output or is not to be had, an output
/// that exists; or one that cannot be written.
pub fn run(args: &SummarizeArgs) -> anyhow::Result<ExitCode> {
    let shape = choose(args)?;
    if let Some((table, rows)) = answers(&args.file)? {
        let bytes = match shape {
            Shape::Table => table.into_bytes(),
            Shape::File(format) => format.shape_answers(&rows)?,
        };
        return put(args, shape, &bytes);
    }
    let Results { rows, columns, .. } = super::open_exact(&args.file)?;
    let columns = match args.columns {
        Some(asked) => Selection::of_rows(asked, &rows),
        None => columns,
    };
    let bytes = match shape {
        Shape::Table => table::draw(&rows, super::width()).into_bytes(),
        Shape::File(format) => format.shape(&rows, &columns, super::advice)?,
    };
    put(args, shape, &bytes)
}

/// What the log of a search or of a comparison says, for people and for programs. `None`: it is none.
fn answers(path: &Path) -> anyhow::Result<Option<(String, Vec<Value>)>> {
    if log_file::is_of::<find::log::Header>(path) {
        let record = find::Record::of(&log_file::read("FILE", path)?)?;
        let table = find::table::draw(&record, super::width());
        return Ok(Some((table, find::rows::rows(&record))));
    }
    if log_file::is_of::<ab::log::Header>(path) {
        let Comparison {
            record, question, ..
        } = Comparison::of(&log_file::read("FILE", path)?)?;
        let judgement = ab::judge(&record, question);
        let table = ab::table::draw(&record, &judgement, Detail::Changes, super::width());
        return Ok(Some((table, ab::rows::rows(&judgement))));
    }
    Ok(None)
}

fn put(args: &SummarizeArgs, shape: Shape, bytes: &[u8]) -> anyhow::Result<ExitCode> {
    if is_stdout(&args.output) {
        match shape {
            Shape::Table => super::show_in_colours(&String::from_utf8_lossy(bytes))?,
            Shape::File(_) => to_stdout(bytes)?,
        }
    } else {
        write(&args.output, bytes)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn choose(args: &SummarizeArgs) -> Result<Shape, UsageError> {
    let asked = match args.format {
        Some(Shape::Table) => {
            return match Format::of_name(&args.output)? {
                Some(_) => Err(contradiction("table", &args.output)),
                None => Ok(Shape::Table),
            };
        }
        Some(Shape::File(format)) => Some(format),
        None => None,
    };
    Format::choose(asked, &args.output).map(Shape::File)
}

fn write(output: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let mut file = OutputFile::create("--output", output)?;
    let written = file.replace(bytes);
    if written.is_err() {
        // It is empty: its results are where they were.
        file.remove();
    }
    written
}
