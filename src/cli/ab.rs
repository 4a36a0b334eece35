//! `ab`: what was typed, nothing else.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};

use super::{AskedArgs, RemoteArgs};
use crate::experiment::ab::header::MOST_ROUNDS;
use crate::text::duration;
use crate::text::number::within;

/// The options of `ab`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/ab.txt").trim_end())]
pub struct AbArgs {
    /// Sides of the comparison.
    #[command(flatten)]
    pub sides: SidesArgs,
    /// Rounds and time limits.
    #[command(flatten)]
    pub rounds: RoundsArgs,
    /// Question, and form of the results.
    #[command(flatten)]
    pub asked: AskedArgs,
    /// On which host.
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// Files of the log.
    #[command(flatten)]
    pub output: LogArgs,
}

/// Sides of a comparison.
#[derive(Args, Debug)]
#[command(next_help_heading = "What")]
pub struct SidesArgs {
    /// The udpbench of A [default: this one]
    ///
    /// With --on, its path on the other host
    #[arg(value_name = "A", requires = "program_b", value_hint = ValueHint::ExecutablePath)]
    pub program_a: Option<PathBuf>,
    /// The udpbench of B [default: this one]
    #[arg(value_name = "B", value_hint = ValueHint::ExecutablePath)]
    pub program_b: Option<PathBuf>,

    /// Options of A alone, in one word, such as "--rcvbuf 1M"
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub a: Option<String>,
    /// Options of B alone
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub b: Option<String>,
    /// Shell command before each block of A, with --before-b
    ///
    /// It brings the machine into the state that A measures
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "before_b",
        value_hint = ValueHint::CommandString
    )]
    pub before_a: Option<String>,
    /// Shell command before each block of B
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "before_a",
        value_hint = ValueHint::CommandString
    )]
    pub before_b: Option<String>,

    /// Options of both sides
    ///
    /// Parameters, --duration, --warmup, --board, --pin, --quick
    #[arg(last = true, value_name = "OPTIONS")]
    pub both: Vec<String>,
}

/// Rounds and time limits.
#[derive(Args, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct RoundsArgs {
    /// Rounds, 6 or more
    ///
    /// Each has a window of every case on both sides, of 50 ms without --duration
    #[arg(long, value_name = "N", default_value = "20", value_parser = within(6_u32..=MOST_ROUNDS), allow_negative_numbers = true)]
    pub rounds: u32,
    /// Adds rounds until every engine has its verdict
    ///
    /// An engine that has one is not measured any more. Five times the rounds at most
    #[arg(long)]
    pub decide: bool,
    /// Time limit of --decide [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "decide")]
    pub max_time: Option<Duration>,
    /// Seed of the order, to repeat that of an earlier comparison [default: random]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u32>,
}

/// Files of a log.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct LogArgs {
    /// The log of all windows [default: results/TIME-BOARD-ab.jsonl]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Log of the comparison to go on with: see `resume`
    #[arg(skip)]
    pub resume: Option<PathBuf>,
    /// Shows no progress, only errors and the answers
    #[arg(short, long)]
    pub quiet: bool,
}
