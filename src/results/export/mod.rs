//! Output of results. Each format is one file here, which turns [`Row`]s into bytes or text.

pub(crate) mod circumstances;
pub mod csv;
pub mod displaced;
mod figures;
pub mod json;
pub mod markdown;
pub mod output_file;
pub mod row_file;
pub mod selection;
pub mod table;

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use self::csv::Notation;
use self::selection::Selection;
use crate::error::UsageError;
use crate::results::row::Row;
use crate::term::escape;

/// What is concluded from rows, for formats that have room for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// The answer of a sweep, in lines.
    pub answer: Vec<String>,
    /// The grade of a sweep, and why. `None`: nothing was measured, or it is no sweep.
    pub quality: Option<Grading>,
    /// The verdict of a comparison: `worse`, `unclear` or `not worse`, as its exit code. `None`: nothing was compared.
    pub verdict: Option<&'static str>,
}

impl Conclusion {
    /// Returns the conclusion of a comparison.
    pub fn of_comparison(is_worse: bool, is_inconclusive: bool) -> Self {
        let verdict = match (is_worse, is_inconclusive) {
            (true, _) => "worse",
            (false, true) => "unclear",
            (false, false) => "not worse",
        };
        Self {
            verdict: Some(verdict),
            ..Self::default()
        }
    }
}

/// Grade of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Grading {
    /// `good`, `fair` or `poor`.
    pub grade: String,
    /// The reasons for it.
    pub because: String,
}

/// Function that concludes from the rows of a sweep. A module above this one supplies it.
pub type Conclude = fn(&[Row]) -> Conclusion;

/// Merges JSON objects into one row that has the columns of all of them.
pub(crate) fn row_of(parts: &[Value]) -> Value {
    let columns = parts.iter().filter_map(Value::as_object).flatten();
    let columns = columns.map(|(name, value)| (name.clone(), value.clone()));
    Value::Object(columns.collect())
}

/// Formats of a file of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A header, then a line per row
    Csv,
    /// CSV for spreadsheets that write 1,5 for 1.5, with semicolons between the cells
    #[value(skip)]
    CsvDecimalComma,
    /// An array of rows
    Json,
    /// An object per line for each row, on standard output, as soon as it is final
    Jsonl,
    /// Tables for an issue or a README
    Markdown,
    /// Figures of a sweep for bencher (Bencher Metric Format)
    Bencher,
    /// Figures of a sweep for github-action-benchmark (customSmallerIsBetter)
    GithubActionBenchmark,
    /// Figures of a sweep for LAVA: name, result, value, unit
    Lava,
}

impl Format {
    /// Chooses the format: the one given by name, else the one that the file name indicates, else CSV.
    ///
    /// # Errors
    /// Fails if name and file name contradict each other, if the extension is unknown, or if rows as JSON Lines would
    /// go to a file.
    pub fn choose(asked: Option<Self>, output: &Path) -> Result<Self, UsageError> {
        if asked.is_some_and(Self::is_for_stdout) && !is_stdout(output) {
            let fix = "writes to standard output only, as files in .jsonl have raw samples; leave --output out";
            return Err(UsageError::flag("--format", "jsonl", fix));
        }
        let named = Self::of_name(output)?;
        match (asked, named) {
            (Some(asked), Some(named)) if asked != named && !asked.is_json_for_tools(named) => {
                Err(contradiction(&asked.name(), output))
            }
            (None, None) if output.extension().is_some() => Err(unknown_extension(output)),
            _ => Ok(asked.or(named).unwrap_or(Self::Csv)),
        }
    }

