//! Default options of sweeps from a file, `udpbench.toml`. Typed options override them.

use std::ffi::OsString;
use std::path::Path;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, FromArgMatches, Parser};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::cli::{self, Cli, RunArgs, help};
use crate::error::UsageError;
use crate::results::baselines;
use crate::sys::files::{self, Kind};
use crate::term::escape;
use crate::text::{nearest, text_file};

/// File in the working directory that is read without `--config`.
const DEFAULT: &str = "udpbench.toml";

/// Option groups that a file may set. Output options are not among them.
const GROUPS: [&str; 3] = [PARAMETERS, "MeasuringArgs", "PlacementArgs"];

const PARAMETERS: &str = "ParameterArgs";

/// Options that `--quick` sets. If `--quick` was typed, a file does not override them.
const QUICK: [&str; 3] = ["duration", "warmup", "heat"];

/// The parsed command line and the options that a file or a baseline adds.
#[derive(Debug)]
pub struct Parsed {
    /// The command line with the added options.
    pub cli: Cli,
    /// The options that the file adds. `None` if no file was read.
    pub config: Option<Config>,
    /// Message about what is added. `None` with `--quiet`.
    pub note: Option<String>,
}

/// Options of a file.
#[derive(Debug)]
pub struct Config {
    /// Path of the file as it was given.
    name: String,
    entries: Vec<Entry>,
}

/// An option of a file.
#[derive(Debug)]
struct Entry {
    /// Name without dashes.
    option: String,
    /// Line number, from 1.
    line: usize,
    /// The word as it would be typed. `None` if the file turns a flag off.
    word: Option<String>,
}

/// Parses a command line, which begins with the program's name. If it is a sweep's, adds the options of a file, or those
/// of the baseline of `--against` if it has none of its own.
///
/// # Errors
/// Returns clap's errors, including help, and errors in the file with the line and the fix.
#[inline(never)] // LTO would inline it into main and compile it and clap's part for speed
pub fn parse(words: &[OsString]) -> anyhow::Result<Parsed> {
    let words = cli::spread(words);
    let matches = Cli::matches(&words)?;
    let cli = Cli::from_arg_matches(&matches)?;
    help::refuse_without(&matches)?;
    let parsed = |cli, config, note: Option<String>| Parsed { cli, config, note };
    let Some((typed, args)) = of_sweep(&matches, &cli) else {
        return Ok(parsed(cli, None, None));
    };
    if let Some(suite) = &args.suite {
        refuse_parameters(suite, typed)?;
    }
    let is_quiet = args.output.quiet;
    let repeated = args.output.against.as_deref();
    let repeated = repeated.filter(|_| !has_plan(typed));
    if let Some(added) = repeated
        .map(|name| repeated_from(name, &cli))
        .transpose()?
        .flatten()
    {
        let note = format!("repeats the baseline's options: {}", added.join(" "));
        let note = Some(note).filter(|_| !is_quiet && !added.is_empty());
        return Ok(parsed(with(words, added)?, None, note));
    }
    let Some(path) = path(args) else {
        return Ok(parsed(cli, None, None));
    };
    if args.suite.is_some() {
        let note = format!("{} is left out: it is not for --suite", path.display());
        return Ok(parsed(cli, None, Some(note).filter(|_| !is_quiet)));
    }
    let mut config = Config::read(path)?;
    let command = command_of(&cli);
    let is_added = |name: &str| !is_typed(typed, name) && help::without(command, name).is_none();
    config.entries.retain(|entry| is_added(&entry.option));
    let added = config.entries.iter().filter_map(|it| it.word.clone());
    let added: Vec<String> = added.collect();
    let note = format!("options from {}: {}", config.name, added.join(" "));
    let note = Some(note).filter(|_| !is_quiet && !added.is_empty());
    Ok(parsed(with(words, added)?, Some(config), note))
}

/// Parses the words with some added.
fn with(mut words: Vec<OsString>, added: Vec<String>) -> Result<Cli, clap::Error> {
    words.extend(cli::spread(&added));
    let mut cli = Cli::try_parse_from(words)?;
    args_of(&mut cli).from_config = added;
    Ok(cli)
}

/// Returns whether an option says what is measured, or how.
fn has_plan(typed: &ArgMatches) -> bool {
    let command = Cli::command_for(&[]);
    let mut names = options(&command, &GROUPS).filter_map(Arg::get_long);
    names.any(|name| is_typed(typed, name))
}

