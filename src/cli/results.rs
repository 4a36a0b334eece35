//! The subcommands that read results: what was typed, nothing else.

use std::path::PathBuf;

use clap::Args;

/// The options of `summarize`.
#[derive(Args, Debug)]
pub struct SummarizeArgs {
    /// The raw samples of a run (.jsonl)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
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
    /// The page, or - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Overwrites FILE even if it is no earlier report
    #[arg(long)]
    pub force: bool,
}
