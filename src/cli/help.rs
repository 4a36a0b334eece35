//! Arranges the help: the headings, the options that `-h` shows, and the options that a command does not show at all.

use std::sync::LazyLock;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Id};

use crate::error::UsageError;

/// Headings of options, in the order of `--help`.
pub const HEADINGS: [&str; 7] = [
    "What",
    "Workload",
    "Sockets",
    "Path",
    "Measuring",
    "Placement",
    "Output",
];

/// Options that `-h` of the other commands leaves out.
const RARE_OPTIONS: &str = "--sender --receiver --sndbuf --tos --sched --mlock --transport --flows --outstanding \
    --think-time --arrivals --service --server-model --batch --train --loopback --priority --checksum --cmsg --busy-poll \
    --tokio-workers --duplex --wait --sharing --spread --until --max-time --warmup --heat --no-reference --verify \
    --power-command --seed --decimal-comma --columns --samples --warnings --explain --board --rsh --accept --drop-reasons --agent --binary --exceed --width --recheck";

/// Options that `-h` of the program shows, and of `wire`: these also list commands.
const OF_PROGRAM: &str = "--engine --threads --payload --pin --quick --full --on --output";
const OF_WIRE: &str = "--engine --workload --payload --rate --direction --address --rsh --deploy --duration --rounds \
    --quick --full --threads --output --baseline --against";

/// A table: the command, options of it, and a text about them.
type Table = LazyLock<Vec<[&'static str; 3]>>;
static WITHOUT: Table = LazyLock::new(|| table(include_str!("help/without.txt")));
static DEFAULTS: Table = LazyLock::new(|| table(include_str!("help/defaults.txt")));

/// Reads a table whose columns are parted by bars.
fn table(text: &'static str) -> Vec<[&'static str; 3]> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let cells = lines.map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    cells.filter_map(|cells| cells.try_into().ok()).collect()
}

/// Options that say how `wire` reaches its host. They are typed behind `wire HOST`.
const REACH: &str = "--rsh --agent --deploy --binary --drop-reasons";

/// Arranges the help of a command and of those of its subcommands whose names `is_wanted` accepts. `path` is how the
/// command is typed, without the program's name.
pub(super) fn arranged(command: Command, path: &str, is_wanted: &dyn Fn(&str) -> bool) -> Command {
    let mut args: Vec<Arg> = command.get_arguments().cloned().collect();
    // clap shows the headings in the order of their first options.
    args.sort_by_key(|arg| {
        let heading = arg.get_help_heading();
        HEADINGS.iter().position(|it| Some(*it) == heading)
    });
    let mut args = args.into_iter().map(|arg| arranged_option(arg, path));
    let command = command.mut_args(|arg| args.next().unwrap_or(arg));
    let command = match command.get_after_help().map(ToString::to_string) {
        None => command,
        Some(all) => {
            let examples = all.split("\n\n").next().unwrap_or_default().to_owned();
            command.after_help(examples).after_long_help(all)
        }
    };
    command.mut_subcommands(|subcommand| {
        if !is_wanted(subcommand.get_name()) {
            return subcommand;
        }
        let path = format!("{path} {}", subcommand.get_name());
        arranged(subcommand, path.trim_start(), is_wanted)
    })
}

fn arranged_option(arg: Arg, path: &str) -> Arg {
    let Some(name) = arg.get_long().map(str::to_owned) else {
        // clap has a heading of its own for them.
        return arg.help_heading(None::<&str>);
    };
    let mut defaults = DEFAULTS.iter();
    let default = defaults.find(|[command, option, _]| is_of(path, command) && *option == name);
    let default = default.map(|[.., text]| *text);
    let shown = default.map(|text| text.trim_matches(['(', ')']));
    let is_common = match path {
        "" => is_in(OF_PROGRAM, &name),
        "wire" => is_in(OF_WIRE, &name),
        "check" | "boards" | "engines" => true,
        _ => !is_in(RARE_OPTIONS, &name),
    };
    let is_hidden = arg.is_hide_set() || without(path, &name).is_some();
    let arg = with_texts(arg, shown)
        .hide(is_hidden)
        .hide_short_help(!is_common);
    match default.filter(|text| !text.starts_with('(')) {
        Some(value) => arg.default_value(value).hide_default_value(true),
        None => arg,
    }
}

