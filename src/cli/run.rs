//! Options of a sweep: parameters, measuring, placement, output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueHint};

use super::ParameterArgs;
use super::remote::RemoteArgs;
use super::results::Accept;
use crate::error::UsageError;
use crate::host::placement::Pin;
use crate::log::name::first_free;
use crate::results::export::Format;
use crate::results::export::selection::ColumnSet;
use crate::term::percent;
use crate::text::duration;
use crate::text::number::within;
use crate::verdict::judge::Threshold;

/// The options of the sweep.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// Parameters of the cases.
    #[command(flatten)]
    pub parameters: ParameterArgs,
    /// Options of measuring.
    #[command(flatten)]
    pub measuring: MeasuringArgs,
    /// Placement of the threads.
    #[command(flatten)]
    pub placement: PlacementArgs,
    /// On which host.
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// Options of the output.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Runs the sweeps of a suite; udpbench suites lists them
    #[arg(long, value_name = "NAME", help_heading = "What",
        conflicts_with_all = ["pin", "samples", "format"])]
    pub suite: Option<String>,

    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
}

/// The options of `latency`.
#[derive(Args, Clone, Debug)]
#[command(after_help = include_str!("help/latency.txt").trim_end())]
pub struct LatencyArgs {
    /// Takes the rates without loss from this log of find lossless
    ///
    /// The log is one of udpbench find lossless --workload rr. Loads are then 10, 50 and 90 % of these rates, not of
    /// what clients reach that wait for each response
    #[arg(long, value_name = "FILE", help_heading = "Measuring", value_hint = ValueHint::FilePath)]
    pub load: Option<PathBuf>,
    /// Options of a sweep.
    #[command(flatten)]
    pub run: RunArgs,
}

/// Options of measuring.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct MeasuringArgs {
    /// Measured time per case, split evenly over the rounds [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub duration: Option<Duration>,

    /// Rounds, 5 or more; each has a window of every case [default: 15]
    ///
    /// [default: 15, or fewer if windows would be shorter than 50ms, but 6 at least]
    #[arg(long, value_name = "N", value_parser = within(5_u32..=10_000), allow_negative_numbers = true)]
    pub rounds: Option<u32>,

    /// Adds rounds until every 95 % interval is within +-PCT, such as 1%
    ///
    /// Block by block: when all intervals of a block are within +-PCT of their estimates, its windows are enough
    #[arg(long, value_name = "PCT", value_parser = percent::parse)]
    pub until: Option<f64>,

    /// Time limit of --until, for all cases together [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub max_time: Option<Duration>,

    /// Traffic before each window opens [default: of the board profile, mostly 50ms]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub warmup: Option<Duration>,

    /// Traffic once before the first case [default: of the board profile]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub heat: Option<Duration>,

    /// Leaves out the reference
    ///
    /// Every block has one: std on connected sockets. Without it, there is no ratio_to_std
    #[arg(long)]
    pub no_reference: bool,

    /// Checks the datagrams of each case before it is measured
    ///
    /// For 20 ms. Counts datagrams that are duplicated, reordered, truncated or corrupted
    #[arg(long)]
    pub verify: bool,

    /// A command that prints the watts of an external meter, a line each
    ///
    /// Twice a second at least, until it is killed. It runs on this host. Without it, a sensor of the host is read, if
    /// there is one (udpbench check)
    #[arg(long, value_name = "COMMAND")]
    pub power_command: Option<String>,

    /// Seed of the shuffled order, to repeat that of an earlier run [default: random]
    ///
    /// It is in every row
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u32>,

    /// The whole sweep: all thread counts, payloads, IP versions, connections
    ///
    /// Thread counts and payloads are those of the board profile. Other options override it
    #[arg(long)]
    pub full: bool,

    /// A first look: 300ms per case, short warm-up, no cool-down
    ///
    /// Heating up is short, too. Other options override it
    #[arg(long)]
    pub quick: bool,

    /// Slows the senders of engines down by a number of operations per datagram
    #[cfg(feature = "calibration")]
    #[arg(long, hide = true, value_name = "ENGINE:ITERATIONS[@PARTS][;...]")]
    pub delay: Option<crate::workload::delay::Delay>,
}

/// The options of `plan`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub struct PlanArgs {
    /// The plan of what. `None`: of a sweep.
    #[command(subcommand)]
    pub what: Option<PlanCommand>,
    /// Options of the sweep.
    #[command(flatten)]
    pub run: RunArgs,

    /// Lists each case, with its CPUs and its warnings
    #[arg(long, help_heading = "Output")]
    pub details: bool,
}

/// Subject of `plan` other than a sweep.
#[derive(Clone, Debug, Subcommand)]
pub enum PlanCommand {
    /// Shows the searches of find, and how long they take
    Find(Box<super::FindArgs>),
}

