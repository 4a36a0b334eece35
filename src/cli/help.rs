//! Arranges the help: the headings, the options that `-h` shows, and the options that a command does not show at all.

use clap::{Arg, Command};

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

/// Options that `-h` shows, by command. A command that is not listed shows all.
const COMMON: [(&str, &str); 16] = [
    (
        "",
        "engine threads payload pin duration quick full on output",
    ),
    (
        "run",
        "engine workload suite payload rate connection ip on duration rounds full quick threads pin output format \
         baseline against resume",
    ),
    (
        "latency",
        "engine payload ip on load duration rounds quick threads pin output baseline against resume",
    ),
    (
        "find lossless",
        "engine workload payload on goal trial sum max-case-time threads pin output format resume",
    ),
    (
        "find cliff",
        "engine workload payload on threshold trial max-case-time threads pin output format resume",
    ),
    (
        "find idle",
        "engine payload on silence threshold max-case-time threads pin output format resume",
    ),
    (
        "find burst",
        "engine workload payload rcvbuf on pause trial max-case-time threads pin output resume",
    ),
    (
        "find knee",
        "engine payload on by threshold rounds max-case-time threads pin output format resume",
    ),
    (
        "find tuning",
        "engine workload payload setting yes rounds threads output resume",
    ),
    (
        "wire",
        "engine workload payload rate direction address rsh deploy duration rounds quick full threads output baseline \
         against resume",
    ),
    (
        "watch",
        "port pid engine workload payload rate connection rcvbuf count for window threads pin",
    ),
    (
        "plan",
        "engine workload suite payload rate connection ip on duration rounds full quick threads pin details",
    ),
    (
        "ab",
        "a b before-a before-b on rounds decide by details output resume",
    ),
    ("check", "board rcvbuf interface on deploy"),
    ("boards", "detect new capture on deploy"),
    ("engines", "on deploy"),
];

/// Options that a command has in common with others and that cannot do anything in it, nor in the commands below it.
/// They are hidden.
const WITHOUT: [(&str, &str); 12] = [
    ("wire", "on config no-config"),
    ("wire latency", BEHIND_WIRE),
    ("wire find", BEHIND_WIRE),
    (
        "latency",
        "workload rate outstanding think-time duplex suite no-reference full",
    ),
    ("find", "rate duplex"),
    ("find lossless", "outstanding think-time"),
    ("find cliff", "arrivals"),
    ("find idle", "arrivals think-time workload"),
    ("find burst", "outstanding think-time arrivals"),
    (
        "find knee",
        "batch train workload arrivals outstanding think-time service server-model",
    ),
    ("find tuning", "arrivals"),
    (
        "plan",
        "until max-time seed output format columns samples baseline against resume accept-changes warnings quiet",
    ),
];

/// Options that are typed behind `wire HOST`, not behind what follows it.
const BEHIND_WIRE: &str = "rsh agent deploy binary drop-reasons";

/// Options of `wire` alone.
const OF_WIRE: &str = "direction drop-reasons";

/// Defaults that differ from those of a sweep, by command and option. The first entry counts.
const DEFAULTS: [(&str, &str, &str); 34] = [
    ("latency", "threads", "2"),
    ("latency", "payload", "26"),
    ("latency", "ip", "v4"),
    ("latency", "connection", "connected"),
    ("latency", "duration", "2s"),
    ("find cliff", "payload", "16,9000"),
    ("find cliff", "workload", "rr"),
    ("find cliff", "threshold", "10%"),
    ("find idle", "engine", "std"),
    ("find idle", "threads", "2"),
    ("find idle", "payload", "64"),
    ("find idle", "threshold", "100%"),
    ("find knee", "engine", "mmsg,gso"),
    ("find knee", "threads", "2"),
    ("find knee", "payload", "1460"),
    ("find knee", "threshold", "2%"),
    ("find tuning", "engine", "std"),
    ("find tuning", "threads", "2"),
    ("find tuning", "payload", "1460"),
    ("find tuning", "workload", "flood,rr"),
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
    ("watch", "engine", "std"),
    ("watch", "threads", "2"),
    ("watch", "payload", "1460"),
    ("watch", "ip", "v4"),
    ("watch", "connection", "connected"),
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
    let has = |names: &str| names.split(' ').any(|it| it == name);
    let mut without = WITHOUT.iter().filter(|(command, _)| is_of(path, command));
    if without.any(|(_, names)| has(names)) || (has(OF_WIRE) && !is_of(path, "wire")) {
        return arg.hide(true);
    }
    let mut common = COMMON.iter();
    let common = common.find(|(command, _)| path == *command || of_one_host(path) == *command);
    let is_common = common.is_none_or(|(_, names)| has(names));
    let mut defaults = DEFAULTS.iter();
    let default = defaults.find(|(command, option, _)| is_of(path, command) && *option == name);
    with_texts(arg, default.map(|(.., text)| *text)).hide_short_help(!is_common)
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
        let common = COMMON.into_iter().chain(WITHOUT);
        let defaults = DEFAULTS.iter().map(|(path, option, _)| (*path, *option));
        for (path, names) in common.chain(defaults) {
            let mut command = Cli::command();
            for name in path.split_whitespace() {
                command = command.find_subcommand(name).expect(path).clone();
            }
            let mut below: Vec<&Command> = command.get_subcommands().collect();
            below.push(&command);
            let all = || below.iter().flat_map(|it| it.get_arguments());
            for name in names.split(' ') {
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
