//! Checks that every table and message fits the width of the terminal, from 60 columns up, and breaks no word.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::made_up::{MadeUp, measured_pps};
use crate::common::{Place, hosts, stderr, stdout};
use udpbench::cli::Cli;
use udpbench::term::fold::is_command;

/// The narrowest that is promised, and the widest that tables are drawn.
const WIDTHS: [u16; 4] = [60, 80, 100, 120];

/// Runs the program at each width. Nothing is wider, and the narrow ones have the words of the widest.
fn fits(place: &Place, arguments: &str) {
    let shown = WIDTHS.map(|width| {
        let mut command = place.udpbench(arguments);
        let output = command.env("COLUMNS", width.to_string()).output();
        let output = output.expect("the program starts");
        stdout(&output) + &stderr(&output)
    });
    assert_fits(arguments, &shown);
}

/// Checks texts of these widths: each fits, and has the words of the widest.
fn assert_fits(what: &str, shown: &[String; 4]) {
    let known = words(&shown[3]);
    for (text, width) in shown.iter().zip(WIDTHS) {
        assert!(!text.is_empty(), "{what}");
        assert_narrow(what, text, width);
        let added = words("Not shown, for want of room: of. A wider terminal has them.");
        for word in words(text) {
            let is_known = known.contains(&word) || added.contains(&word);
            assert!(is_known, "{what} at {width}: {word}\n{text}");
        }
    }
}

/// The words of a text without those that have digits, which may be measured, and without what ends them.
fn words(text: &str) -> BTreeSet<String> {
    let has_digit = |word: &&str| word.contains(|letter: char| letter.is_ascii_digit());
    let words = text.split_whitespace().filter(|word| !has_digit(word));
    let words = words.map(|word| word.trim_end_matches([',', ';', '.', ':']).to_owned());
    words.collect()
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A place with a machine to look at, and the log of a run of every engine.
fn place() -> Place {
    let place = Place::new();
    let log = package().join("tests/fixtures/logs/every-engine.jsonl");
    fs::copy(log, place.path("run.jsonl")).expect("readable");
    let root = hosts::root("rpi-4b");
    let hosts = root.parent().expect("the directory of all");
    std::os::unix::fs::symlink(hosts, place.path("hosts")).expect("a link");
    place
}

#[test]
fn help_fits() {
    let place = Place::new();
    fits(&place, "--help");
    fits(&place, "-h");
    for subcommand in Cli::command().get_subcommands() {
        fits(&place, &format!("{} --help", subcommand.get_name()));
    }
}

#[test]
fn what_is_listed_fits() {
    let place = place();
    for arguments in [
        "engines",
        "boards",
        "boards --detect --root hosts/rpi-4b",
        "suites",
        "check --root hosts/x86-vm",
        "check --root hosts/rpi-4b",
        "check --root hosts/rockpro64-armbian --interface eth0",
        "plan --root hosts/rpi-4b",
        "plan --root hosts/rpi-4b --engine all --threads 1,2,3,4,8,16 --details",
        "plan --root hosts/x86-vm --suite board",
        "plan --root hosts/x86-vm --suite board --details",
        "plan --tos ef,cs1 --workload rr --rate 1k,5k --payload 26 --threads 2",
    ] {
        fits(&place, arguments);
    }
}

#[test]
fn results_fit() {
    let place = place();
    let slower = MadeUp::from(&place.path("run.jsonl"));
    let slower = slower.with_speeds(|case, sample| {
        let factor = if case.sender == case.receiver {
            0.7
        } else {
            1.0
        };
        factor * measured_pps(sample)
    });
    slower.write(&place.path("slower.jsonl"));
    for arguments in [
        "summarize run.jsonl --format table",
        "rank run.jsonl",
        "rank run.jsonl --by cpu --top 1",
        "rank run.jsonl --details",
        "compare run.jsonl slower.jsonl",
        "compare run.jsonl slower.jsonl --details",
        "compare run.jsonl slower.jsonl --by cpu --threshold 0",
    ] {
        fits(&place, arguments);
    }
    for (sweep, options) in [
        ("rr", "--workload rr --flows 20 --rate 2k"),
        (
            "bidir",
            "--workload bidir --duplex half,full --transport udp,tcp",
        ),
        ("peers", "latency --engine std,poll"),
    ] {
        let short =
            "--threads 2 --payload 26 --ip v4 --rounds 5 --warmup 0s --duration 10ms --heat 0s";
        place.run(&format!("{options} {short} -o {sweep}.csv"));
        fits(&place, &format!("summarize {sweep}.jsonl --format table"));
        fits(&place, &format!("rank {sweep}.jsonl --details"));
    }
}

#[test]
fn what_is_measured_fits() {
    let place = Place::new();
    let case = "--engine null --threads 2,4 --payload 26 --ip v4 --warmup 0s --duration 10ms";
    let sweep = format!("{case} --rounds 5 --heat 0s --connection connected");
    place.run(&format!("{sweep} -o base.csv"));
    for width in WIDTHS {
        let again = format!("--warnings --against base.csv -o {width}.csv");
        fits_once(&place, &format!("{sweep} {again}"), width);
        let asked = "latency --engine std,epoll-level,gso --threads 2 --payload 26 --ip v4";
        let short = "--rounds 5 --warmup 0s --duration 10ms --heat 0s --connection connected";
        fits_once(
            &place,
            &format!("{asked} {short} -o latency{width}.csv"),
            width,
        );
        // Nobody sends to this address.
        let listen = "listen 127.77.0.7:1024 --for 20ms --window 10ms --gap 1s --rtp";
        fits_once(&place, listen, width);
    }
    place.run(&format!("ab --rounds 8 -o ab.jsonl -- {case}"));
    fits(&place, "resume ab.jsonl --details");
}

/// At one width, what has other words each time.
fn fits_once(place: &Place, arguments: &str, width: u16) {
    let mut command = place.udpbench(arguments);
    let output = command.env("COLUMNS", width.to_string()).output();
    let output = output.expect("the program starts");
    let text = stdout(&output) + &stderr(&output);
    assert!(!stdout(&output).is_empty(), "{arguments}: {text}");
    assert_narrow(arguments, &text, width);
}

/// A path or a command may be wider than all, in a line of its own.
fn assert_narrow(what: &str, text: &str, width: u16) {
    for line in text.lines() {
        let is_path = line.contains('/') && !line.trim().contains(' ');
        let fits = is_path || is_command(line) || line.chars().count() <= width.into();
        assert!(fits, "{what} at {width}:\n{line}\n{text}");
    }
}

#[test]
fn what_is_wrong_fits() {
    let place = place();
    for arguments in [
        "--bogus",
        "rank --top 0 x.csv",
        "check --rcvbuf x",
        "--engine foo",
        "--threads 0",
        "plan --payload 26,26",
        "plan --board nope",
        "summarize absent.csv --format table",
        "compare run.jsonl",
        "compare run.jsonl absent.jsonl",
        "latency --rate 5k",
        "--suite boards",
        "--against nothing",
        "resume run.jsonl --threads 3",
        "ab --rounds 8 -- --engine nope",
        "ab --by luck",
        "watch --engine std",
    ] {
        fits(&place, arguments);
    }
}
