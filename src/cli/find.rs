//! `find`: what was typed, nothing else.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueHint};

use super::{ParameterArgs, PlacementArgs, RemoteArgs, ShapeArgs};
use crate::data::ThinkTime;
use crate::host::tuning::Name;
use crate::term::percent;
use crate::text::duration;
use crate::text::number::within;
use crate::verdict::judge::Metric;

/// The options of `find`.
#[derive(Args, Clone, Debug)]
#[command(after_help = include_str!("help/find.txt").trim_end(), disable_help_subcommand = true, subcommand_help_heading = "Searches", subcommand_value_name = "WHAT")]
pub struct FindArgs {
    /// Search to run.
    #[command(subcommand)]
    pub what: FindCommand,
}

/// The searches.
#[derive(Clone, Debug, Subcommand)]
pub enum FindCommand {
    /// The highest rate without loss, and what gives out first above it
    #[command(after_help = include_str!("help/find-lossless.txt").trim_end())]
    Lossless(Box<SearchArgs<LosslessArgs>>),
    /// The payload from which a round trip, or a datagram, takes longer
    #[command(after_help = include_str!("help/find-cliff.txt").trim_end())]
    Cliff(Box<SearchArgs<AxisArgs>>),
    /// The silence after which a round trip takes longer, or a request is lost
    #[command(after_help = include_str!("help/find-idle.txt").trim_end())]
    Idle(Box<SearchArgs<IdleArgs>>),
    /// The longest train of datagrams that arrives whole, and where the rest is lost
    #[command(after_help = include_str!("help/find-burst.txt").trim_end())]
    Burst(Box<SearchArgs<BurstArgs>>),
    /// The smallest batch or train from which on more brings little
    #[command(after_help = include_str!("help/find-knee.txt").trim_end())]
    Knee(Box<SearchArgs<KneeArgs>>),
    /// The setting of this machine that helps: tried only with --yes, and put back
    #[command(after_help = include_str!("help/find-tuning.txt").trim_end())]
    Tuning(Box<SearchArgs<TuningArgs>>),
}

/// Evaluates an expression of the options of whichever search it is.
macro_rules! of_any {
    ($command:expr, $args:ident => $of:expr) => {
        match $command {
            FindCommand::Lossless($args) => $of,
            FindCommand::Cliff($args) => $of,
            FindCommand::Idle($args) => $of,
            FindCommand::Burst($args) => $of,
            FindCommand::Knee($args) => $of,
            FindCommand::Tuning($args) => $of,
        }
    };
}

impl FindCommand {
    /// Returns the options that every search has.
    pub fn common(&self) -> &FindCommonArgs {
        of_any!(self, args => &args.common)
    }

    /// Returns the options that every search has, for changing them.
    pub fn common_mut(&mut self) -> &mut FindCommonArgs {
        of_any!(self, args => &mut args.common)
    }
}

/// The options of a search: those of its own, and those of all.
#[derive(Args, Clone, Debug)]
pub struct SearchArgs<S: Args> {
    /// Options of this kind of search.
    #[command(flatten)]
    pub search: S,
    /// Options of all searches.
    #[command(flatten)]
    pub common: FindCommonArgs,
}

/// The options of all searches.
#[derive(Args, Clone, Debug)]
pub struct FindCommonArgs {
    /// Time limit of each case [default: 5m]
    #[arg(long, help_heading = "Measuring", value_name = "TIME", value_parser = duration::parse)]
    pub max_case_time: Option<Duration>,
    /// Traffic before each trial counts [default: of the board profile, mostly 50ms]
    #[arg(long, help_heading = "Measuring", value_name = "TIME", value_parser = duration::parse)]
    pub warmup: Option<Duration>,
    /// Parameters of the cases.
    #[command(flatten)]
    pub parameters: ParameterArgs,
    /// Placement of the threads.
    #[command(flatten)]
    pub placement: PlacementArgs,
    /// Options of the output.
    #[command(flatten)]
    pub output: FindOutputArgs,
}

