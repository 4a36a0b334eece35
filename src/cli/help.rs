//! Arranges the help: the headings, the options that `-h` shows, and the options that a command does not show at all.

use std::ffi::OsStr;

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

/// Options that `-h` leaves out, wherever they are.
const RARE_OPTIONS: &str = "--sender --receiver --sndbuf --tos --sched --mlock --transport --flows --outstanding \
    --think-time --arrivals --service --server-model --batch --train --loopback --priority --checksum --cmsg --busy-poll \
    --tokio-workers --duplex --wait --sharing --spread --until --max-time --warmup --heat --no-reference --verify \
    --power-command --seed --decimal-comma --columns --samples --accept-changes --warnings --explain --config \
    --no-config --drop-reasons --agent --binary --exceed --width --recheck";

/// Options that `-h` of the program shows: it also lists the commands.
const OF_PROGRAM: &str =
    "--engine --threads --payload --pin --duration --quick --full --on --output";

/// Options that a command has in common with others and that cannot do anything in it, nor in the commands below it:
/// the command, the options, and what to do instead. The help hides them. Who types one gets the last text; where that
/// is empty, the option does no harm.
const WITHOUT: [(&str, &str, &str); 22] = [
    (
        "wire",
        "--on",
        "wire always measures between this machine and its HOST: leave it out",
    ),
    (
        "wire",
        "--config --no-config",
        "a sweep between two hosts takes no options from a file: type them",
    ),
    ("wire latency", REACH, "write it right behind wire HOST"),
    ("wire find", REACH, "write it right behind wire HOST"),
    (
        "latency",
        "--workload --rate --outstanding --think-time --duplex",
        "latency is of requests, finds the rates and asks at once: leave it out, or use udpbench --workload rr",
    ),
    (
        "latency",
        "--suite",
        "a suite says itself what it measures: leave out latency",
    ),
    ("latency", "--no-reference --full", ""),
    (
        "find",
        "--rate --duplex",
        "a search has rates of its own, or none: leave it out",
    ),
    ("find lossless", "--outstanding --think-time", NO_WAITING),
    ("find cliff", "--arrivals", NO_RATES),
    ("find idle", "--arrivals", NO_RATES),
    (
        "find idle",
        "--think-time",
        "the search has think times of its own: use --silence FROM,TO",
    ),
    (
        "find idle",
        "--workload",
        "this search is of round trips: leave it out",
    ),
    ("find burst", "--outstanding --think-time", NO_WAITING),
    (
        "find burst",
        "--arrivals",
        "the search has trains of its own: leave it out",
    ),
    (
        "find knee",
        "--batch --train",
        "the search chooses it: leave it out",
    ),
    (
        "find knee",
        "--workload --arrivals --outstanding --think-time --service --server-model",
        "this search is of floods as fast as they go: leave it out",
    ),
    ("find tuning", "--arrivals", NO_RATES),
    (
        "plan",
        "--resume",
        "the plan is in the file; udpbench --resume continues it",
    ),
    (
        "plan",
        "--until --max-time --seed --output --format --columns --samples --baseline --against --accept-changes \
         --warnings --quiet",
        "",
    ),
    // `wire` alone has them: see `without`.
    ("", "--direction", FOR_TWO_HOSTS),
    ("", "--drop-reasons", FOR_TWO_HOSTS),
];
const NO_WAITING: &str = "who sends at a rate does not wait for answers: leave it out";
const NO_RATES: &str = "this search sends at no rate: leave it out";
const FOR_TWO_HOSTS: &str = "it is for two hosts: use udpbench wire USER@HOST, or leave it out";

/// Options that say how `wire` reaches its host. They are typed behind `wire HOST`.
const REACH: &str = "--rsh --agent --deploy --binary --drop-reasons";

/// Defaults that differ from those of a sweep, by command and option.
const DEFAULTS: [(&str, &str, &str); 23] = [
    ("latency", "threads", "2"),
    ("latency", "payload", "26"),
    ("latency", "ip", "v4"),
    ("latency", "connection", "connected"),
    ("find cliff", "payload", "16,9000"),
    ("find cliff", "workload", "rr"),
    ("find idle", "engine", "std"),
    ("find idle", "threads", "2"),
    ("find idle", "payload", "64"),
    ("find idle", "workload", "rr"),
    ("find knee", "engine", "mmsg,gso"),
    ("find knee", "threads", "2"),
    ("find knee", "payload", "1460"),
    ("find knee", "workload", "flood"),
    ("find tuning", "engine", "std"),
    ("find tuning", "threads", "2"),
    ("find tuning", "payload", "1460"),
    ("find tuning", "workload", "flood,rr"),
    ("watch", "engine", "std"),
    ("watch", "threads", "2"),
    ("watch", "payload", "1460"),
    ("watch", "ip", "v4"),
    ("watch", "connection", "connected"),
];

