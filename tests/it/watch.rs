//! Tests of `udpbench watch`: one case, a line for each window.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStderr, Command, Stdio};

use crate::common::{Place, assert_code, program, stderr, stdout};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Long enough for a busy machine to move something in each window.
const SHORT: &str = "watch --window 100ms --warmup 1ms";
/// An engine that moves nothing: a machine decides less about it. With larger payloads, its Mb/s need a wider column.
const NULL: &str = "--engine null --payload 26";
/// The lines that a watch prints which ends by itself.
fn lines(options: &str) -> Vec<String> {
    let place = Place::new();
    let output = place.run(&format!("{SHORT} {options}"));
    assert_code(&output, 0);
    assert_eq!(place.files(), Vec::<String>::new(), "it keeps no files");
    stdout(&output).lines().map(str::to_owned).collect()
}

/// Returns the cells of that column, one a line.
fn column(lines: &[String], name: &str) -> Vec<String> {
    // Names of two words end where their column does.
    let end = lines[0].find(name).expect("a heading") + name.len();
    let cell = |line: &String| {
        line[..end]
            .split(' ')
            .next_back()
            .unwrap_or_default()
            .to_owned()
    };
    lines[1..].iter().map(cell).collect()
}

fn numbers(lines: &[String], name: &str) -> Vec<f64> {
    let cells = column(lines, name);
    cells
        .iter()
        .map(|cell| cell.parse().expect("a number"))
        .collect()
}

#[test]
fn there_is_a_header_and_a_line_for_each_window_until_there_are_enough() {
    for count in [1, 25] {
        let lines = lines(&format!("{NULL} --count {count}"));
        assert_eq!(lines.len(), 1 + count, "in a pipe, one header");
        assert!(lines[0].starts_with("UTC "), "{lines:?}");
        assert_eq!(lines[0].chars().count(), 60);
        for line in &lines[1..] {
            assert!(line.chars().count() <= 80, "{line}");
            assert_eq!(line.as_bytes()[2], b':', "{line}");
        }
        // Few datagrams, as in an emulator, have one digit less.
        assert_eq!(numbers(&lines, "loss%"), vec![0.0; count]);
        assert_eq!(column(&lines, "where"), vec!["-"; count]);
    }
}

#[test]
fn the_summary_says_how_many_windows_there_were_and_what_they_have_in_the_middle() {
    let output = Place::new().run(&format!("{SHORT} {NULL} --count 3"));
    let message = stderr(&output);
    let summary = message.lines().last().expect("a summary");
    assert!(summary.starts_with("3 windows: median "), "{message}");
    assert!(summary.ends_with("loss 0.00 % (0.00 to 0.00)"), "{summary}");
    assert!(summary.len() <= 80, "{summary}");
}

#[test]
fn rate_payload_and_loss_agree_and_what_is_lost_has_its_place() {
    // Two senders, and a buffer for a few datagrams: on any machine some do not fit.
    let lines = lines("--threads 3 --payload 1000 --rcvbuf 4608 --count 4");
    let (mbps, kpps) = (numbers(&lines, "Mb/s"), numbers(&lines, "kpps"));
    for (mbps, kpps) in mbps.iter().zip(&kpps) {
        let bits = kpps * 8.0;
        assert!((mbps - bits).abs() <= 0.01 * bits + 1.0, "{lines:?}");
    }
    let loss = numbers(&lines, "loss%");
    assert!(
        loss.iter().all(|pct| (0.0..=100.0).contains(pct)),
        "{lines:?}"
    );
    for (loss, place) in loss.iter().zip(column(&lines, "where")) {
        // Less than is shown may be lost, too.
        assert!(*loss == 0.0 || place == "socket", "{lines:?}");
    }
    assert!(loss.iter().any(|&pct| pct > 0.0), "{lines:?}");
}

#[test]
fn requests_have_round_trips_in_the_place_of_loss() {
    let lines = lines("--workload rr --payload 26 --count 2");
    // Of so few, some quantiles are not known.
    let (p50, longest) = (numbers(&lines, "p50 us"), numbers(&lines, "max us"));
    assert!(
        p50.iter()
            .zip(&longest)
            .all(|(p50, longest)| p50 <= longest),
        "{lines:?}"
    );
    assert!(numbers(&lines, "kreq/s").iter().all(|&rate| rate > 0.0));
}

/// The files of a machine with one CPU.
fn root(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (name, text) in [("proc/self/status", "Cpus_allowed_list:\t0\n")]
        .iter()
        .chain(files)
    {
        let path = place.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, text).expect("written");
    }
    place
}

