//! Tests of `udpbench latency`: round trips of clients that wait, and under loads that are fractions of their rate.

use udpbench::results::row::{Row, Status};
use udpbench::term::fold::is_command;

use crate::common::{Place, rows, stderr, stdout};

const SHORT: &str =
    "latency --rounds 5 --duration 500ms --warmup 5ms --heat 0s --engine std,epoll-level,gso-gro";

#[test]
fn each_engine_is_asked_alone_and_at_three_loads() {
    let place = Place::new();
    let output = place.run(&format!("{SHORT} -o out.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&place.path("out.csv"));
    for engine in ["std", "epoll-level"] {
        let mut of: Vec<&Row> = rows.iter().filter(|row| row.sender == engine).collect();
        of.sort_by_key(|row| row.target_pps);
        let [alone, loads @ ..] = &of[..] else {
            panic!("no rows of {engine}");
        };
        assert_eq!((alone.status, alone.target_pps), (Status::Ok, None));
        let rates: Vec<u32> = loads
            .iter()
            .map(|row| row.target_pps.expect("a rate").into())
            .collect();
        let [low, middle, high] = rates[..] else {
            panic!("{rates:?}");
        };
        // Of the same number, to within rounding.
        assert!(
            middle.abs_diff(5 * low) <= 3 && high.abs_diff(9 * low) <= 5,
            "{rates:?}"
        );
    }
    let gso = rows.iter().find(|row| row.sender == "gso").expect("a row");
    assert_eq!(gso.status, Status::Skipped);
    let shown = stdout(&output);
    assert!(shown.contains("alone") && shown.contains("90 %"), "{shown}");
    assert!(
        shown.lines().any(|line| line.starts_with(" epoll-level")),
        "{shown}"
    );
    assert!(
        shown
            .lines()
            .all(|line| is_command(line) || line.chars().count() <= 100),
        "{shown}"
    );
    place.has_them_made_again();
    // The log and the CSV have the answer of the run.
    let answer = |text: &str| -> Vec<String> {
        let lines = text.lines().skip_while(|line| !line.starts_with("answer"));
        let lines = lines.take_while(|line| line.starts_with("answer") || line.starts_with("   "));
        lines.map(str::to_owned).collect()
    };
    let said = answer(&shown);
    // Other tests may take the CPUs.
    let has_answer = |line: &String| line.contains("alone:") || line.contains("took the CPUs");
    assert!(said.iter().any(has_answer), "{shown}");
    for file in ["out.csv", "out.jsonl"] {
        let again = stdout(&place.run(&format!("summarize {file} --format table")));
        assert_eq!(answer(&again), said, "{file}");
        let ranked = stdout(&place.run(&format!("rank {file}")));
        assert!(answer(&ranked).starts_with(&said), "{ranked}");
    }
}

#[test]
fn round_trips_that_cannot_be_told_apart_have_a_whole_command_for_more_windows() {
    let place = Place::new();
    let typed = "latency --engine std,nix --payload 64 --rounds 6 --warmup 5ms --heat 0s";
    let output = place.run(&format!("{typed} --duration 60ms -o out.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = stdout(&output);
    if !shown.contains("To tell more apart") {
        return; // so short a run tells hardly anything apart
    }
    let again = "udpbench latency --engine std,nix --payload 64 ";
    let next = shown.split("\nnext ").nth(1);
    let next = next.unwrap_or_else(|| panic!("{shown}"));
    let is_longer = |line: &str| line.contains(again) && line.contains(" --duration 240ms");
    assert!(next.lines().any(is_longer), "{shown}");
}

#[test]
fn what_latency_finds_out_cannot_be_chosen() {
    let place = Place::new();
    for (option, fix) in [
        (
            "--rate 5k",
            "--rate 5k: latency is of requests, finds the rates",
        ),
        ("--outstanding 4", "latency is of requests"),
        ("--workload flood", "latency is of requests"),
    ] {
        let output = place.run(&format!("latency {option}"));
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(stderr(&output).contains(fix), "{}", stderr(&output));
    }
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn loads_are_parts_of_the_rate_without_loss_that_a_search_has_found() {
    let place = Place::new();
    let ask = "--workload rr --engine std --threads 2 --payload 26 --ip v4 --connection connected";
    let search = "--trial 100ms --sum 200ms --width 20% --exceed 80% --recheck 0s --warmup 5ms -q -o found.jsonl \
                  --format json";
    let output = place.run(&format!("find lossless {ask} {search}"));
    assert!(output.status.success(), "{}", stderr(&output));
    let found: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let borne = found["rows"][0]["lossless_pps"].as_u64().expect("a rate");

    let words = "latency --rounds 5 --duration 500ms --warmup 5ms --heat 0s --load found.jsonl";
    let output = place.run(&format!("{words} --engine std -o out.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&place.path("out.csv"));
    let rates = rows.iter().filter_map(|row| row.target_pps);
    let mut rates: Vec<u32> = rates.map(u32::from).collect();
    rates.sort_unstable();
    let parts = [10, 50, 90].map(|pct| u32::try_from((borne * pct + 50) / 100).expect("a rate"));
    assert!(
        rates.len() == 3
            && rates
                .iter()
                .zip(parts)
                .all(|(rate, part)| rate.abs_diff(part) <= 1),
        "{borne}: {rates:?}"
    );

    for (words, said) in [
        (
            "--engine spin --load found.jsonl",
            "it has no rate of spin:spin",
        ),
        ("--load none.jsonl", "none.jsonl: cannot read it"),
        ("--load out.jsonl", "not a log of udpbench find"),
    ] {
        let output = place.run(&format!("latency {words} -o other.csv"));
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {errors}");
        assert!(errors.contains(said), "{words}: {errors}");
    }
    assert!(!place.files().iter().any(|file| file.starts_with("other")));
}
