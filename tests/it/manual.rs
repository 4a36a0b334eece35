//! Checks that the manual pages and the completions match the command line.

use std::fs;

use crate::common::{Place, stderr, stdout};
use clap::{CommandFactory, ValueEnum};
use udpbench::cli::{Cli, Shell};

/// The program with its subcommands: the name of each, and its long options.
fn commands() -> Vec<(String, Vec<String>)> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let options = |command: &clap::Command| {
        let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
        let names = shown.filter_map(|arg| arg.get_long());
        names.map(str::to_owned).collect()
    };
    let of = |command: &clap::Command| (command.get_name().to_owned(), options(command));
    let shown = program
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let subcommands = shown.map(of);
    subcommands.chain([of(&program)]).collect()
}

/// The pages, in `pages/` of this place.
fn pages() -> Place {
    let place = Place::new();
    let output = place.run("manual pages");
    assert!(output.status.success(), "{}", stderr(&output));
    place
}

fn page(place: &Place, command: &str) -> String {
    let name = match command {
        "udpbench" => "udpbench.1".to_owned(),
        subcommand => format!("udpbench-{subcommand}.1"),
    };
    fs::read_to_string(place.path("pages").join(&name)).expect(&name)
}

/// Small systems lack what only two of these tests use.
fn is_here(tool: &str) -> bool {
    let found = Place::new().shell(&format!("command -v {tool}"));
    if !found.status.success() {
        eprintln!("no {tool} here: not tried");
    }
    found.status.success()
}

#[test]
fn every_command_has_a_page_with_all_its_options() {
    let place = pages();
    for (command, options) in commands() {
        let text = page(&place, &command);
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(text.contains(&format!("\n.SH {section}\n")), "{command}");
        }
        for option in options {
            let entry = format!("\\fB\\-\\-{}\\fR", option.replace('-', "\\-"));
            assert!(text.contains(&entry), "{command} --{option}");
        }
        assert!(!text.contains("\\-\\-root"), "{command}: --root is hidden");
    }
    let written = fs::read_dir(place.path("pages")).expect("they are there");
    assert_eq!(written.count(), commands().len());
}

#[test]
fn the_main_page_has_all_that_help_shows() {
    let text = page(&pages(), "udpbench").replace('\\', "");
    for section in ["SUBCOMMANDS", "EXAMPLES", "FILES", "\"EXIT CODES\""] {
        assert!(text.contains(&format!("\n.SH {section}\n")), "{section}");
    }
    let after_help = Cli::command()
        .get_after_long_help()
        .map(ToString::to_string);
    let after_help = after_help.expect("examples, files, exit codes");
    let entries = after_help.lines().filter(|line| line.starts_with("  "));
    for piece in entries.flat_map(|line| line.trim_start().split("  ")) {
        assert!(text.contains(piece.trim_start()), "{piece}");
    }
}

#[test]
fn each_example_has_a_line_of_its_own() {
    let text = page(&pages(), "find").replace('\\', "");
    for example in [
        "udpbench find lossless --engine std,mmsg --payload 300",
        "udpbench wire pi@board find lossless --direction up",
    ] {
        assert!(text.contains(&format!("\nfB{example}fR\n")), "{text}");
    }
}

#[test]
fn groff_has_no_complaints_about_the_pages() {
    let place = pages();
    let groff = "for page in pages/*; do groff -man -ww -z \"$page\"; done";
    if !is_here("groff") {
        return;
    }
    assert_eq!(stderr(&place.shell(groff)), "");
}

#[test]
fn pages_that_cannot_be_written_are_refused_with_the_place() {
    let place = Place::new();
    fs::write(place.path("file"), "").expect("writable");
    let output = place.run("manual file/pages");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: manual file/pages: cannot write there: "));
}

#[test]
fn completions_know_every_subcommand_and_option() {
    let shells = Shell::value_variants()
        .iter()
        .filter_map(Shell::to_possible_value);
    for shell in shells.map(|value| value.get_name().to_owned()) {
        let output = Place::new().run(&format!("completions {shell}"));
        let script = stdout(&output);
        for (command, options) in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
            for option in options {
                assert!(script.contains(&option), "{shell}: {command} --{option}");
            }
        }
    }
}

/// Returns a place with two runs of the baseline `before`.
fn place_with_baselines() -> Place {
    let place = Place::new();
    let directory = place.path("results/baselines");
    fs::create_dir_all(&directory).expect("writable");
    for file in ["before.csv", "before.2.csv"] {
        fs::write(directory.join(file), "").expect("writable");
    }
    place
}

#[test]
fn fish_completes_lists_and_baselines() {
    if !is_here("fish") {
        return;
    }
    let place = place_with_baselines();
    let complete = |words: &str| {
        let script = format!(
            "$udpbench completions fish >u.fish; fish -c \"source u.fish; complete -C '{words}'\""
        );
        // Some versions add the description of the option.
        let words = stdout(&place.shell(&script));
        let word = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
        words.lines().map(word).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(complete("udpbench --engine std,mm"), "std,mmsg");
    assert_eq!(
        complete("udpbench run --engine=mmsg,tokio-ex"),
        "--engine=mmsg,tokio-exhaustive"
    );
    assert_eq!(complete("udpbench --against befo"), "before");
    assert_eq!(complete("udpbench check --roo"), "");
}

#[test]
fn bash_completes_options_subcommands_and_names() {
    let complete = |words: &str| {
        let script = format!(
            "eval \"$($udpbench completions bash)\"; COMP_WORDS=(udpbench {words}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _udpbench udpbench \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo ${{COMPREPLY[*]}}"
        );
        let place = place_with_baselines();
        stdout(&place.shell(&format!("bash -c '{script}'")))
    };
    if !is_here("bash") {
        return;
    }
    assert_eq!(complete("--threa"), "--threads\n");
    assert_eq!(complete("compl"), "completions\n");
    assert_eq!(complete("plan --pay"), "--payload\n");
    assert_eq!(complete("--engine mio-ex"), "mio-exhaustive\n");
    assert_eq!(complete("--engine std,mio-ex"), "std,mio-exhaustive\n");
    assert_eq!(complete("plan --ip v4,"), "v4,v4 v4,v6\n");
    assert_eq!(complete("check --roo"), "\n");
    assert_eq!(complete("--against bef"), "before\n");
    assert_eq!(complete("--receiver block"), "blocking\n");
    assert_eq!(complete("--board rpi-4"), "rpi-400 rpi-4b\n");
    assert_eq!(complete("boards rock-5"), "rock-5b\n");
    assert_eq!(complete("--suite rust"), "rust-socket-benchmark\n");
}