#[test]
fn temperature_and_clock_are_there_where_sensors_are() {
    let sensors = root(&[
        ("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n"),
        ("sys/class/thermal/thermal_zone0/temp", "48686\n"),
        (
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
            "1500000\n",
        ),
    ]);
    for (root, expected) in [(sensors, ["49", "1500"]), (root(&[]), ["-", "-"])] {
        let root = root.path("").display().to_string();
        let lines = lines(&format!("{NULL} --pin 0:0 --count 1 --root {root}"));
        assert_eq!(column(&lines, " C"), expected[..1], "{lines:?}");
        assert_eq!(column(&lines, "MHz"), expected[1..], "{lines:?}");
    }
}

#[test]
fn one_thread_is_watched_on_one_cpu() {
    let lines = lines("--threads 1 --count 2");
    assert!(
        numbers(&lines, "cpu ns").iter().all(|&ns| ns > 0.0),
        "{lines:?}"
    );
}

#[test]
fn more_than_one_case_is_refused_with_the_fix() {
    for (options, fix) in [
        (
            "--threads 1,2",
            "--threads 1,2: watch measures one case: use one value, such as --threads 1",
        ),
        (
            "--engine mio-level,std",
            "use one value, such as --engine mio-level",
        ),
        (
            "--engine all",
            "it measures one: give each option one value",
        ),
        (
            "--connection connected,unconnected",
            "such as --connection connected",
        ),
        (
            "--workload bidir --duplex full,half",
            "such as --duplex full",
        ),
        (
            "--threads 1 --engine mio-exhaustive",
            "it cannot run: mio-exhaustive starves",
        ),
        ("--window 10us", "--window 10us: use 1ms or more"),
        ("--count 0", "use a number from 1 to"),
        ("-o out.csv", "unexpected argument"),
        ("--resume out.jsonl", "unexpected argument"),
    ] {
        let place = Place::new();
        let output = place.run(&format!("watch {options}"));
        assert_eq!(output.status.code(), Some(2), "{options}");
        assert!(
            stderr(&output).contains(fix),
            "{options}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "", "{options}");
    }
}

#[test]
fn ctrl_c_ends_it_with_a_summary_and_no_failure() {
    for (signal, code) in [(Signal::SIGINT, 0), (Signal::SIGTERM, 143)] {
        let mut command: Command = program();
        let words = SHORT
            .split(' ')
            .chain(["--engine", "null", "--pin", "none"]);
        command
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        // Each comes when it is measured: these are read while it goes on.
        let first: Vec<String> = lines
            .by_ref()
            .take(4)
            .map(|line| line.expect("UTF-8"))
            .collect();
        assert_eq!(first.len(), 4);
        let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
        kill(pid, signal).expect("it goes on until then");
        let rest = lines.map_while(Result::ok).count();
        let mut message = String::new();
        let errors: Option<ChildStderr> = child.stderr.take();
        errors
            .expect("a pipe")
            .read_to_string(&mut message)
            .expect("UTF-8");
        assert_eq!(
            child.wait().expect("it ends").code(),
            Some(code),
            "{message}"
        );
        let summary = format!("\n{} windows: median ", 3 + rest);
        assert!(message.contains(&summary), "{message}");
    }
}

#[test]
fn lines_that_nobody_reads_any_more_end_it_quietly() {
    let place = Place::new();
    let script = format!("{{ $udpbench {SHORT} {NULL}; echo $? >status; }} | head -n 2");
    let output = place.shell(&script);
    assert_eq!(stdout(&output).lines().count(), 2);
    let status = fs::read_to_string(place.path("status")).expect("written");
    assert_eq!(status, "0\n", "{}", stderr(&output));
    assert!(!stderr(&output).contains("error"), "{}", stderr(&output));
}

#[test]
fn a_window_that_cannot_be_measured_is_a_line_with_the_reason() {
    let place = Place::new();
    // Enough files for sockets, and too few for event loops.
    let output = place.shell(&format!(
        "ulimit -n 62; exec $udpbench {SHORT} --engine mio-level --threads 32 --count 2"
    ));
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    let failed = text
        .lines()
        .filter(|line| line[8..].starts_with(" failed: "));
    assert_eq!(failed.count(), 2, "{text}");
    assert!(
        stderr(&output).ends_with("0 windows, 2 failed\n"),
        "{}",
        stderr(&output)
    );
}
