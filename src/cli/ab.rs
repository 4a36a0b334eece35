//! `ab`: what was typed, nothing else.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::number::within;
use super::{AskedArgs, RemoteArgs};
use crate::term::duration;

/// The options of `ab`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct AbArgs {
    /// What is held against what.
    #[command(flatten)]
    pub sides: SidesArgs,
    /// How often.
    #[command(flatten)]
    pub rounds: RoundsArgs,
    /// What is asked.
    #[command(flatten)]
    pub asked: AskedArgs,
    /// On which host.
    #[command(flatten)]
    pub link: RemoteArgs,
    /// Where the log goes.
    #[command(flatten)]
    pub output: LogArgs,
}

/// What is held against what.
#[derive(Args, Debug)]
#[command(next_help_heading = "Sides")]
pub struct SidesArgs {
    /// The udpbench that is A, with --on as it is called there [default: this one]
    #[arg(
        help_heading = "Arguments",
        value_name = "A",
        requires = "program_b",
        conflicts_with = "resume"
    )]
    pub program_a: Option<PathBuf>,
    /// The udpbench that is B [default: this one]
    #[arg(help_heading = "Arguments", value_name = "B")]
    pub program_b: Option<PathBuf>,

    /// Options of A alone, in one word, such as "--rcvbuf 1048576"
    #[arg(
        long,
        value_name = "OPTIONS",
        allow_hyphen_values = true,
        conflicts_with = "resume"
    )]
    pub a: Option<String>,
    /// Options of B alone
    #[arg(
        long,
        value_name = "OPTIONS",
        allow_hyphen_values = true,
        conflicts_with = "resume"
    )]
    pub b: Option<String>,
    /// A command of sh that makes the machine what it is to be for A
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "before_b",
        conflicts_with = "resume"
    )]
    pub before_a: Option<String>,
    /// The same for B
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "before_a",
        conflicts_with = "resume"
    )]
    pub before_b: Option<String>,

    /// Options of both sides: what varies, --duration, --warmup, --board, --pin, --quick
    #[arg(
        help_heading = "Arguments",
        last = true,
        value_name = "OPTIONS",
        conflicts_with = "resume"
    )]
    pub both: Vec<String>,
}

/// How often.
#[derive(Args, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct RoundsArgs {
    /// Rounds, each a window of every case on both sides, 6 or more
    #[arg(long, value_name = "N", default_value = "20", value_parser = within(6_u32..=1000), allow_negative_numbers = true, conflicts_with = "resume")]
    pub rounds: u32,
    /// decision: up to five times the rounds, until every case and part has its verdict
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        hide_possible_values = true,
        conflicts_with = "resume"
    )]
    pub until: Option<AbUntil>,
    /// Time limit of --until [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "until", conflicts_with = "resume")]
    pub max_time: Option<Duration>,
    /// Seed of the order, to repeat that of an earlier comparison [default: random]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        conflicts_with = "resume"
    )]
    pub seed: Option<u32>,
}

/// Where the log goes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct LogArgs {
    /// The log: every window, as it was counted [default: results/TIME-BOARD-ab.jsonl]
    #[arg(short, long, value_name = "FILE", conflicts_with = "resume")]
    pub output: Option<PathBuf>,
    /// Goes on with the comparison that wrote this log, or judges it again if it is complete
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// No progress, only errors and the answers
    #[arg(short, long)]
    pub quiet: bool,
}

/// What more rounds are measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AbUntil {
    /// A verdict for each case and part
    Decision,
}

const AFTER_HELP: &str = "\
Examples:
  udpbench ab ./before ./after                          two builds, the default cases
  udpbench ab --a '--rcvbuf 212992' --b '--rcvbuf 4194304' -- --engine std --threads 2
  udpbench ab --a '--engine mio-level' --b '--engine mio-exhaustive' -- --threads 2,4
  udpbench ab --before-a 'sysctl -qw net.core.busy_read=0' --before-b ./busy-read
  udpbench ab ./before ./after --until decision -- --engine std --threads 1

The n-th case of A is held against the n-th of B. A command runs before each block of its side.

Verdicts:
  faster, slower     surely, and not surely by less than the threshold (--by cpu: cheaper, dearer)
  same               surely by less than the threshold, in each part, too
  unclear            the interval is too wide to say; more --rounds narrow it
  broken             it works in A and fails in B

Exit codes:
  0    nothing slower
  1    something broke
  2    bad input
  3    something slower, dearer or broken
  130  ended by Ctrl-C; 143: by SIGTERM; 129: by SIGHUP, as when ssh drops";
