//! What is measured, how, where, and where it goes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::ParameterArgs;
use super::name::Name;
use super::number::within;
use super::remote::RemoteArgs;
use crate::experiment::suite;
use crate::host::board;
use crate::host::placement::Pin;
use crate::results::export::Format;
use crate::results::export::selection::ColumnSet;
use crate::term::duration;
use crate::term::percent;

/// The options of the sweep.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// What varies.
    #[command(flatten)]
    pub parameters: ParameterArgs,
    /// How it is measured.
    #[command(flatten)]
    pub measuring: MeasuringArgs,
    /// Where.
    #[command(flatten)]
    pub placement: PlacementArgs,
    /// On which host.
    #[command(flatten)]
    pub link: RemoteArgs,
    /// Where the results go.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Runs the sweeps of a suite, and says what has been published about the like; see udpbench suites
    #[arg(long, value_name = "NAME", value_parser = Name(suite::names), hide_possible_values = true, help_heading = "Parameters",
        conflicts_with_all = ["pin", "resume", "samples", "format"])]
    pub suite: Option<String>,

    /// A TOML file with options, such as threads = [1, 2] or quick = true; what is typed comes first
    /// [default: udpbench.toml in the working directory, if it is there]
    #[arg(long, value_name = "FILE", help_heading = "Configuration", conflicts_with_all = ["suite", "resume"])]
    pub config: Option<PathBuf>,

    /// Leaves out udpbench.toml
    #[arg(long, help_heading = "Configuration", conflicts_with = "config")]
    pub no_config: bool,

    /// The words that were taken from there, for the log
    #[arg(skip)]
    pub from_config: Vec<String>,

    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
}

/// The options of `latency`.
#[derive(Args, Clone, Debug)]
pub struct LatencyArgs {
    /// Asks parts of the rates without loss instead: a log of udpbench find lossless --workload rr
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Parameters",
        conflicts_with = "resume"
    )]
    pub load: Option<PathBuf>,
    /// Those of a sweep.
    #[command(flatten)]
    pub run: RunArgs,
}

/// How each case is measured.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct MeasuringArgs {
    /// Measured time per case, split evenly over the rounds [default: 1s]
    #[arg(long, conflicts_with = "resume", value_name = "TIME", value_parser = duration::parse)]
    pub duration: Option<Duration>,

    /// Windows per case, at least 5 [default: 15, or as many as leave windows of 50ms, but 6 at least]
    #[arg(long, conflicts_with = "resume", value_name = "N", value_parser = within(5_u32..=10_000), allow_negative_numbers = true)]
    pub rounds: Option<u32>,

    /// Adds rounds until every 95 % interval of a block is within +-PCT of its estimate, such as 1%
    #[arg(long, conflicts_with = "resume", value_name = "PCT", value_parser = percent::parse)]
    pub until: Option<f64>,

    /// Time limit of --until, for all cases together [default: 10m]
    #[arg(long, conflicts_with = "resume", value_name = "TIME", value_parser = duration::parse)]
    pub max_time: Option<Duration>,

    /// Traffic before each window opens [default: as the board profile says, mostly 50ms]
    #[arg(long, conflicts_with = "resume", value_name = "TIME", value_parser = duration::parse)]
    pub warmup: Option<Duration>,

    /// Traffic once before the first case [default: as the board profile says]
    #[arg(long, conflicts_with = "resume", value_name = "TIME", value_parser = duration::parse)]
    pub soak: Option<Duration>,

    /// Leaves out the reference, std on connected sockets, that every block has: no ratio_to_std
    #[arg(long, conflicts_with = "resume")]
    pub no_reference: bool,

    /// Checks the datagrams of each case for 20 ms before it is measured: counts those duplicated, reordered,
    /// truncated or corrupted
    #[arg(long, conflicts_with = "resume")]
    pub verify: bool,

    /// Seed of the shuffled order, to repeat that of an earlier run [default: random; in every row]
    #[arg(
        long,
        conflicts_with = "resume",
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub seed: Option<u32>,

    /// The whole sweep: all thread counts and payloads of the board profile, IPv4 and IPv6, connected and not; other
    /// options override it
    #[arg(long, conflicts_with = "resume")]
    pub full: bool,

    /// 300ms per case, short warm-up and soak, no cool-down: a first look; other options override it
    #[arg(long, conflicts_with = "resume")]
    pub quick: bool,

    /// Slows the senders of engines down by so many operations per datagram
    #[cfg(feature = "calibration")]
    #[arg(long, hide = true, value_name = "ENGINE:ITERATIONS[@PARTS][;...]")]
    pub delay: Option<crate::workload::delay::Delay>,
}

