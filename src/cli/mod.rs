//! The command line: what was typed, nothing else. What it means is decided in [`crate::cli::options`].

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "--help shows defaults in brackets, as clap does"
)]

mod ab;
mod agent;
mod find;
pub mod help;
pub mod options;
mod parameters;
pub mod peer;
mod remote;
mod results;
mod resume;
mod run;
mod wire;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, FromArgMatches, Subcommand, ValueHint};

#[cfg(feature = "field")]
use udpbench_field::{listen::ListenArgs, soak::SoakArgs, watch::WatchArgs};

use crate::data::Buffer;

pub use self::ab::AbArgs;
pub use self::agent::AgentArgs;
pub use self::find::{
    AxisArgs, BurstArgs, FindArgs, FindCommand, FindCommonArgs, FindOutputArgs, IdleArgs, KneeArgs,
    LosslessArgs, PutBackArgs, SearchArgs, TuningArgs,
};
pub(crate) use self::parameters::PROGRAM;
pub use self::parameters::{EngineArg, ParameterArgs};
pub use self::remote::RemoteArgs;
pub use self::results::{AskedArgs, CompareArgs, RankArgs, ReportArgs, ShapeArgs, SummarizeArgs};
pub use self::resume::ResumeArgs;
pub use self::run::{
    LatencyArgs, MeasuringArgs, OutputArgs, PlacementArgs, PlanArgs, PlanCommand, RunArgs,
};
pub use self::wire::{WireArgs, WireCommand};

/// Measures which UDP socket API or event loop is fastest on this board, and what it loses and costs
#[derive(Args, Debug)]
#[command(version = crate::VERSION, args_conflicts_with_subcommands = true, disable_help_subcommand = true, after_help = include_str!("help/udpbench.txt").trim_end())]
pub struct Cli {
    /// Subcommand. Without one, the sweep runs.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The options of the sweep.
    #[command(flatten)]
    pub run: RunArgs,
}

impl Cli {
    /// Returns the definition with the whole help.
    pub fn command() -> clap::Command {
        help::arranged(Self::plain(), "", &|_| true)
    }

