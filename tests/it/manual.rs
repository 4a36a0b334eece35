//! Checks that the manual pages and the completions match the command line.

use std::fs;

use crate::common::{Place, stderr, stdout};
use udpbench::cli::Cli;

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
        assert!(text.contains(&format!("\n{example}")), "{text}");
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

/// Checks that the completion script of a shell names every subcommand and option, and that the shell can parse it.
fn check_completions(shell: &str) {
    let place = Place::new();
    let script = stdout(&place.run(&format!("completions {shell}")));
    for (command, options) in commands() {
        assert!(script.contains(&command), "{command}");
        for option in options {
            assert!(script.contains(&option), "{command} --{option}");
        }
    }
    assert!(!script.contains("put-back"), "a hidden subcommand");
    if is_here(shell) {
        fs::write(place.path("script"), script).expect("writable");
        let parsed = place.shell(&format!("{shell} -n script"));
        assert_eq!(stderr(&parsed), "");
        assert!(parsed.status.success());
    }
}

#[test]
fn bash_completes_every_subcommand_and_option() {
    check_completions("bash");
}

#[test]
fn fish_completes_every_subcommand_and_option() {
    check_completions("fish");
}

#[test]
fn zsh_completes_every_subcommand_and_option() {
    check_completions("zsh");
}