/// The options of `plan`.
#[derive(Args, Clone, Debug)]
pub struct PlanArgs {
    /// Those of the sweep.
    #[command(flatten)]
    pub run: RunArgs,

    /// Lists each case, with its CPUs and what may mislead about it
    #[arg(long, help_heading = "Output")]
    pub details: bool,
}

/// On which board, and which of its CPUs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Placement")]
pub struct PlacementArgs {
    /// auto, the NAME of a profile, or a path to a TOML file
    #[arg(
        long,
        conflicts_with = "resume",
        value_name = "BOARD",
        default_value = "auto",
        value_parser = Name(board::names),
        hide_possible_values = true
    )]
    pub board: String,

    /// CPUs of the senders, a colon, CPUs of the receivers (0,1:2,3), or none [default: as the board
    /// profile says]
    #[arg(long, conflicts_with = "resume", value_name = "CPUS")]
    pub pin: Option<Pin>,
}

/// Where the results go.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The results, or - for standard output [default: results/TIME-BOARD.csv; - with --format jsonl]; with --suite,
    /// a directory
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// csv, json, markdown, xlsx, or jsonl: a line per row on standard output, as soon as it is final [default: by
    /// the name of the output, else csv]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Option<Format>,

    /// The columns of CSV and xlsx: short, those that matter for the run, or all [default: short]
    #[arg(
        long,
        value_name = "WHICH",
        hide_possible_values = true,
        hide_default_value = true,
        default_value = "short"
    )]
    pub columns: ColumnSet,

    /// The raw samples, one line per event [default: as the results, but .jsonl; none with -o -]
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,

    /// Keeps the run under this name: results/baselines/NAME.csv and NAME.jsonl, over no other one
    #[arg(long, value_name = "NAME", value_parser = baseline, conflicts_with_all = ["output", "format", "samples", "resume", "suite"])]
    pub baseline: Option<String>,

    /// Compares the run with that baseline, or with a file, at its end, as udpbench compare does; says before measuring
    /// if that cannot decide anything, and what can
    #[arg(long, value_name = "NAME", conflicts_with = "suite")]
    pub against: Option<String>,

    /// Resumes the sweep that wrote these raw samples: same cases, order and settings; its windows are kept
    #[arg(long, value_name = "FILE", conflicts_with = "samples")]
    pub resume: Option<PathBuf>,

    /// Resumes even if the host, the program or the plan differs; the rows say so
    #[arg(long, requires = "resume")]
    pub force: bool,

    /// Shows below the table all that may mislead about its numbers; without it, only how good they are
    #[arg(long)]
    pub warnings: bool,

    /// No progress and no table: only errors, what would invalidate the run, and the names of its files
    #[arg(short, long)]
    pub quiet: bool,
}

impl OutputArgs {
    /// Where the results go, if that is typed: by name, or by a format that is for standard output.
    pub fn results(&self) -> Option<&Path> {
        let is_for_stdout = self.format.is_some_and(Format::is_for_stdout);
        let named = self.output.as_deref();
        named.or_else(|| is_for_stdout.then(|| Path::new("-")))
    }
}

/// A name of files.
fn baseline(name: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    if name.starts_with(char::is_alphanumeric) && name.chars().all(is_plain) {
        Ok(name.to_owned())
    } else {
        Err("use letters, digits, dots, dashes and underscores, a letter or digit first".to_owned())
    }
}
