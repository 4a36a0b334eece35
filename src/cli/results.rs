//! The subcommands that read results: what was typed, nothing else.

use std::path::PathBuf;

use clap::Args;

use crate::compare::{By, Threshold};

/// The options of `summarize`.
#[derive(Args, Debug)]
pub struct SummarizeArgs {
    /// The raw samples of a run (.jsonl)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// The options of `compare`.
#[derive(Args, Debug)]
#[command(after_help = COMPARE_AFTER_HELP)]
pub struct CompareArgs {
    /// What is compared against: results (.csv) or raw samples (.jsonl)
    #[arg(value_name = "BASE")]
    pub base: PathBuf,
    /// What is compared, each against BASE
    #[arg(value_name = "NEW", required = true)]
    pub new: Vec<PathBuf>,
    /// What matters: smaller changes are not reported, however sure they are
    #[arg(
        long,
        value_name = "PCT",
        default_value_t,
        allow_negative_numbers = true
    )]
    pub threshold: Threshold,
    /// What is compared
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub by: By,
    /// Show every case, not only those that changed
    #[arg(long)]
    pub all: bool,
    /// How the answers are printed; csv and json have one row per engine and case
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: ComparisonFormat,
}

/// How the answers of `compare` are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ComparisonFormat {
    /// For people
    #[default]
    Table,
    /// For spreadsheets
    Csv,
    /// For programs
    Json,
}

const COMPARE_AFTER_HELP: &str = "\
Examples:
  udpbench compare before.csv after.csv                 what is faster, what is slower
  udpbench compare before.csv after.csv --threshold 5%  only what changed by 5 % or more
  udpbench compare before.csv after.csv --by cpu        what is cheaper, what is dearer
  udpbench compare a.csv b.csv c.csv --format csv       b and c, each against a, as rows

Verdicts:
  faster, slower     by the threshold or more, and no accident (--by cpu: cheaper, dearer)
  same               whatever changed is less than the threshold, at 95 %
  unclear            it may have changed or not; more --rounds would tell
  not comparable     another board, other buffers, throttled, ...; the reason is below the table
  broken             it worked in BASE and failed in NEW

Exit codes:
  0    nothing slower
  1    something broke
  2    bad input, or nothing in it can be compared
  3    something slower, dearer or broken";

/// The options of `rank`.
#[derive(Args, Debug)]
pub struct RankArgs {
    /// Results (.csv) or raw samples (.jsonl)
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// The options of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Results (.csv) or raw samples (.jsonl); with several, the first is what the others are compared against
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The page
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
}