/// Texts about defaults that depend on more than the command. The first entry counts.
const DEFAULT_TEXTS: [(&str, &str, &str); 13] = [
    ("latency", "duration", "2s"),
    ("find cliff", "threshold", "10%"),
    ("find idle", "threshold", "100%"),
    ("find knee", "threshold", "2%"),
    ("find tuning", "max-case-time", "none"),
    ("find lossless", "engine", "std,mmsg,gso-gro"),
    ("find lossless", "payload", "mostly 1460"),
    (
        "find lossless",
        "max-case-time",
        "5m; 100s with the default engines and payload",
    ),
    ("find", "threads", "the most that fit the CPUs"),
    ("find", "payload", "mostly 26,1460"),
    ("find", "ip", "v4"),
    ("find", "connection", "connected"),
    ("wire", "address", "the one that ssh has reached"),
];

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
    let of = |table: &'static [(&str, &str, &'static str)]| {
        let mut table = table.iter();
        let found = table.find(|(command, option, _)| is_of(path, command) && *option == name);
        found.map(|(.., text)| *text)
    };
    let default = of(&DEFAULTS);
    let is_common = match path {
        "" => is_in(OF_PROGRAM, &name),
        _ => !is_in(RARE_OPTIONS, &name),
    };
    let arg = with_texts(arg, default.or_else(|| of(&DEFAULT_TEXTS)))
        .hide(without(path, &name).is_some())
        .hide_short_help(!is_common);
    match default {
        Some(value) => arg.default_value(value).hide_default_value(true),
        None => arg,
    }
}

/// Returns what to do instead of an option that a command does not take. Empty: it does no harm.
pub(super) fn without(path: &str, name: &str) -> Option<&'static str> {
    let mut entries = WITHOUT.iter().filter(|(command, ..)| match *command {
        "" => !is_of(path, "wire"),
        command => is_of(path, command),
    });
    let entry = entries.find(|(_, names, _)| is_in(names, name));
    entry.map(|(.., instead)| *instead)
}

/// Returns whether an option, without its dashes, is in a list of options with them.
fn is_in(names: &str, name: &str) -> bool {
    names
        .split(' ')
        .any(|it| it.strip_prefix("--") == Some(name))
}

/// Returns the options of this level of a command line that were typed, without their dashes, and their values.
fn typed(matches: &ArgMatches) -> impl Iterator<Item = (String, String)> {
    // The names of groups are those of types.
    let ids = matches.ids().map(Id::as_str);
    let ids = ids.filter(|id| id.starts_with(char::is_lowercase));
    let ids = ids.filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine));
    ids.map(|id| {
        let is_flag = matches.try_get_one::<bool>(id).is_ok();
        let values = matches.get_raw(id).filter(|_| !is_flag);
        let values = values.into_iter().flatten().map(OsStr::to_string_lossy);
        let values: Vec<_> = values.collect();
        (id.replace('_', "-"), values.join(","))
    })
}

/// Returns an error for the first of these options that was typed, with this fix.
pub(super) fn refuse(
    matches: &ArgMatches,
    names: &'static str,
    fix: &str,
) -> Result<(), UsageError> {
    let typed: Vec<_> = typed(matches).collect();
    let refused = names.split(' ').find_map(|name| {
        let typed = typed
            .iter()
            .find(|(it, _)| name.strip_prefix("--") == Some(it));
        typed.map(|(_, value)| UsageError::flag(name, value, fix))
    });
    refused.map_or(Ok(()), Err)
}

/// Returns an error for the first option that its command does not take.
pub(super) fn refuse_without(mut matches: &ArgMatches) -> Result<(), UsageError> {
    let mut path = String::new();
    loop {
        for (_, names, instead) in WITHOUT.iter().filter(|(.., instead)| !instead.is_empty()) {
            let of_this = names
                .split(' ')
                .filter(|name| without(&path, &name[2..]) == Some(instead));
            for name in of_this {
                refuse(matches, name, instead)?;
            }
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
        path = format!("{path} {below}").trim_start().to_owned();
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
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn the_tables_name_commands_and_options_that_exist() {
        let without = WITHOUT.iter().map(|(path, names, _)| (*path, *names));
        let defaults = DEFAULTS.iter().chain(&DEFAULT_TEXTS);
        let defaults = defaults.map(|(path, option, _)| (*path, *option));
        for (path, names) in without.chain(defaults) {
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
