//! Tests of `udpbench rank` on files: its output and its exit code.

use std::fs;

use crate::common::made_up::MadeUp;
use crate::common::{Place, assert_code, kept, stderr, stdout};
use udpbench::term::fold::is_command;

#[test]
fn it_begins_with_what_to_use() {
    let place = Place::new();
    let output = place.run(&format!("rank {}", kept().display()));
    assert_code(&output, 0);
    let text = stdout(&output);
    assert!(
        text.starts_with("== generic, AMD EPYC, x86_64, unnamed hypervisor: 12 rows in 2 groups"),
        "{text}"
    );
    let answer = text.lines().nth(1).unwrap_or_default();
    assert!(answer.ends_with("perhaps mmsg/32"), "{text}");
    for line in text.lines() {
        assert!(is_command(line) || line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn by_and_top_choose_what_is_shown() {
    let place = Place::new();
    let output = place.run(&format!(
        "rank --by cpu --top 1 --details {}",
        kept().display()
    ));
    let text = stdout(&output);
    assert!(
        text.contains("times std's CPU time\n     1  gso>gro"),
        "{text}"
    );
    assert!(!text.contains("in times std\n"), "{text}");
    assert_eq!(text.matches("and 5 more").count(), 2, "{text}");
}

#[test]
fn nothing_to_rank_is_bad_input_with_the_reason() {
    let place = Place::new();
    let failed = MadeUp::from(&kept()).failed(|_| true, "no room");
    failed.write(&place.path("failed.jsonl"));
    fs::write(place.path("empty.jsonl"), "").expect("writable");
    for (file, reason) in [
        (
            "failed.jsonl",
            "rank failed.jsonl: nothing to rank: 12 rows left out: failed",
        ),
        ("empty.jsonl", "empty.jsonl"),
        ("absent.jsonl", "absent.jsonl"),
    ] {
        let output = place.run(&format!("rank {file}"));
        assert_eq!(output.status.code(), Some(2), "{file}");
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_sweep_that_had_no_time_says_how_to_go_on_with_it() {
    let place = Place::new();
    place.sweep("--engine null --threads 2 --no-reference --heat 0s --rounds 5 --duration 10ms");
    let log = fs::read_to_string(place.path("out.jsonl")).expect("readable");
    let header = log.split_inclusive('\n').next().expect("a header");
    fs::write(place.path("begun.jsonl"), header).expect("writable");
    for command in [
        "rank begun.jsonl",
        "compare begun.jsonl out.jsonl",
        "compare out.jsonl begun.jsonl",
    ] {
        let output = place.run(command);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let said = stderr(&output);
        let fix = "measure what is missing: udpbench resume begun.jsonl";
        assert!(said.contains(fix), "{command}: {said}");
    }
}

#[test]
fn whoever_closes_the_pipe_gets_no_error() {
    let place = Place::new();
    fs::copy(kept(), place.path("kept.jsonl.gz")).expect("readable");
    let output = place.shell("$udpbench rank kept.jsonl.gz | head -1");
    assert_eq!(stdout(&output).lines().count(), 1);
    assert_eq!(stderr(&output), "");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let place = Place::new();
    for arguments in ["rank", "rank --top 0 x.csv", "rank --by luck x.csv"] {
        assert_eq!(place.run(arguments).status.code(), Some(2), "{arguments}");
    }
}