    /// Parses words as options of a command, whether or not that command takes them.
    ///
    /// # Errors
    /// Returns clap's errors, including help.
    pub fn try_parse_from<W: Into<OsString>>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, clap::Error> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        Self::from_arg_matches(&Self::matches(&words)?)
    }

    /// Parses a command line, which begins with the program's name.
    ///
    /// # Errors
    /// Returns clap's errors, including help, and errors about options that the command does not take.
    #[inline(never)] // LTO would inline it into main and compile it and clap's part for speed
    pub fn typed(words: &[OsString]) -> anyhow::Result<Self> {
        let matches = Self::matches(words)?;
        help::refuse_without(&matches)?;
        Ok(Self::from_arg_matches(&matches)?)
    }

    /// Parses these words. The error about a command behind options says how to put them right.
    fn matches(words: &[OsString]) -> Result<clap::ArgMatches, clap::Error> {
        let matches = Self::command_for(words).try_get_matches_from(words);
        matches.map_err(|mut error| {
            let command = match error.get(ContextKind::InvalidSubcommand) {
                Some(ContextValue::String(command)) => Some(command),
                _ => None,
            };
            let is_order = error.kind() == ErrorKind::ArgumentConflict;
            if let Some(command) = command.filter(|_| is_order) {
                let fix = format!("options follow the command: udpbench {command} --option");
                let fix = ContextValue::StyledStrs(vec![fix.into()]);
                error.insert(ContextKind::Suggested, fix);
            }
            error
        })
    }

    /// Returns the definition that parses these words. Its help is brief if they ask for `-h`.
    ///
    /// Only the help of commands among the words is arranged, as all of it is nine tenths of the program's start.
    fn command_for(words: &[OsString]) -> clap::Command {
        let is_typed = |name: &str| words.iter().any(|word| word == name);
        let command = help::arranged(Self::plain(), "", &is_typed);
        if is_typed("-h") {
            help::brief(command)
        } else {
            command
        }
    }

    fn plain() -> clap::Command {
        Self::augment_args(clap::Command::new("udpbench"))
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs the sweep (the same as no command)
    Run(Box<RunArgs>),
    /// Measures round-trip times: without load, then at 10, 50 and 90 % of the capacity
    Latency(Box<LatencyArgs>),
    /// Finds the highest rate without loss, other thresholds, or a setting that helps
    Find(Box<FindArgs>),
    /// Measures between this host and another one, over the network
    Wire(Box<WireArgs>),
    /// Shows where another program loses datagrams, a line per second
    #[cfg(feature = "field")]
    Watch(Box<WatchArgs>),
    /// Shows what a camera, a lidar or any other sender sends here, and what is lost
    #[cfg(feature = "field")]
    Listen(Box<ListenArgs>),
    /// Sends at a constant rate for hours: each outage, loss and delay is an event
    #[cfg(feature = "field")]
    Soak(Box<SoakArgs>),
    /// Goes on with what was interrupted, from its log
    Resume(ResumeArgs),
    /// Shows what would run, what is skipped and why, and how long it takes
    Plan(Box<PlanArgs>),
    /// Checks this host: each problem with its fix
    ///
    /// The exit code is 1 if a problem would invalidate a run.
    Check(Box<CheckArgs>),
    /// Lists the engines, and which of them can run on this host
    Engines(EnginesArgs),
    /// Lists board profiles, shows one, detects this board, or drafts a new one
    Boards(Box<BoardsArgs>),
    /// Lists suites, which are named lists of sweeps (--suite), or shows one
    Suites(SuitesArgs),
    /// Writes the results of a run in another format, or computes them again from its log
    Summarize(SummarizeArgs),
    /// Compares results with earlier ones: faster, slower or the same
    Compare(CompareArgs),
    /// Compares two builds, options or states of the machine, measured in turn
    Ab(Box<AbArgs>),
    /// Ranks engines by speed and by CPU time, and says how sure that is
    Rank(RankArgs),
    /// Writes a page of charts and tables for a browser
    #[cfg(feature = "report")]
    Report(ReportArgs),
    /// Runs senders or receivers for a udpbench in another process
    ///
    /// The other process starts it and sends it messages on standard input; it responds on standard output. It ends
    /// when standard input ends. `udpbench ab` starts one for each side and round, `udpbench wire` one on the other
    /// host.
    Agent(AgentArgs),
    /// Prints a completion script for a shell
    #[cfg(feature = "manual")]
    Completions(CompletionsArgs),
    /// Writes the manual pages into a directory
    #[cfg(feature = "manual")]
    Manual(ManualArgs),
    /// Puts settings back that a search has changed: `find tuning` starts it
    #[command(hide = true)]
    PutBack(PutBackArgs),
    /// For scripts: the files that a sweep with these words would write, as JSON
    #[command(hide = true)]
    Files(FilesArgs),
}