/// On which board, and which of its CPUs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Placement")]
pub struct PlacementArgs {
    /// Board profile: auto, a name, or the path of a TOML file
    #[arg(long, value_name = "BOARD", default_value = "auto")]
    pub board: String,

    /// CPUs of senders and of receivers, such as 0,1:2,3, or none
    ///
    /// [default: as the board profile says]
    #[arg(long, value_name = "CPUS")]
    pub pin: Option<Pin>,
}

/// Options of the output.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct OutputArgs {
    /// Results, or - for standard output [default: results/TIME-BOARD.csv]
    ///
    /// With --suite, a directory [default: results/TIME-BOARD.csv; - with --format]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// csv, json, jsonl, markdown [default: by the name of the output, else csv]
    ///
    /// To standard output unless -o names a file. csv and jsonl write each row as soon as it is final
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub format: Option<Format>,

    /// CSV with semicolons and decimal commas
    ///
    /// For spreadsheets that write 1,5 for 1.5
    #[arg(long)]
    pub decimal_comma: bool,

    /// Columns of CSV: short (those that matter for the run), all [default: short]
    #[arg(
        long,
        value_name = "WHICH",
        hide_possible_values = true,
        hide_default_value = true,
        default_value = "short"
    )]
    pub columns: ColumnSet,

    /// Log with the raw samples, a line per event [default: like the results, but .jsonl; none with -o -]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub samples: Option<PathBuf>,

    /// Keeps the run by this name, for --against
    ///
    /// Measures twice, as two runs show by how much runs differ: in results/baselines/NAME.csv and NAME.2.csv, with
    /// their logs. Each time with the same NAME adds two runs
    #[arg(long, value_name = "NAME", value_parser = baseline, conflicts_with_all = ["output", "format", "samples", "suite"])]
    pub baseline: Option<String>,

    /// Compares with all runs of a baseline, or with a file
    ///
    /// If an engine looks slower, but not surely, a second pass follows
    #[arg(long, value_name = "NAME", conflicts_with = "suite", value_hint = ValueHint::FilePath)]
    pub against: Option<String>,

    /// With --against: smallest change that counts [default: 2%]
    #[arg(
        long,
        value_name = "PCT",
        requires = "against",
        allow_negative_numbers = true
    )]
    pub threshold: Option<Threshold>,

    /// With --against: exit code 0 instead of 4
    #[arg(long, value_enum, value_name = "WHAT", requires = "against")]
    pub accept: Option<Accept>,

    /// Log of the sweep to go on with: see `resume`
    #[arg(skip)]
    pub resume: Option<PathBuf>,

    /// Accepts that the host, the program or the plan differs from those of this log
    #[arg(skip)]
    pub accept_changes: bool,

    /// Shows all warnings below the table
    ///
    /// They say what may mislead about the numbers. Without it, a run only says how good they are
    #[arg(long)]
    pub warnings: bool,

    /// Explains the columns, and shows what each technique gains and all that can be done next
    #[arg(long)]
    pub explain: bool,

    /// Shows no progress and no table
    ///
    /// Only errors, reasons that would invalidate the run, and the names of its files
    #[arg(short, long)]
    pub quiet: bool,
}

impl OutputArgs {
    /// Gives the files of a second pass their names: `run.2.csv` after `run.csv`, or the next number that is free.
    /// Files without a typed name get a new one anyway.
    pub fn name_second_pass(&mut self) {
        for path in [&mut self.output, &mut self.samples].into_iter().flatten() {
            let extension = path
                .extension()
                .map(|it| format!(".{}", it.to_string_lossy()));
            let extension = extension.unwrap_or_default();
            *path = first_free(|pass| path.with_extension(format!("{}{extension}", pass + 1)));
        }
    }

    /// Returns the file of the results if it was typed: by its name, or by a format, which means standard output.
    pub fn results(&self) -> Option<&Path> {
        let named = self.output.as_deref();
        named.or_else(|| self.format.map(|_| Path::new("-")))
    }

    /// Returns the format of the results in this file.
    ///
    /// # Errors
    /// Fails as [`Format::choose`] does, or for decimal commas in another format than CSV.
    pub fn format_of(&self, results: &Path) -> Result<Format, UsageError> {
        if self.format == Some(Format::Table) {
            let fix = "a run prints it anyway: leave --format out";
            return Err(UsageError::flag("--format", "table", fix));
        }
        Format::choose(self.format, results)?.with_decimal_comma_if(self.decimal_comma)
    }
}

/// A name of files.
fn baseline(name: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    let last = name.rsplit_once('.').map_or("", |(_, last)| last);
    if last.parse::<u32>().is_ok() {
        return Err("use no number after a dot: that is a later run of a shorter name".to_owned());
    }
    let is_name = name.starts_with(char::is_alphanumeric) && name.chars().all(is_plain);
    let fix = "use letters, digits, dots, dashes and underscores, a letter or digit first";
    is_name
        .then(|| name.to_owned())
        .ok_or_else(|| fix.to_owned())
}