/// Returns what to do instead of an option that a command does not take. Empty: it does no harm.
pub(super) fn without(path: &str, name: &str) -> Option<&'static str> {
    let mut entries = WITHOUT.iter().filter(|[command, ..]| match *command {
        "" => !is_of(path, "wire"),
        command => is_of(path, command),
    });
    let entry = entries.find(|[_, names, _]| is_in(names, name));
    entry.map(|[.., instead]| *instead)
}

/// Returns whether an option, without its dashes, is in a list of options with them.
fn is_in(names: &str, name: &str) -> bool {
    names
        .split(' ')
        .any(|it| it.strip_prefix("--") == Some(name))
}

/// Returns the options of this level of a command line that were typed, without their dashes, and their values.
fn typed(matches: &ArgMatches) -> impl Iterator<Item = (String, Vec<String>)> {
    // The names of groups are those of types.
    let ids = matches.ids().map(Id::as_str);
    let ids = ids.filter(|id| id.starts_with(char::is_lowercase));
    let ids = ids.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
    ids.map(|id| {
        let is_flag = matches.try_get_one::<bool>(id).is_ok();
        let values = matches.get_raw(id).filter(|_| !is_flag);
        let values = values.into_iter().flatten();
        let values = values.map(|value| value.to_string_lossy().into_owned());
        (id.replace('_', "-"), values.collect())
    })
}

/// Returns an error for the first of these options that was typed, with this fix.
pub(super) fn refuse(
    matches: &ArgMatches,
    names: &'static str,
    fix: &str,
) -> Result<(), UsageError> {
    let refused = names.split(' ').find_map(|name| {
        let mut typed = typed(matches);
        let (_, values) = typed.find(|(it, _)| name.strip_prefix("--") == Some(it))?;
        Some(UsageError::flag(name, &values.join(","), fix))
    });
    refused.map_or(Ok(()), Err)
}

/// Returns an error if parameters are given with `--suite`: a suite sets them itself. clap's own error would list every
/// parameter.
fn refuse_parameters(matches: &ArgMatches) -> Result<(), UsageError> {
    let suite = matches.try_get_one::<String>("suite").ok().flatten();
    let given = matches.try_get_one::<Id>("ParameterArgs").ok().flatten();
    let Some((suite, given)) = suite.zip(given) else {
        return Ok(());
    };
    let name = given.as_str().replace('_', "-");
    let fix = format!("a suite says itself what varies: leave out --{name}");
    Err(UsageError::flag("--suite", suite, fix))
}

/// Returns an error for the first option that its command does not take.
pub(super) fn refuse_without(mut matches: &ArgMatches) -> Result<(), UsageError> {
    let (mut path, mut is_reached) = (String::new(), false);
    loop {
        for [_, names, instead] in WITHOUT.iter().filter(|[.., instead]| !instead.is_empty()) {
            for name in names.split(' ') {
                if without(&path, &name[2..]) == Some(instead) {
                    refuse(matches, name, instead)?;
                }
            }
        }
        refuse_parameters(matches)?;
        is_reached |= path == "wire" || typed(matches).any(|(name, _)| name == "on");
        if !is_reached {
            let fix = "it is for another host: add --on HOST, or write it behind wire HOST";
            refuse(matches, REACH, fix)?;
        }
        let Some((below, rest)) = matches.subcommand() else {
            return Ok(());
        };
        // What `wire` measures instead of a sweep has the options of its own behind it.
        let mut early = typed(matches).filter(|(name, _)| name != "to" && !is_in(REACH, name));
        if let Some((name, _)) = early.next() {
            let fix = format!("write it behind {below}");
            return Err(UsageError::flag("wire", &format!("--{name}"), fix));
        }
        path = match &path[..] {
            "" => below.to_owned(),
            above => format!("{above} {below}"),
        };
        matches = rest;
    }
}

