//! The subcommands that read results: what was typed, nothing else.

use std::path::PathBuf;

use clap::Args;

use crate::rank::By;

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
#[command(after_help = RANK_AFTER_HELP)]
pub struct RankArgs {
    /// Results (.csv) or raw samples (.jsonl); what several files measured on one machine is averaged
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// speed (datagrams received), cpu (CPU time per datagram), or both
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "both",
        hide_possible_values = true
    )]
    pub by: By,
    /// How many engines to show of each setting; over all, it is all of them
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u16).range(1..), allow_negative_numbers = true)]
    pub top: u16,
}

const RANK_AFTER_HELP: &str = "\
Examples:
  udpbench rank results/*.csv           all that was measured, each machine apart
  udpbench rank --by cpu run.csv        the cheapest engines, for a board with other things to do
  udpbench rank --top 1 run.csv | tail  the leaders over all, and what to use

Exit codes:
  0  done
  2  bad input, or nothing in it to rank";

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