/// Options of a search for the highest rate without loss: the attributes of a goal of RFC 9971.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct LosslessArgs {
    /// Loss that counts as none, of the datagrams of a trial
    #[arg(long, value_name = "PCT", value_parser = percent::parse_from_zero, default_value = "0%")]
    pub goal: f64,
    /// Share of the trials that may lose more
    #[arg(long, value_name = "PCT", value_parser = percent::parse_within, default_value = "50%")]
    pub exceed: f64,
    /// Length of a trial that counts in full
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "500ms")]
    pub trial: Duration,
    /// Length of all trials at either bound together
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "7s")]
    pub sum: Duration,
    /// Distance of the bounds at the end
    #[arg(long, value_name = "PCT", value_parser = percent::parse_within, default_value = "0.5%")]
    pub width: f64,
    /// Time over which both bounds are tried again, every 6 s
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "60s")]
    pub recheck: Duration,
}

/// Options of a search for the longest train that arrives whole.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct BurstArgs {
    /// Time from one train to the next
    ///
    /// From the start of each, long enough for buffers to become empty
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "50ms")]
    pub pause: Duration,
    /// Length of a trial that counts in full
    ///
    /// It has several trains
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "500ms")]
    pub trial: Duration,
    /// Length of all trials at either bound together
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "3s")]
    pub sum: Duration,
    /// Distance of the bounds at the end
    #[arg(long, value_name = "PCT", value_parser = percent::parse_within, default_value = "1%")]
    pub width: f64,
}

/// Options of a search along one parameter, and all that `find cliff` has.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct AxisArgs {
    /// Smallest change that counts
    #[arg(long, value_name = "PCT", value_parser = percent::parse)]
    pub threshold: Option<f64>,
    /// Length of a trial
    ///
    /// Trials of find idle are longer if three silences are
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "50ms")]
    pub trial: Duration,
}

/// Options of a search for the silence after which a round trip takes longer or a request is lost.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct IdleArgs {
    /// The shortest and the longest silence, from 1us to 10s
    #[arg(
        long,
        value_name = "TIME,TIME",
        value_delimiter = ',',
        num_args = 1,
        default_value = "10us,1s"
    )]
    pub silence: Vec<ThinkTime>,
    /// Threshold and length of the trials.
    #[command(flatten)]
    pub axis: AxisArgs,
}

/// Options of a search for the batch or train from which on more brings little.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct KneeArgs {
    /// What is compared
    #[arg(long, value_enum, default_value_t)]
    pub by: Metric,
    /// Most rounds, 16 or more
    ///
    /// Each has a trial of every batch or train that is still in question. A knee that is sure ends the search
    #[arg(long, value_name = "N", value_parser = within(FEWEST_OF_KNEE..=10_000), default_value = "120")]
    pub rounds: u32,
    /// Threshold and length of the trials.
    #[command(flatten)]
    pub axis: AxisArgs,
}

/// With fewer, not even rounds that all agree would show a gain.
const FEWEST_OF_KNEE: u32 = 16;

/// Settings to try, and the method.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Measuring")]
pub struct TuningArgs {
    /// Settings to try [default: all but pause, power-save and control]
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub setting: Vec<Name>,
    /// Changes settings, one at a time; without it, only shows them
    #[arg(long)]
    pub yes: bool,
    /// Rounds, 12 or more
    ///
    /// Each has a pair of trials of every setting and case
    #[arg(long, value_name = "N", value_parser = within(FEWEST_OF_TUNING..=1000), default_value = "30")]
    pub rounds: u32,
    /// Length of a trial
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "100ms")]
    pub trial: Duration,
}

/// With fewer, not even pairs that all agree would be called a change, where 20 settings and cases are asked.
const FEWEST_OF_TUNING: u32 = 12;

/// The options of the watchdog.
#[derive(Args, Debug)]
pub struct PutBackArgs {
    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
}

/// Options of a search's output.
#[derive(Args, Clone, Debug)]
pub struct FindOutputArgs {
    /// On which host.
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// The log of all trials [default: results/TIME-BOARD-find.jsonl]
    #[arg(
        short,
        long,
        help_heading = "Output",
        value_name = "FILE",
        value_hint = ValueHint::FilePath
    )]
    pub output: Option<PathBuf>,
    /// Log of the search to go on with: see `resume`
    #[arg(skip)]
    pub resume: Option<PathBuf>,
    /// Form of the answers.
    #[command(flatten)]
    pub form: ShapeArgs,
    /// Shows no progress, only errors and the answers
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
}
