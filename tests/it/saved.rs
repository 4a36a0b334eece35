//! What is said and kept when another program moves, removes, replaces or truncates the output files.

use std::fs;

use crate::cells::column;
use crate::common::{LONG_SWEEP, Place, json_rows, stderr, windows};

#[test]
fn it_is_said_when_the_folder_or_its_files_go_and_what_others_put_there_stays() {
    for mishap in [
        "rm -r o",
        "mv o p",
        "mv o p; mkdir o",
        "rm o/out.csv",
        "rm o/out.jsonl",
        "rm o/out.jsonl; echo mine >o/out.jsonl",
        "rm o/out.csv; echo mine >o/out.csv",
    ] {
        let place = Place::new();
        let sweep = LONG_SWEEP.replace("-o out.csv", "-o o/out.csv");
        let script = format!(
            "mkdir o; $udpbench {sweep} >table 2>messages & child=$!; \
             until [ -s o/out.csv ] || ! kill -0 $child; do sleep 0.01; done; {mishap}; wait $child"
        );
        assert_eq!(place.shell(&script).status.code(), Some(1), "{mishap}");
        let messages = fs::read_to_string(place.path("messages")).expect("written");
        assert!(
            messages.contains("moved, removed or changed it"),
            "{mishap}: {messages}"
        );
        let log = if mishap.starts_with("mv") {
            "p/out.jsonl"
        } else {
            "o/out.jsonl"
        };
        let is_kept = mishap.starts_with("mv") || mishap.contains("out.csv");
        if is_kept {
            assert!(windows(&place.path(log)) >= 10, "{mishap}: {messages}");
            let output = place.run(&format!("summarize {log} -o again.csv"));
            assert_eq!(
                output.status.code(),
                Some(0),
                "{mishap}: {}",
                stderr(&output)
            );
        }
        let resume = "resume with: udpbench resume o/out.jsonl";
        let is_in_place = is_kept && log.starts_with('o');
        assert_eq!(
            messages.contains(resume),
            is_in_place,
            "{mishap}: {messages}"
        );
        if mishap.contains("mine") {
            let is_mine =
                |name| fs::read_to_string(place.path(name)).is_ok_and(|text| text == "mine\n");
            assert!(
                is_mine("o/out.csv") || is_mine("o/out.jsonl"),
                "{mishap}: overwritten"
            );
        }
    }
}

#[test]
fn rows_that_were_removed_come_again_from_the_log_and_those_of_others_stay() {
    for mishap in ["rm o/out.json", "rm o/out.json; echo mine >o/out.json"] {
        let place = Place::new();
        let sweep = LONG_SWEEP.replace("-o out.csv", "-o o/out.json");
        let script = format!(
            "mkdir o; $udpbench {sweep} >table 2>messages & child=$!; \
             until grep -q case o/out.json || ! kill -0 $child; do sleep 0.01; done; {mishap}; wait $child"
        );
        assert_eq!(place.shell(&script).status.code(), Some(1), "{mishap}");
        let messages = fs::read_to_string(place.path("messages")).expect("written");
        let resume = "resume with: udpbench resume o/out.jsonl\n";
        assert!(messages.contains(resume), "{mishap}: {messages}");
        let resumed = place.run("resume o/out.jsonl");
        let text = fs::read_to_string(place.path("o/out.json")).expect("it is there");
        if mishap.contains("mine") {
            assert_eq!((resumed.status.code(), &*text), (Some(2), "mine\n"));
        } else {
            assert_eq!(json_rows(&text).len(), 40);
        }
    }
}

#[test]
fn a_log_that_another_program_cut_off_is_noticed() {
    let place = Place::new();
    let script = format!(
        "$udpbench {LONG_SWEEP} >table 2>messages & child=$!; \
         until [ -s out.csv ] || ! kill -0 $child; do sleep 0.01; done; : >out.jsonl; wait $child"
    );
    assert_eq!(place.shell(&script).status.code(), Some(1));
    let messages = fs::read_to_string(place.path("messages")).expect("written");
    assert!(
        messages.contains("out.jsonl: another program moved"),
        "{messages}"
    );
    let csv = fs::read_to_string(place.path("out.csv")).expect("written");
    assert!(!column(&csv, "case").is_empty());
}