/// Returns the options of the first run of a baseline, as they would be typed. `None`: they are not known.
///
/// # Errors
/// Fails if there is no such baseline, or if another command made it.
fn repeated_from(name: &str, cli: &Cli) -> anyhow::Result<Option<Vec<String>>> {
    let runs = baselines::find(name)?;
    let Some(words) = runs.first().and_then(|run| baselines::words(run)) else {
        return Ok(None);
    };
    let program = OsString::from("udpbench");
    let words = std::iter::once(program).chain(words.into_iter().map(OsString::from));
    let words = cli::spread(words.collect::<Vec<OsString>>());
    let matches = Cli::matches(&words)?;
    let theirs = Cli::from_arg_matches(&matches)?;
    let made_by = command_of(&theirs);
    if made_by != command_of(cli) {
        let problem = format!("`udpbench {made_by}` made it: use that");
        return Err(UsageError::flag("--against", &name, problem).into());
    }
    let Some((typed, _)) = of_sweep(&matches, &theirs) else {
        return Ok(None);
    };
    let command = Cli::command_for(&[]);
    let options = options(&command, &GROUPS).filter(|option| option.get_long() != Some("seed"));
    let repeated = options.filter_map(|option| {
        let name = option.get_long().filter(|name| is_typed(typed, name))?;
        if matches!(option.get_action(), ArgAction::SetTrue) {
            return Some(format!("--{name}"));
        }
        let values = typed.get_raw(option.get_id().as_str())?;
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        Some(format!("--{name}={}", values.join(",")))
    });
    Ok(Some(repeated.collect()))
}

/// Returns the command that measures a sweep or something like it. A plan is one of a sweep.
fn command_of(cli: &Cli) -> &'static str {
    match &cli.command {
        Some(cli::Command::Latency(_)) => "latency",
        Some(cli::Command::Wire(_)) => "wire",
        _ => "run",
    }
}

/// Returns the typed options of a sweep, or of a command that takes the same ones. `None` for other commands.
fn of_sweep<'a>(matches: &'a ArgMatches, cli: &'a Cli) -> Option<(&'a ArgMatches, &'a RunArgs)> {
    match &cli.command {
        None => Some((matches, &cli.run)),
        Some(cli::Command::Run(args)) => Some((matches.subcommand()?.1, args)),
        Some(cli::Command::Latency(args)) => Some((matches.subcommand()?.1, &args.run)),
        Some(cli::Command::Plan(args)) => Some((matches.subcommand()?.1, &args.run)),
        Some(_) => None,
    }
}

/// Returns an error if parameters are given with `--suite`: a suite sets them itself. clap's own error would list every
/// parameter.
fn refuse_parameters(suite: &str, typed: &ArgMatches) -> Result<(), UsageError> {
    let command = Cli::command_for(&[]);
    let mut names = options(&command, &[PARAMETERS]).filter_map(Arg::get_long);
    match names.find(|name| is_typed(typed, name)) {
        Some(name) => {
            let fix = format!("a suite says itself what varies: leave out --{name}");
            Err(UsageError::flag("--suite", &suite, fix))
        }
        None => Ok(()),
    }
}

/// Returns the options that [`of_sweep`] finds, for changing them.
fn args_of(cli: &mut Cli) -> &mut RunArgs {
    match &mut cli.command {
        Some(cli::Command::Run(args)) => args,
        Some(cli::Command::Latency(args)) => &mut args.run,
        Some(cli::Command::Plan(args)) => &mut args.run,
        _ => &mut cli.run,
    }
}

/// Returns the path of `--config`, else of `udpbench.toml` if it exists. `None` with `--no-config`.
fn path(args: &RunArgs) -> Option<&Path> {
    let default = || Some(Path::new(DEFAULT)).filter(|path| path.exists());
    let path = args.config.as_deref().or_else(default);
    path.filter(|_| !args.no_config)
}

fn is_typed(typed: &ArgMatches, option: &str) -> bool {
    let is_typed = |option: &str| {
        typed.value_source(&option.replace('-', "_")) == Some(ValueSource::CommandLine)
    };
    is_typed(option) || (QUICK.contains(&option) && is_typed("quick"))
}

