//! Standard output and standard error: closed, full, or a terminal, which untrusted text must not control.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::common::made_up::MadeUp;
use crate::common::{LONG_SWEEP, Place, assert_code, json_rows, rows, stderr, stdout};
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
    for format in ["csv", "json", "jsonl"] {
        for (reader, redirection) in [("true", ""), ("cat", ">/dev/full")] {
            let place = Place::new();
            let rows = format!("-o - --samples s.jsonl --format {format}");
            let sweep = LONG_SWEEP.replace("-o out.csv", &rows);
            let script =
                format!("{{ $udpbench {sweep} {redirection}; echo $? >status; }} | {reader}");
            let message = stderr(&place.shell(&script));
            let status = fs::read_to_string(place.path("status")).expect("written");
            assert_eq!(status, "1\n", "{format} {reader}: {message}");
            assert!(
                message.contains("to standard output"),
                "{format} {reader}: {message}"
            );
            // What was measured is in the file.
            assert!(
                message.contains("resume s.jsonl"),
                "{format} {reader}: {message}"
            );
            let output = place.run("summarize s.jsonl");
            assert_eq!(output.status.code(), Some(0), "{format} {reader}");
        }
    }
}

#[test]
fn rows_as_json_lines_arrive_while_the_sweep_goes_on() {
    let place = Place::new();
    let sweep = LONG_SWEEP.replace("-o out.csv", "--format jsonl --samples s.jsonl");
    let mut command = place.udpbench(&sweep);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    let pipe = child.stdout.take().expect("a pipe");
    // It holds a few rows at most, so that the program waits for this one to read: it cannot be through.
    fcntl(&pipe, FcntlArg::F_SETPIPE_SZ(4096)).expect("a smaller pipe");
    let mut lines = BufReader::new(pipe).lines();
    let first = lines.next().expect("a line").expect("UTF-8");
    let events = crate::common::lines(&place.path("s.jsonl"));
    child.kill().expect("it runs");
    child.wait().expect("it is reaped");
    let row: Value = serde_json::from_str(&first).expect("a row");
    assert_eq!((&row["status"], &row["rounds"]), (&"ok".into(), &5.into()));
    let is_end = |event: &&Event| matches!(event, Event::BlockEnded { .. });
    let ended = events.iter().filter(is_end).count();
    assert!((1..20).contains(&ended), "{ended} of 20 blocks were done");
}

#[test]
fn text_that_a_full_disk_refuses_is_an_error() {
    let place = Place::new();
    for arguments in [
        "engines",
        "boards",
        "plan",
        "boards rpi-4b",
        #[cfg(feature = "manual")]
        "completions bash",
        "--help",
    ] {
        let output = place.shell(&format!("exec $udpbench {arguments} >/dev/full"));
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        assert!(
            stderr(&output).contains("to standard output"),
            "{arguments}"
        );
    }
    // But not for a sweep, whose results are in files.
    let output = place.shell(&format!("exec $udpbench {LONG_SWEEP} >/dev/full"));
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("the table is not shown"));
}

#[test]
fn a_closed_standard_error_is_no_error_either() {
    let place = Place::new();
    let sweep = LONG_SWEEP.replace("5ms --threads 2", "5ms --threads 1");
    let output = place.shell(&format!("exec $udpbench {sweep} 2>&-"));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(rows(&place.path("out.csv")).len(), 40);
    let output = place.shell("exec $udpbench plan --board nope 2>&-");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_a_file_holds_does_not_steer_the_terminal() {
    let place = Place::new();
    let output = place.run(
        "--engine std,mmsg --ip v4 --heat 0s --warmup 1ms --rounds 5 --duration 20ms --threads 2 \
                            --payload 300 -o run.csv",
    );
    assert_code(&output, 0);
    let steering = "a\u{1b}[2Jb\u{202e}c\nforged: ok\u{7}\u{9b}";
    let warning = CaseWarning::InOneProcess {
        why: steering.to_owned(),
    };
    let mut made_up = MadeUp::from(&place.path("run.jsonl")).warned(&warning);
    let host = &mut made_up.header.environment.host;
    host.model = Some(steering.to_owned());
    host.cpu_model = Some(steering.to_owned());
    let name = "x\u{1b}[31m\u{202e}\nforged: ok.jsonl";
    made_up.write(&place.path(name));
    for arguments in [
        &["rank", name][..],
        &["compare", name, name],
        &["compare", "run.jsonl", name],
        &["summarize", name, "--format", "table"],
        &["summarize", name, "--format", "markdown"],
        &["summarize", name, "-o", name],
        &["plan", "--board", name],
        &["resume", name],
    ] {
        let mut command = place.udpbench("");
        let output = command.args(arguments).output().expect("it starts");
        let text = stdout(&output) + &stderr(&output);
        assert!(text.contains("u{202e}"), "{arguments:?}: {text}");
        assert!(!text.contains("\nforged"), "{arguments:?}: {text}");
        let steers = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!text.contains(steers), "{arguments:?}: {text:?}");
    }
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
