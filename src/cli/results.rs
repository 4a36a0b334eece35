//! The subcommands that read results: what was typed, nothing else.

use std::collections::HashSet;
use std::path::PathBuf;
use std::slice;

use clap::{Args, ValueEnum, ValueHint};

use crate::error::UsageError;
use crate::results::export::Format;
use crate::results::export::selection::ColumnSet;
use crate::results::files::log_of;
use crate::term::escape;
use crate::text::number::within;
use crate::verdict::judge::{self, Criterion, Threshold};
use crate::verdict::rank;

/// The options of `summarize`.
#[derive(Args, Debug)]
pub struct SummarizeArgs {
    /// The log (.jsonl) of a sweep, a search or a comparison, or a file beside it (.csv)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// table, csv, json, jsonl, markdown [default: by --output, else csv]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// CSV with semicolons and decimal commas
    ///
    /// For spreadsheets that write 1,5 for 1.5
    #[arg(long)]
    pub decimal_comma: bool,
    /// Shows only what may mislead about the numbers
    #[arg(long, conflicts_with_all = ["format", "columns", "output", "decimal_comma"])]
    pub warnings: bool,
    /// Columns of CSV: short, all [default: short]
    #[arg(long, value_name = "WHICH", hide_possible_values = true)]
    pub columns: Option<ColumnSet>,
    /// A new file, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
}

/// Form of answers on standard output.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct ShapeArgs {
    /// Format of the answers: table, csv, json, jsonl, markdown
    ///
    /// csv and json have one row per engine and case
    #[arg(
        long,
        help_heading = "Output",
        value_enum,
        value_name = "FORMAT",
        hide_possible_values = true,
        default_value_t
    )]
    format: Format,
    /// With --format csv: semicolons and decimal commas
    ///
    /// For spreadsheets that write 1,5 for 1.5
    #[arg(long, help_heading = "Output")]
    decimal_comma: bool,
}

impl ShapeArgs {
    /// Returns the form that was asked for.
    ///
    /// # Errors
    /// Fails for decimal commas in another format than CSV.
    pub fn shape(self) -> Result<Format, UsageError> {
        self.format.with_decimal_comma_if(self.decimal_comma)
    }
}

/// The options of `compare`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/compare.txt").trim_end(), override_usage = "udpbench compare [OPTIONS] BEFORE... [-- AFTER...]")]
pub struct CompareArgs {
    /// Runs before the change: logs (.jsonl), or files beside them (.csv)
    #[arg(value_name = "BEFORE", required = true)]
    pub before: Vec<PathBuf>,
    /// Runs after it; with one run on each side, -- may be left out
    #[arg(value_name = "AFTER", last = true)]
    pub after: Vec<PathBuf>,
    /// Question, and form of the results.
    #[command(flatten)]
    pub asked: AskedArgs,
}

impl CompareArgs {
    /// Returns the files before and after.
    ///
    /// # Errors
    /// Fails if one cannot tell them apart.
    pub fn sides(&self) -> Result<[&[PathBuf]; 2], UsageError> {
        // Twice the same run is no more evidence, and never differs from itself.
        let mut seen = HashSet::new();
        let mut is_seen = |path: &&PathBuf| {
            let log = log_of(path).unwrap_or_else(|_| (*path).clone());
            !seen.insert(log.canonicalize().unwrap_or(log))
        };
        if let Some(path) = self.before.iter().chain(&self.after).find(&mut is_seen) {
            let problem = "this run is given twice; give each run once";
            return Err(UsageError::flag("compare", &escape::name(path), problem));
        }
        match (&self.before[..], &self.after[..]) {
            ([before, after], []) => Ok([before, after].map(slice::from_ref)),
            (before, []) => {
                let files: Vec<_> = before.iter().map(|path| path.to_string_lossy()).collect();
                let fix = "say which runs are before and which after the change: compare BEFORE... -- AFTER...";
                Err(UsageError::flag("compare", &files.join(" "), fix))
            }
            (before, after) => Ok([before, after]),
        }
    }
}

/// Question about two sides, and form of the results.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct AskedArgs {
    /// Smallest change that counts
    ///
    /// A verdict has to be sure that the change is larger, or smaller
    #[arg(
        long,
        value_name = "PCT",
        default_value_t,
        allow_negative_numbers = true
    )]
    pub threshold: Threshold,
    /// Measure of the comparison
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub by: judge::Metric,
    /// Shows every part and case, not only those that changed
    #[arg(long)]
    pub details: bool,
    /// Exit code 0 instead of 4: inconclusive
    #[arg(long, value_enum, value_name = "WHAT")]
    pub accept: Option<Accept>,
    /// Form of the answers.
    #[command(flatten)]
    pub form: ShapeArgs,
}

impl AskedArgs {
    /// Returns the question.
    pub fn question(&self) -> Criterion {
        Criterion {
            by: self.by,
            threshold: self.threshold,
        }
    }
}

/// Outcome that is no failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Accept {
    /// Nothing is surely slower, but some engine may be
    Inconclusive,
}

/// The options of `rank`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/rank.txt").trim_end())]
pub struct RankArgs {
    /// Logs (.jsonl), or files beside them (.csv); cases in several runs of a machine are averaged
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// speed (datagrams received), cpu (CPU time per datagram), or both
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "both",
        hide_possible_values = true
    )]
    pub by: rank::RankBy,
    /// Number of engines that each list shows
    #[arg(long, value_name = "N", default_value = "3", value_parser = within(1_u16..=1000), allow_negative_numbers = true)]
    pub top: u16,
    /// Shows the engines of each group of comparable rows, and all of them over all groups
    #[arg(long)]
    pub details: bool,
}

/// The options of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Logs (.jsonl), or files beside them (.csv); the first is the baseline of the others
    ///
    /// Logs of udpbench find and udpbench ab have their own sections
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The page, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,
    /// Overwrites FILE even if it is not a report
    #[arg(long)]
    pub overwrite: bool,
    /// The suite whose sweeps wrote the files
    ///
    /// The page compares nothing
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
}