impl Config {
    fn read(path: &Path) -> Result<Self, UsageError> {
        let name = escape::name(path);
        let bytes = files::read_whole(path, Kind::File);
        let bytes = bytes.map_err(|error| {
            let problem = format!("cannot read it: {error}; name a TOML file, or use --no-config");
            UsageError::flag("--config", &name, problem)
        })?;
        Self::parse(&name, text_file::decode(&name, &bytes)?)
    }

    /// Parses the text of a file.
    fn parse(name: &str, text: &str) -> Result<Self, UsageError> {
        let line_of = |start: usize| text[..start.min(text.len())].matches('\n').count() + 1;
        // Without serde, which would add 27 kB to the program.
        let table = DeTable::parse(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = line_of(start);
            let shown = text.lines().nth(line - 1).unwrap_or_default();
            UsageError::file(name, line, &format!("{}: {shown:?}", error.message()))
        })?;
        let command = Cli::command_for(&[]);
        let entry = |(key, value): (&Spanned<DeString>, &Spanned<DeValue>)| {
            let line = line_of(key.span().start);
            let option = key.get_ref().to_string();
            let word = word(&command, &option, value.get_ref());
            let word = word.map_err(|problem| UsageError::file(name, line, &problem))?;
            Ok(Entry { option, line, word })
        };
        let entries: Result<Vec<Entry>, UsageError> = table.get_ref().iter().map(entry).collect();
        let mut entries = entries?;
        entries.sort_by_key(|entry| entry.line);
        Ok(Self {
            name: name.to_owned(),
            entries,
        })
    }

    /// Adds the file's name and line to an error about an option from the file.
    pub fn located(&self, error: anyhow::Error) -> anyhow::Error {
        let Some(UsageError::Flag { flag, .. }) = error.downcast_ref() else {
            return error;
        };
        let option = flag.trim_start_matches('-');
        match self.entries.iter().find(|entry| entry.option == option) {
            Some(entry) => UsageError::file(&self.name, entry.line, &error.to_string()).into(),
            None => error,
        }
    }
}

/// Returns the options of some groups, except hidden ones.
fn options<'a>(command: &'a Command, groups: &[&str]) -> impl Iterator<Item = &'a Arg> {
    let ids = command.get_groups();
    let ids = ids.filter(|group| groups.contains(&group.get_id().as_str()));
    let args = ids.flat_map(ArgGroup::get_args);
    let args = args.filter_map(|id| command.get_arguments().find(|arg| arg.get_id() == id));
    args.filter(|arg| !arg.is_hide_set())
}

/// Returns the word that would be typed for an option of the file. Checks that clap accepts it.
fn word(command: &Command, option: &str, value: &DeValue) -> Result<Option<String>, String> {
    let name = |arg: &Arg| arg.get_long().unwrap_or_default().to_owned();
    let Some(arg) = options(command, &GROUPS).find(|arg| name(arg) == option) else {
        let names: Vec<String> = options(command, &GROUPS).map(name).collect();
        let hint = nearest::hint(option, names.iter().map(String::as_str));
        return Err(format!(
            "{option}: no such option; {hint}use those of udpbench --help that say what is measured and how, \
             without dashes"
        ));
    };
    let word = match (arg.get_action(), value) {
        (ArgAction::SetTrue, DeValue::Boolean(true)) => format!("--{option}"),
        (ArgAction::SetTrue, DeValue::Boolean(false)) => return Ok(None),
        (ArgAction::SetTrue, _) => return Err(format!("{option}: use true or false")),
        (_, value) => format!(
            "--{option}={}",
            typed(value)
                .ok_or_else(|| { format!("{option}: use a text, a number, or a list of them") })?
        ),
    };
    match Cli::try_parse_from(cli::spread(["udpbench", &word])) {
        // The missing option may be typed.
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => Ok(Some(word)),
        Err(error) => {
            let text = error.to_string();
            let problem = text.split("\n\n").next().unwrap_or_default();
            Err(problem.trim_start_matches("error: ").to_owned())
        }
        Ok(_) => Ok(Some(word)),
    }
}

fn typed(value: &DeValue) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        // Written as in the file, without underscores.
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| typed(value.get_ref()));
            Some(texts.collect::<Option<Vec<String>>>()?.join(","))
        }
        DeValue::Integer(_) | DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Table(_) => {
            None
        }
    }
}
