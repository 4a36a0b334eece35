//! `udpbench summarize`: the results again, from the raw samples or from rows, in the format that is asked for.

use std::path::Path;
use std::process::ExitCode;

use crate::cli::{Shape, SummarizeArgs};
use crate::error::UsageError;
use crate::experiment::register::Answers;
use crate::results::export::output_file::OutputFile;
use crate::results::export::selection::Selection;
use crate::results::export::{Format, contradiction, is_stdout, table, to_stdout};
use crate::results::files::Results;

/// Reads the file and writes its rows.
///
/// # Errors
/// A file that cannot be read, a format that contradicts the name of the output or is not to be had, an output
/// that exists; or one that cannot be written.
pub fn run(args: &SummarizeArgs) -> anyhow::Result<ExitCode> {
    let shape = choose(args)?;
    if let Some(found) = Answers::open("FILE", &args.file)? {
        let bytes = match shape {
            Shape::Table => found.table(super::width()).into_bytes(),
            Shape::File(format) => format.shape_answers(&found.rows())?,
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