    /// Returns the format that the extension of a file name indicates, if any.
    ///
    /// # Errors
    /// Fails if the extension is that of raw samples, which are no rows.
    pub fn of_name(path: &Path) -> Result<Option<Self>, UsageError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        Ok(match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Some(Self::Csv),
            Some("json") => Some(Self::Json),
            Some("md" | "markdown") => Some(Self::Markdown),
            Some("jsonl") => {
                let fix = "names in .jsonl are for raw samples, which are written beside rows; use .csv, .json or .md, or \
                           --format jsonl alone for rows on standard output";
                return Err(UsageError::flag("--output", &escape::name(path), fix));
            }
            _ => None,
        })
    }

    /// Returns whether the format is one of the tools that read JSON, and the name of a file says JSON.
    fn is_json_for_tools(self, named: Self) -> bool {
        matches!(self, Self::Bencher | Self::GithubActionBenchmark) && named == Self::Json
    }

    /// Returns the format with decimal commas.
    ///
    /// # Errors
    /// Fails for another format than CSV: programs expect points.
    pub fn with_decimal_comma(self) -> Result<Self, UsageError> {
        match self {
            Self::Csv | Self::CsvDecimalComma => Ok(Self::CsvDecimalComma),
            other => Err(decimal_comma_in(&other.name())),
        }
    }

    /// Returns the notation of a CSV. `None`: another format.
    fn notation(self) -> Option<Notation> {
        match self {
            Self::Csv => Some(Notation::Point),
            Self::CsvDecimalComma => Some(Notation::Comma),
            _ => None,
        }
    }

    /// Returns whether the format is CSV, in either notation.
    pub fn is_csv(self) -> bool {
        self.notation().is_some()
    }

    /// Returns whether rows can be appended to a file of this format.
    fn grows(self) -> bool {
        self == Self::Jsonl || self.is_csv()
    }

    /// Returns whether the format is for standard output only.
    pub fn is_for_stdout(self) -> bool {
        self == Self::Jsonl
    }

    /// Encodes rows in this format. CSV has the selected columns only; JSON and Markdown include the conclusion.
    ///
    /// # Errors
    /// Fails if a row cannot be encoded.
    pub fn encode(
        self,
        rows: &[Row],
        selection: &Selection,
        conclude: Conclude,
    ) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Csv | Self::CsvDecimalComma if rows.is_empty() => Ok(Vec::new()),
            Self::Csv => csv::table(Notation::Point, &selection.names(), rows),
            Self::CsvDecimalComma => csv::table(Notation::Comma, &selection.names(), rows),
            Self::Json => Ok(json::document(&conclude(rows), &json::objects(rows)?)?),
            Self::Jsonl => Ok(json::lines(&json::objects(rows)?)?),
            Self::Markdown => Ok(markdown::encode(rows, &conclude(rows)).into_bytes()),
            Self::Bencher => Ok(figures::bencher(rows)?),
            Self::GithubActionBenchmark => Ok(figures::github_action_benchmark(rows)?),
            Self::Lava => Ok(figures::lava(rows).into_bytes()),
        }
    }

    /// Encodes the results of a search or a comparison in this format. Its rows have columns of their own. Markdown has
    /// the text for people.
    ///
    /// # Errors
    /// Fails if a row cannot be encoded, or for a format of figures that only sweeps have.
    pub fn encode_answers(
        self,
        conclusion: &Conclusion,
        rows: impl FnOnce() -> Vec<Value>,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Csv => csv::encode(&rows()),
            Self::CsvDecimalComma => csv::encode_in(Notation::Comma, &rows()),
            Self::Json => Ok(json::document(conclusion, &rows())?),
            Self::Jsonl => Ok(json::lines(&rows())?),
            Self::Markdown => Ok(markdown::answers(conclusion, &text()).into_bytes()),
            Self::Bencher | Self::GithubActionBenchmark | Self::Lava => {
                let fix = "it has the figures of a sweep: use csv, json or markdown, or give the log of a sweep";
                Err(UsageError::flag("--format", &self.name(), fix).into())
            }
        }
    }

    /// Returns the name of the format on the command line.
    fn name(self) -> String {
        let name = self.to_possible_value();
        name.map_or_else(|| "csv".to_owned(), |name| name.get_name().to_owned())
    }
}

/// Returns the error for `--decimal-comma` with another format than CSV.
pub fn decimal_comma_in(format: &str) -> UsageError {
    let fix = "--decimal-comma is for csv: leave it out, or use --format csv";
    UsageError::flag("--format", format, fix)
}

/// Returns whether an output path means standard output (`-`).
pub fn is_stdout(output: &Path) -> bool {
    output == Path::new("-")
}

/// Writes results to standard output. A closed pipe is an error, because its reader got only a part of the results.
/// For text meant for people see [`crate::commands::show`].
///
/// # Errors
/// Fails if the results cannot be written completely.
pub fn to_stdout(results: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    written_to_stdout(stdout.write_all(results).and_then(|()| stdout.flush()))
}

/// Adds to a write error that it happened on standard output.
///
/// # Errors
/// Returns the given error with that context.
pub(crate) fn written_to_stdout(written: io::Result<()>) -> anyhow::Result<()> {
    written.context("cannot write all of it to standard output")
}

/// Returns the error for an output file that exists already or cannot be created.
pub fn cannot_create(flag: &'static str, path: &Path, error: &io::Error) -> UsageError {
    let problem = match error.kind() {
        io::ErrorKind::AlreadyExists => {
            "it exists and is not overwritten; choose another name".to_owned()
        }
        _ => format!(
            "cannot create it: {error}; name a file in a directory that exists and that you may write to"
        ),
    };
    UsageError::flag(flag, &path.display(), problem)
}

fn unknown_extension(output: &Path) -> UsageError {
    let fix =
        "no format has names like this; use .csv, .json or .md, or say which it is with --format";
    UsageError::flag("--output", &escape::name(output), fix)
}

/// Returns the error for a format that contradicts the extension of the output file.
pub fn contradiction(asked: &str, output: &Path) -> UsageError {
    let shown = output.display();
    let problem = format!(
        "the name {shown} is of another format; leave --format out, or choose another name"
    );
    UsageError::flag("--format", asked, problem)
}
