//! Output of results. Each format is one file here, which turns [`Row`]s into bytes or text.

mod csv;
pub mod json;
pub mod markdown;
pub mod row_file;
pub mod selection;
pub mod table;

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

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
pub type Conclude = Box<dyn Fn(&[Row]) -> Conclusion>;

/// Merges JSON objects into one row that has the columns of all of them.
pub(crate) fn row_of(parts: &[Value]) -> Value {
    let columns = parts.iter().filter_map(Value::as_object).flatten();
    let columns = columns.map(|(name, value)| (name.clone(), value.clone()));
    Value::Object(columns.collect())
}

/// Form of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, on a terminal
    #[default]
    Table,
    /// A header, then a line per row
    Csv,
    /// CSV for spreadsheets that write 1,5 for 1.5, with semicolons between the cells
    #[value(skip)]
    CsvDecimalComma,
    /// An object: what is concluded, and the rows
    Json,
    /// An object per line for each row, on standard output, as soon as it is final
    Jsonl,
    /// Tables for an issue or a README
    Markdown,
}

impl Format {
    /// Chooses the format: the one given by name, else the one that the file name indicates, else CSV.
    ///
    /// # Errors
    /// Fails if name and file name contradict each other, if the extension is unknown, or if rows as JSON Lines would
    /// go to a file.
    pub fn choose(asked: Option<Self>, output: &Path) -> Result<Self, UsageError> {
        if asked == Some(Self::Jsonl) && !is_stdout(output) {
            let fix = "writes to standard output only, as files in .jsonl have raw samples; leave --output out";
            return Err(UsageError::flag("--format", "jsonl", fix));
        }
        let named = Self::of_name(output)?;
        match (asked, named) {
            (Some(asked), Some(named)) if asked != named => {
                let problem = format!(
                    "the name {} is of another format; leave --format out, or choose another name",
                    output.display()
                );
                Err(UsageError::flag("--format", &asked.name(), problem))
            }
            (None, None) if output.extension().is_some() => {
                let fix = "no format has names like this; use .csv, .json or .md, or say which it is with --format";
                Err(UsageError::flag("--output", &escape::name(output), fix))
            }
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

    /// Returns the format with decimal commas if they were asked for.
    ///
    /// # Errors
    /// Fails for another format than CSV: programs expect points.
    pub fn with_decimal_comma_if(self, is_asked: bool) -> Result<Self, UsageError> {
        match self {
            _ if !is_asked => Ok(self),
            Self::Csv | Self::CsvDecimalComma => Ok(Self::CsvDecimalComma),
            other => {
                let fix = "--decimal-comma is for csv: leave it out, or use --format csv";
                Err(UsageError::flag("--format", &other.name(), fix))
            }
        }
    }

    /// Returns whether the format is CSV, in either notation.
    pub fn is_csv(self) -> bool {
        matches!(self, Self::Csv | Self::CsvDecimalComma)
    }

    /// Returns whether rows can be appended to a file of this format.
    fn grows(self) -> bool {
        self == Self::Jsonl || self.is_csv()
    }

    /// Encodes rows in this format. CSV has the selected columns only; JSON and Markdown include the conclusion.
    ///
    /// # Errors
    /// Fails if a row cannot be encoded.
    pub fn encode(
        self,
        rows: &[Row],
        selection: &Selection,
        conclude: impl FnOnce(&[Row]) -> Conclusion,
    ) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Table => Ok(table::draw(rows, table::WIDTH).into_bytes()),
            Self::Csv | Self::CsvDecimalComma => csv::table(self, selection.names(), rows),
            Self::Json => Ok(json::document(&conclude(rows), &json::objects(rows)?)?),
            Self::Jsonl => Ok(json::lines(&json::objects(rows)?)?),
            Self::Markdown => Ok(markdown::encode(rows, &conclude(rows)).into_bytes()),
        }
    }

    /// Encodes the results of a search or a comparison in this format. Its rows have columns of their own. Markdown has
    /// the text for people.
    ///
    /// # Errors
    /// Fails if a row cannot be encoded.
    pub fn encode_answers(
        self,
        conclusion: &Conclusion,
        rows: impl FnOnce() -> Vec<Value>,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Table => Ok(text().into_bytes()),
            Self::Csv | Self::CsvDecimalComma => csv::encode(self, &rows()),
            Self::Json => Ok(json::document(conclusion, &rows())?),
            Self::Jsonl => Ok(json::lines(&rows())?),
            Self::Markdown => Ok(markdown::answers(conclusion, &text()).into_bytes()),
        }
    }

    /// Returns the name of the format on the command line.
    fn name(self) -> String {
        let name = self.to_possible_value();
        name.map_or_else(|| "csv".to_owned(), |name| name.get_name().to_owned())
    }
}

/// Returns whether an output path means standard output (`-`).
pub fn is_stdout(output: &Path) -> bool {
    output == Path::new("-")
}
