//! `udpbench completions`: prints a shell's completion script, generated from the clap definition.
//!
//! clap_complete knows neither lists with commas nor names that are files. So it gets marks in their place, which are
//! then replaced by calls of functions of the script.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory};
use clap_complete::{Generator, shells};

use crate::cli::{Cli, CompletionsArgs, Shell};

/// Prints the completion script of a shell.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let script = match args.shell {
        Shell::Bash => generate(shells::Bash, &BASH),
        // While the last option lacks its value, there is no subcommand either.
        Shell::Fish => generate(shells::Fish, &FISH).replacen("or return\n", "or return 0\n", 1),
        Shell::Zsh => generate(shells::Zsh, &ZSH),
    };
    super::show(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Mark of a list with commas. Its values follow, with this in place of blanks.
const LIST: &str = "LIST-OF@";
/// Mark of the names of baselines and files.
const BASELINES: &str = "BASELINES@";

/// Code of a shell in place of the marks.
struct Dialect {
    /// Functions at the end or, for zsh, behind the first line of the script.
    functions: &'static str,
    are_first: bool,
    /// Text of clap_complete around a mark.
    around: (&'static str, &'static str),
    /// Text around the values of a list, separated by blanks.
    list: (&'static str, &'static str),
    baselines: &'static str,
}

const BASH: Dialect = Dialect {
    functions: r#"
_udpbench_list() {
    local before=""
    [[ $cur == *,* ]] && before="${cur%,*},"
    COMPREPLY=($(compgen -P "$before" -W "$1" -- "${cur##*,}"))
}

_udpbench_baselines() {
    local names="" file
    for file in results/baselines/*.csv; do
        file="${file##*/}" file="${file%.csv}"
        [[ $file == "*" || $file =~ \.[0-9]+$ ]] || names+="$file "
    done
    COMPREPLY=($(compgen -W "$names" -- "$cur") $(compgen -f -- "$cur"))
}
"#,
    are_first: false,
    around: ("COMPREPLY=($(compgen -W \"", "\" -- \"${cur}\"))"),
    list: ("_udpbench_list \"", "\""),
    baselines: "_udpbench_baselines",
};

const ZSH: Dialect = Dialect {
    functions: r"
_udpbench_baselines() {
    local -a names=(results/baselines/*.csv(N:t:r))
    compadd -- ${names:#*.<->}
    _files
}
",
    are_first: true,
    around: ("(", ")"),
    list: (" _sequence compadd - ", ""),
    baselines: "_udpbench_baselines",
};

const FISH: Dialect = Dialect {
    functions: r"
function __udpbench_list
    set -l before (commandline -ct | string replace -r '^(--[^=]*=)?(.*,)?[^,]*$' '$2')
    for word in $argv
        echo $before$word
    end
end

function __udpbench_baselines
    for file in results/baselines/*.csv
        string replace -r '^.*/(.*)\.csv$' '$1' -- $file | string match -vr '\.[0-9]+$'
    end
    __fish_complete_path (commandline -ct)
end
",
    are_first: false,
    around: ("\"", "\\t''\""),
    list: ("\"(__udpbench_list ", ")\""),
    baselines: "\"(__udpbench_baselines)\"",
};

fn generate(shell: impl Generator, dialect: &Dialect) -> String {
    let mut script = Vec::new();
    // Written to memory first: clap_complete panics if a write fails.
    clap_complete::generate(shell, &mut shown(&Cli::command()), "udpbench", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    let (before, behind) = dialect.around;
    let marked = format!("{before}{BASELINES}{behind}");
    script = script.replace(&marked, dialect.baselines);
    let begin = format!("{before}{LIST}");
    let mut parts = script.split(begin.as_str());
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (values, rest) = part.split_once(behind).unwrap_or((part, ""));
        replaced += dialect.list.0;
        replaced += &values.replace('@', " ");
        replaced += dialect.list.1;
        replaced += rest;
    }
    match replaced.split_once('\n') {
        Some((first, rest)) if dialect.are_first => {
            format!("{first}\n{}{rest}", dialect.functions)
        }
        _ => replaced + dialect.functions,
    }
}

/// Returns a copy of a command with the subcommands and options that its help shows.
fn shown(command: &Command) -> Command {
    let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let below = command.get_subcommands().filter(|it| !it.is_hide_set());
    let mut copy = Command::new(kept(command.get_name()));
    if let Some(version) = command.get_version() {
        copy = copy.version(kept(version));
    }
    copy.about(command.get_about().cloned().unwrap_or_default())
        .disable_help_subcommand(true)
        .args(args.map(completed))
        .subcommands(below.map(shown))
}

/// Returns a text that lives as long as the program, which soon ends. clap takes no other ones.
fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Returns an argument as a shell completes it, without its relations to others.
fn completed(arg: &Arg) -> Arg {
    let takes_values = arg.get_action().takes_values();
    let mut copy = Arg::new(arg.get_id().clone())
        .action(arg.get_action().clone())
        .help(arg.get_help().cloned().unwrap_or_default());
    if let Some(long) = arg.get_long() {
        copy = copy.long(kept(long));
    }
    if let Some(short) = arg.get_short() {
        copy = copy.short(short);
    }
    if !takes_values {
        return copy;
    }
    let names = arg.get_value_names().unwrap_or_default().to_vec();
    copy = copy.value_names(names).value_hint(arg.get_value_hint());
    if arg.is_positional() {
        copy = copy.required(arg.is_required_set()).last(arg.is_last_set());
        copy = arg.get_num_args().into_iter().fold(copy, Arg::num_args);
    }
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .map(|value| value.get_name().to_owned())
        .collect();
    if arg.get_long() == Some("against") {
        copy.value_parser(PossibleValuesParser::new([BASELINES]))
    } else if arg.get_value_delimiter() == Some(',') && !values.is_empty() {
        let mark = kept(&format!("{LIST}{}", values.join("@")));
        copy.value_parser(PossibleValuesParser::new([mark]))
    } else {
        copy.value_parser(arg.get_value_parser().clone())
    }
}