/// Subcommands that `-h` leaves out: the sweep by its name, and those that other programs call.
const RARE: [&str; 4] = ["run", "agent", "completions", "manual"];

/// Returns the command as `-h` shows it: options in one list without headings, and no rare subcommands.
pub(super) fn brief(command: Command) -> Command {
    let command = command.mut_args(|arg| arg.help_heading(None::<&str>));
    command.mut_subcommands(|subcommand| {
        let is_hidden = subcommand.is_hide_set() || RARE.contains(&subcommand.get_name());
        brief(subcommand).hide(is_hidden)
    })
}

/// Returns the command that measures the same on one host.
fn of_one_host(path: &str) -> &str {
    let mut above = ["wire ", "plan "].iter();
    above
        .find_map(|above| path.strip_prefix(above))
        .unwrap_or(path)
}

/// Returns whether a command, or the same one of one host, is `above` or below it.
fn is_of(path: &str, above: &str) -> bool {
    [path, of_one_host(path)].into_iter().any(|path| {
        let rest = path.strip_prefix(above);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

/// Sets the texts of an option. `--help` has the one of `-h` and then the rest. The default is at the end of each.
fn with_texts(arg: Arg, default: Option<&str>) -> Arg {
    let short = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let long = arg.get_long_help().map(ToString::to_string);
    let rest = long.as_deref().and_then(|long| long.split_once("\n\n"));
    if rest.is_none() && default.is_none() {
        return arg;
    }
    let (about, usual) = without_default(&short);
    let (rest, usual_of_all) = without_default(rest.map_or("", |(_, rest)| rest));
    let end = |usual: Option<&str>| {
        let default = default.or(usual);
        default.map_or_else(String::new, |text| format!(" [default: {text}]"))
    };
    let dot = if rest.is_empty() { "" } else { ". " };
    let long = format!("{about}{dot}{rest}{}", end(usual_of_all.or(usual)));
    let short = format!("{about}{}", end(usual));
    arg.help(short).long_help(long)
}

/// Splits the default from the end of a text.
fn without_default(text: &str) -> (&str, Option<&str>) {
    let split = text.strip_suffix(']');
    match split.and_then(|text| text.split_once("[default: ")) {
        Some((about, default)) => (about.trim_end(), Some(default)),
        None => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    #[test]
    fn the_tables_name_commands_and_options_that_exist() {
        for [path, names, _] in WITHOUT.iter().chain(&*DEFAULTS) {
            let mut command = Cli::command();
            for name in path.split_whitespace() {
                command = command.find_subcommand(name).expect(path).clone();
            }
            let mut below: Vec<&Command> = command.get_subcommands().collect();
            below.push(&command);
            let all = || below.iter().flat_map(|it| it.get_arguments());
            for name in names.split(' ').map(|name| name.trim_start_matches('-')) {
                assert!(
                    all().any(|arg| arg.get_long() == Some(name)),
                    "{path} --{name}"
                );
            }
        }
    }

    #[test]
    fn the_default_stands_at_the_end_of_each_text() {
        let texts = |arg: &Arg| {
            let texts = [arg.get_help(), arg.get_long_help()];
            texts.map(|text| text.map(ToString::to_string).unwrap_or_default())
        };
        let arg = || Arg::new("a").long("a").help("Short [default: 1]");
        let arg = arg().long_help("Short [default: 1]\n\nRest [default: 1, or 2]");
        let usual = ["Short [default: 1]", "Short. Rest [default: 1, or 2]"];
        assert_eq!(texts(&with_texts(arg.clone(), None)), usual);
        let own = ["Short [default: 3]", "Short. Rest [default: 3]"];
        assert_eq!(texts(&with_texts(arg, Some("3"))), own);
    }
}
