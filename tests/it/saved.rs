//! Results are saved when another program moves, removes, replaces or truncates the output files.

use std::fs;

use crate::cells::column;
use crate::common::{LONG_SWEEP, Place, json_rows, stderr, windows};

/// Something that befalls the folder `o`, and where its log is saved then.
type Mishap = (&'static str, &'static str);

#[test]
fn what_was_measured_is_saved_when_its_folder_or_its_files_go() {
    let mishaps: [Mishap; 7] = [
        ("rm -r o", "o/out.jsonl"),
        ("mv o p", "o/out.jsonl"),
        ("mv o p; mkdir o", "o/out.jsonl"),
        ("rm o/out.csv", "o/out.jsonl"),
        ("rm o/out.jsonl", "o/out.jsonl"),
        (
            "rm o/out.jsonl; echo mine >o/out.jsonl",
            "o/out.jsonl.saved",
        ),
        ("rm o/out.csv; echo mine >o/out.csv", "o/out.jsonl"),
    ];
    for (mishap, log) in mishaps {
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
        let resume = format!("resume with: udpbench resume {log}");
        assert!(messages.contains(&resume), "{mishap}: {messages}");
        assert!(windows(&place.path(log)) >= 10, "{mishap}: {messages}");
        let output = place.run(&format!("summarize {log} -o again.csv"));
        assert_eq!(
            output.status.code(),
            Some(0),
            "{mishap}: {}",
            stderr(&output)
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
