//! Searches for the batch or train from which on more brings little: on one host, by CPU time, and on a wire.

use std::fs;

use serde_json::Value;
use udpbench::data::{Case, Sample};
use udpbench::experiment::find::header::FindHeader;
use udpbench::results::log::{Event, Log};
use udpbench::term::fold::is_command;

use super::wire::search;
use crate::common::lab::Lab;
use crate::common::{Place, assert_code, json_rows, stderr, stdout};

/// Trains of up to three datagrams, as more of these do not fit one.
const THREE: &str =
    "--payload 20000 --ip v4 --connection connected --warmup 5ms --trial 10ms --rounds 16";

/// The knee is one of the trains, and known as well as 16 rounds allow.
fn assert_found(row: &Value, measured: &str) {
    assert_eq!(row["parameter"], "train", "{row}");
    assert_eq!(row["measured"], measured, "{row}");
    assert_eq!(row["is_finished"], true, "{row}");
    let number = |name: &str| {
        row[name]
            .as_u64()
            .unwrap_or_else(|| panic!("{name}: {row}"))
    };
    let (low, knee) = (number("found_low"), number("found_at"));
    let high = number("found_high");
    assert!(
        1 <= low && low <= knee && knee <= high && high <= 3,
        "{row}"
    );
}

fn samples(place: &Place) -> Vec<Sample> {
    let bytes = fs::read(place.path("log.jsonl")).expect("the log");
    let log: Log<FindHeader> = Log::parse("log.jsonl", &bytes).expect("whole lines");
    let sample = |event| match event {
        Event::Window(window) => Some(window.sample),
        _ => None,
    };
    log.lines.into_iter().filter_map(sample).collect()
}

#[test]
fn trains_are_tried_until_more_brings_nothing_and_the_log_says_the_same_again() {
    let place = Place::new();
    // The buffer holds one datagram: of longer trains most are lost.
    let output = place.run(&format!(
        "find knee --engine gso,std --threads 2 --board generic {THREE} --rcvbuf 4096 -q -o log.jsonl --format json"
    ));
    let text = stdout(&output);
    let rows = json_rows(&text);
    let [gso, std] = &rows[..] else {
        panic!("{text}");
    };
    assert_found(gso, "speed");
    assert_eq!(gso["trials"], samples(&place).len(), "{gso}");
    let loss_pct = gso["loss_pct_behind"].as_f64();
    assert!(
        loss_pct.is_some_and(|pct| (0.0..=100.0).contains(&pct)),
        "{gso}"
    );
    let reason = std["reason"].as_str();
    assert!(
        reason.is_some_and(|it| it.starts_with("one datagram per call")),
        "{std}"
    );

    let again = place.run("resume log.jsonl -q --format json");
    assert_eq!(stdout(&again), text);
    let table = stdout(&place.run("resume log.jsonl -q"));
    assert!(
        table.contains("gso>mmsg/32/cut, 20000 B") && table.contains("us by train: 1 "),
        "{table}"
    );
    assert!(
        table
            .lines()
            .all(|line| is_command(line) || line.len() <= 100),
        "{table}"
    );
    assert!(table.contains("% of what was sent was lost"), "{table}");

    let plan = stdout(&place.run("plan find knee --engine gso --payload 40000"));
    assert!(plan.contains("use a smaller --payload"), "{plan}");

    for (words, said) in [
        ("--batch 8", "the search chooses it"),
        ("--train 8", "the search chooses it"),
        ("--workload rr", "this search is of floods"),
        ("--rate 20k", "a search has rates of its own"),
        ("--threshold 0%", "--threshold"),
        ("--rounds 3", "use a number from 16 to"),
    ] {
        let output = place.run(&format!("find knee {words}"));
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {errors}");
        assert!(errors.contains(said), "{words}: {errors}");
    }
}

#[test]
fn by_cpu_the_cpu_time_of_a_datagram_is_what_is_compared() {
    let place = Place::new();
    let output = place.run(&format!(
        "find knee --by cpu --engine gso --threads 2 --board generic {THREE} -q -o log.jsonl --format json"
    ));
    assert_code(&output, 0);
    let text = stdout(&output);
    let rows = json_rows(&text);
    let [row] = &rows[..] else {
        panic!("{text}");
    };
    assert_found(row, "cpu");
    // The median is of windows in which both threads took this much CPU time per datagram.
    let at_the_knee = |sample: &Sample| {
        let train = Case::of_key(&sample.case)?.train?;
        (u64::from(u16::from(train)) == row["found_at"].as_u64()?).then(|| cpu_ns(sample))?
    };
    let windows: Vec<f64> = samples(&place).iter().filter_map(at_the_knee).collect();
    let least = windows.iter().copied().fold(f64::INFINITY, f64::min);
    let most = windows.iter().copied().fold(0.0, f64::max);
    let found = row["behind_ns"].as_f64().expect("it is known");
    assert!(
        (least - 0.1..=most + 0.1).contains(&found),
        "{windows:?}: {row}"
    );
    let table = stdout(&place.run("resume log.jsonl -q"));
    let words: Vec<&str> = table.split_whitespace().collect();
    assert!(words.join(" ").contains("of CPU time"), "{table}");
}

/// CPU time of both threads per datagram received.
fn cpu_ns(sample: &Sample) -> Option<f64> {
    let cpu_ns: u64 = sample.threads.iter().filter_map(|it| it.cpu_ns).sum();
    let received: u64 = sample.threads.iter().map(|it| it.received_packets).sum();
    (received > 0).then(|| cpu_ns as f64 / received as f64)
}

#[test]
fn the_knee_of_a_sender_on_a_wire_is_looked_for() {
    // As a train is cut into datagrams at the end of the wire, each has to fit a frame.
    let Some(lab) = Lab::builder().mtu(65_000).start() else {
        return;
    };
    let rows = search(&lab, &format!("knee --engine gso {THREE}"));
    let [row] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_found(row, "speed");
    let case = row["case"].as_str().expect("text");
    assert!(case.ends_with("/up") && case.starts_with("gso:"), "{row}");
}