/// The options of `check`.
#[derive(Args, Debug)]
#[command(next_help_heading = "What")]
pub struct CheckArgs {
    /// Board profile: auto, a name, or the path of a TOML file
    #[arg(long, value_name = "BOARD", default_value = "auto")]
    pub board: String,
    /// Receive buffer of the runs, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Buffer::DEFAULT, allow_negative_numbers = true)]
    pub rcvbuf: Buffer,
    /// Network interfaces to check for runs between two hosts, such as eth0
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub interface: Vec<String>,
    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
    /// The host that is checked.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// The options of `engines`.
#[derive(Args, Debug)]
pub struct EnginesArgs {
    /// The host on which they would run.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// The options of `boards`.
#[derive(Args, Debug)]
#[command(next_help_heading = "What")]
pub struct BoardsArgs {
    /// Shows this profile
    pub name: Option<String>,
    /// Detects this board and gives the reason
    #[arg(long, conflicts_with = "name")]
    pub detect: bool,
    /// Writes a draft of a profile for this board to standard output
    #[arg(long, conflicts_with_all = ["name", "detect"])]
    pub new: bool,
    /// Write the files of /proc and /sys that show this host, to standard output, for a test in tests/fixtures/hosts
    #[arg(long, conflicts_with_all = ["name", "detect", "new"])]
    pub capture: bool,
    /// Where /proc and /sys are found, for tests
    #[arg(long, hide = true, default_value = "/")]
    pub root: PathBuf,
    /// The host that is detected.
    #[command(flatten)]
    pub remote: RemoteArgs,
}

/// The options of `suites`.
#[derive(Args, Debug)]
pub struct SuitesArgs {
    /// Shows this suite
    pub name: Option<String>,
}

/// The options of `completions`.
#[cfg(feature = "manual")]
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/completions.txt").trim_end())]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// The options of `manual`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("help/manual.txt").trim_end())]
pub struct ManualArgs {
    /// Directory for the pages; created if missing, older pages in it are replaced
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
}

/// The words of `files`.
#[derive(Args, Debug)]
pub struct FilesArgs {
    /// The command line of the sweep, without the program's name
    #[arg(last = true, value_name = "WORDS")]
    pub words: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::command_line::CommandLine;
    use crate::term::words::COMMANDS;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_of_a_command_that_is_typed_is_that_of_the_whole_definition() {
        fn check(command: &clap::Command, path: &[&str]) {
            let mut words = vec![OsString::from("udpbench")];
            words.extend(path.iter().map(OsString::from));
            let mut typed = Cli::command_for(&words);
            for name in path {
                typed = typed.find_subcommand(name).expect("a subcommand").clone();
            }
            let long = |command: &clap::Command| command.clone().render_long_help().to_string();
            assert_eq!(long(&typed), long(command), "{path:?}");
            for subcommand in command.get_subcommands() {
                check(subcommand, &[path, &[subcommand.get_name()]].concat());
            }
        }
        check(&Cli::command(), &[]);
    }

    #[test]
    fn every_command_is_shown_as_it_is_typed() {
        let command = Cli::plain();
        for subcommand in command.get_subcommands() {
            let name = subcommand.get_name();
            assert!(COMMANDS.split(' ').any(|it| it == name), "{name}");
        }
    }

    /// Returns the options of a command that its help shows, and whether each has a value.
    fn options(path: &str) -> Vec<(String, bool)> {
        let mut command = Cli::command();
        for name in path.split_whitespace() {
            command = command.find_subcommand(name).expect(path).clone();
        }
        let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
        let named = shown.filter_map(|arg| Some((arg, arg.get_long()?)));
        let with_value =
            named.map(|(arg, long)| (format!("--{long}"), arg.get_action().takes_values()));
        with_value.collect()
    }

    #[test]
    fn the_command_line_of_a_log_knows_which_options_have_a_value() {
        for path in [
            "",
            "latency",
            "wire",
            "find lossless",
            "find knee",
            "find tuning",
            "ab",
            "check",
            "boards",
        ] {
            for (option, has_value) in options(path) {
                let typed = ["udpbench", &option, "x"].map(str::to_owned);
                assert_eq!(CommandLine(&typed).has("x"), !has_value, "{path} {option}");
            }
        }
    }

    #[test]
    fn commands_made_of_a_command_line_have_only_options_that_they_take() {
        let check = |made: &str, path: &str| {
            let mut taken = options(path);
            if path == "wire latency" {
                taken.extend(options("wire"));
            }
            for word in made.split(' ').filter(|word| word.starts_with("--")) {
                assert!(taken.iter().any(|(option, _)| option == word), "{made}");
            }
        };
        for path in ["", "latency", "find knee"] {
            let mut typed: Vec<String> = ["udpbench"]
                .into_iter()
                .chain(path.split_whitespace())
                .map(str::to_owned)
                .collect();
            for (option, has_value) in options(path) {
                typed.push(option);
                typed.extend(has_value.then(|| "x".to_owned()));
            }
            let typed = CommandLine(&typed);
            check(&typed.find_lossless(&[]), "find lossless");
            if path != "find knee" {
                check(&typed.between_hosts(), format!("wire {path}").trim());
            }
        }
    }
}
