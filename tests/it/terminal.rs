//! Standard output and standard error: closed, full, or a terminal, which untrusted text must not control.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::common::made_up::MadeUp;
use crate::common::{LONG_SWEEP, Place, assert_code, json_rows, rows, stderr, stdout};
use clap::CommandFactory;
use nix::fcntl::{FcntlArg, fcntl};
use serde_json::Value;
use udpbench::cli::Cli;
use udpbench::cli::help::HEADINGS;
use udpbench::results::log::Event;
use udpbench::results::row::CaseWarning;

#[test]
fn text_that_nobody_reads_to_its_end_is_no_error() {
    let place = Place::new();
    let text = [
        "engines",
        "boards",
        "plan",
        "boards rpi-4b",
        LONG_SWEEP,
        "--help",
    ];
    for arguments in text {
        let script = format!("{{ $udpbench {arguments}; echo $? >status; }} | true");
        let message = stderr(&place.shell(&script));
        let status = fs::read_to_string(place.path("status")).expect("written");
        assert_eq!(status.trim(), "0", "{arguments}: {message}");
        assert!(!message.contains("error"), "{arguments}: {message}");
    }
}

#[test]
fn rows_that_nobody_takes_are_no_success() {
    // Neither a CSV nor a JSON has control characters from the machine.
    let summarize = |format| {
        let mut command = place.udpbench("summarize --format");
        let output = command.args([format, name]).output().expect("it starts");
        stdout(&output)
    };
    let steers = |letter: char| letter.is_control() && letter != '\n';
    assert!(!summarize("csv").contains(steers));
    for row in json_rows(&summarize("json")) {
        let model = row["model"].as_str().expect("a text");
        assert!(!model.contains(char::is_control), "{model:?}");
    }
}

/// Every command as it is typed behind the program's name, and its definition.
fn commands() -> Vec<(String, clap::Command)> {
    let mut waiting = vec![(String::new(), Cli::command())];
    let mut all = Vec::new();
    while let Some((path, command)) = waiting.pop() {
        let subcommands = command.get_subcommands().filter(|it| !it.is_hide_set());
        waiting.extend(subcommands.map(|it| (format!("{path} {}", it.get_name()), it.clone())));
        all.push((path, command));
    }
    all
}

#[test]
fn the_short_help_fits_a_screen_and_examples_fit_a_line() {
    let place = Place::new();
    for (path, _) in commands() {
        let help = |flag: &str| {
            let mut command = place.udpbench(&format!("{path} {flag}"));
            let output = command.env("COLUMNS", "100").output().expect("it starts");
            stdout(&output)
        };
        let (short, long) = (help("-h"), help("--help"));
        let lines = short.lines().count();
        assert!((1..=40).contains(&lines), "{path}: {lines} lines:\n{short}");
        let examples = long.lines().filter(|line| line.contains("udpbench "));
        for line in examples.filter(|line| line.starts_with("  ")) {
            assert!(line.len() <= 100, "{path}: {line}");
        }
    }
}

#[test]
fn options_stand_below_headings_in_one_order() {
    for (path, command) in commands() {
        let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
        let headings: Vec<Option<&str>> = args
            .filter(|arg| arg.get_long().is_some())
            .map(clap::Arg::get_help_heading)
            .collect();
        if headings.len() < 8 {
            continue;
        }
        let place = |heading: &str| HEADINGS.iter().position(|it| *it == heading);
        let places: Vec<_> = headings.iter().map(|it| it.and_then(place)).collect();
        assert!(places.iter().all(Option::is_some), "{path}: {headings:?}");
        assert!(places.is_sorted(), "{path}: {headings:?}");
    }
}
