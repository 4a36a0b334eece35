//! The subcommands that read results: what was typed, nothing else.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::sink::Format;

/// The options of `summarize`.
#[derive(Args, Debug)]
pub struct SummarizeArgs {
    /// Results (.csv) or raw samples (.jsonl)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The shape of what is written [default: what the name of --output says, or csv]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Shape>,
    /// A new file, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// What `summarize` can make of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The table that a run prints.
    Table,
    /// What a file of rows may be.
    File(Format),
}

impl ValueEnum for Shape {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Table,
            Self::File(Format::Csv),
            Self::File(Format::Json),
            Self::File(Format::Markdown),
            Self::File(Format::Xlsx),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Table => Some(PossibleValue::new("table").help("The table that a run prints")),
            Self::File(format) => format.to_possible_value(),
        }
    }
}

/// The options of `compare`.
#[derive(Args, Debug)]
pub struct CompareArgs {
    /// What is compared against: results (.csv) or raw samples (.jsonl)
    #[arg(value_name = "BASE")]
    pub base: PathBuf,
    /// What is compared, each against BASE
    #[arg(value_name = "NEW", required = true)]
    pub new: Vec<PathBuf>,
}

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
