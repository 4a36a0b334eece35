//! The whole program with the engine that moves nothing: exact output and files. Only values of clocks and of the
//! machine are masked.

use std::collections::BTreeSet;

use crate::cells::column;
use crate::common::{Place, assert_code, hosts, rows, samples, stderr, stdout};
use udpbench::data::{Sample, Tos};
use udpbench::engines;
use udpbench::results::row::{Row, Status};
use udpbench::term::fold::is_command;

const SWEEP: &str = "--full --engine null --no-reference --ip v4 --board generic --pin none --heat 0s \
                     --warmup 1ms --duration 60ms --seed 7";

#[test]
fn the_sweep_prints_a_table_and_leaves_rows_and_samples() {
    let place = Place::new();
    let output = place.run(&format!("{SWEEP} --threads 1,2,3 --payload 300 -o out.csv"));
    assert_code(&output, 0);
    assert_eq!(place.files(), ["out.csv", "out.jsonl"]);
    let rows = rows(&place.path("out.csv"));
    assert_eq!(rows.len(), 6);
    for row in &rows {
        assert_eq!((row.status, row.rounds), (Status::Ok, 6));
        assert_eq!(
            (row.unaccounted_packets, row.unread_packets),
            (Some(0), Some(0))
        );
        assert_eq!((row.dropped_socket_packets, row.seed), (Some(0), 7));
        assert_eq!(row.sent_packets, row.received_packets);
    }
    assert_eq!(samples(&place.path("out.jsonl")).len(), 36);
}

#[test]
fn the_rows_of_skipped_cases_are_these() {
    let place = Place::new();
    let output = place.run(
        "--sender null --receiver std --threads 1,2 --payload 0 --connection connected --ip v4 \
         --no-reference --board generic --seed 7 -o -",
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(place.files(), Vec::<String>::new());
    // What this machine is does not belong into the picture.
    let header = stdout(&output)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    let reasons = column(&stdout(&output), "reason");
    insta::assert_snapshot!(format!("{header}\n{}", reasons.join("\n")));
}

#[test]
fn the_table_groups_the_cases_of_a_block() {
    let place = Place::new();
    let output = place.run(&format!(
        "{SWEEP} --threads 2,1 --payload 26,0 -o out.csv --root {}",
        hosts::two_cpus()
    ));
    let table = stdout(&output);
    for line in table.lines() {
        assert!(is_command(line) || line.chars().count() <= 100, "{line}");
    }
    insta::assert_snapshot!(blot_table(&table));
    // Last on the screen: how good it is, where it was saved, and what to type.
    let answer = table.split("\n\n").last().unwrap_or_default();
    let kinds: Vec<&str> = answer
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(kinds, ["quality", "saved", "next"], "{answer}");
    assert!(answer.contains("saved    out.csv and .jsonl\n"), "{answer}");
}

#[test]
fn what_warns_is_counted_and_shown_on_demand() {
    let place = Place::new();
    let sweep = SWEEP.replace("--engine null", "--engine std");
    let sweep = format!(
        "{sweep} --threads 2 --payload 26 --verify --root {}",
        hosts::two_cpus()
    );
    let table = stdout(&place.run(&format!("{sweep} -o counted.csv")));
    assert!(!table.contains("\n warning "), "{table}");
    let words: Vec<&str> = table.split_whitespace().collect();
    let words = words.join(" ");
    let shown = "warnings) ";
    let command = "udpbench summarize --warnings counted.jsonl";
    assert!(words.contains(shown) && words.contains(command), "{table}");
    assert!(table.contains("\nverified "), "{table}");
    let table = stdout(&place.run(&format!("{sweep} -o shown.csv --warnings")));
    assert!(table.contains("\n warning "), "{table}");
}

/// Every number below the headings is measured, and sets the width of its column; and so is the answer below.
fn blot_table(table: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.first() {
            Some(&"null") => [words[0], words[1], "(NUMBERS)"].join(" "),
            Some(&"engine") => words.join(" "),
            _ => line.to_owned(),
        }
    };
    let table = table.split("\n\nquality ").next().unwrap_or_default();
    table.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_words_for_the_person_go_to_standard_error() {
    let place = Place::new();
    let output = place.run(&format!("{SWEEP} --threads 2 --payload 26 -o -"));
    insta::with_settings!({filters => vec![
        (r"udpbench \d+\.\d+\.\d+(-[a-z]+)?", "udpbench VERSION"),
        (r"\(.*\)", "(WHY)"),
        (r"(?s)warning: .*", ""),
    ]}, {
        insta::assert_snapshot!(stderr(&output));
    });
    // And standard output is pure CSV.
    assert_eq!(column(&stdout(&output), "case").len(), 2);
}

#[test]
fn the_same_seed_repeats_the_order_and_another_one_does_not() {
    let order = |seed: u32| {
        let place = Place::new();
        let arguments = "--engine null --no-reference --heat 0s --warmup 1ms --duration 6ms --ip v4 \
                         --threads 2 --payload 1,2,3,4";
        let output = place.run(&format!("{arguments} --seed {seed} -o out.csv"));
        assert_code(&output, 0);
        let samples = samples(&place.path("out.jsonl"));
        let windows = samples
            .into_iter()
            .map(|sample| (sample.case, sample.round, sample.position));
        windows.collect::<Vec<_>>()
    };
    let first = order(1);
    assert_eq!(first, order(1));
    assert_ne!(first, order(2));
}

#[test]
fn rounds_are_measured_one_after_the_other_and_blocks_within_them() {
    let place = Place::new();
    let output = place.run(
        "--full --engine null,std --heat 0s --warmup 0s --duration 6ms --ip v4 --threads 1,2 --payload 1,2 \
         -o out.csv",
    );
    assert_code(&output, 0);
    let samples = samples(&place.path("out.jsonl"));
    // Four blocks of four cases (two engines, two connections) of six rounds.
    assert_eq!(samples.len(), 4 * 4 * 6);
    let mut orders = BTreeSet::new();
    for (nth, round) in samples.chunks(4 * 4).enumerate() {
        let block = |sample: &Sample| {
            let parts = sample.case.split('/').skip(1).take(2);
            parts.collect::<String>()
        };
        for (n, sample) in round.iter().enumerate() {
            assert_eq!(sample.round as usize, nth + 1, "{}", sample.case);
            assert_eq!(sample.position as usize, n % 4 + 1, "{}", sample.case);
            assert_eq!(block(sample), block(&round[n / 4 * 4]));
        }
        let order: Vec<String> = round.iter().step_by(4).map(block).collect();
        assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), 4, "{order:?}");
        orders.insert(order);
    }
    assert!(orders.len() > 1, "the blocks are shuffled: {orders:?}");
}

#[test]
fn the_reference_is_measured_even_when_it_is_not_asked_for() {
    let place = Place::new();
    let output = place.run(
        "--engine mio-level --connection unconnected --heat 0s --duration 120ms --ip v4 --threads 2 \
         --payload 26 -o out.csv",
    );
    assert_code(&output, 0);
    let rows = rows(&place.path("out.csv"));
    let reference = |row: &&Row| row.case.key() == "std:std/2t/26B/connected/v4";
    let reference = rows.iter().find(reference).expect("it is there");
    assert_eq!(reference.ratio_to_std, Some(1.0));
    let other = rows
        .iter()
        .find(|row| row.sender == "mio-level")
        .expect("it is there");
    let low = other.ratio_to_std_low.expect("six rounds");
    let high = other.ratio_to_std_high.expect("six rounds");
    assert!(
        low <= high
            && other
                .ratio_to_std
                .is_some_and(|ratio| low <= ratio && ratio <= high)
    );
    assert_eq!(other.interval_pct, Some(96.9));
}

#[test]
fn five_rounds_say_that_their_interval_is_not_a_95_percent_one() {
    let place = Place::new();
    let output = place.run(&format!(
        "{SWEEP} --rounds 5 --threads 1 --payload 0 -o out.csv"
    ));
    assert_code(&output, 0);
    for row in rows(&place.path("out.csv")) {
        assert_eq!(row.interval_pct, Some(93.8));
        assert!(
            row.warnings
                .iter()
                .any(|warning| warning.to_string().contains("cover 93.8 %")),
            "{row:?}"
        );
    }
}

#[test]
fn numbers_are_plain_decimals_that_a_spreadsheet_reads() {
    let place = Place::new();
    let output = place.run(&format!(
        "{SWEEP} --threads 1,2 --payload 0,65507 -o out.csv"
    ));
    assert_code(&output, 0);
    let text = std::fs::read_to_string(place.path("out.csv")).expect("written");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    for row in reader.records() {
        let row = row.expect("a row");
        for (name, value) in header.iter().zip(&row) {
            let number = [
                "_pps", "_mbps", "_pct", "_packets", "_bytes", "_packet", "_ms",
            ];
            if number.iter().any(|ending| name.ends_with(ending)) {
                let plain = |byte: u8| byte.is_ascii_digit() || byte == b'.' || byte == b'-';
                assert!(value.bytes().all(plain), "{name}: {value}");
            }
        }
    }
}

#[test]
fn without_an_output_the_files_go_to_results_under_the_time_and_the_board() {
    let place = Place::new();
    let output = place.run(&format!("{SWEEP} --threads 1 --payload 0"));
    assert_code(&output, 0);
    let mut names: Vec<String> = std::fs::read_dir(place.path("results"))
        .expect("made")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let [csv, jsonl] = &names[..] else {
        panic!("{names:?}")
    };
    assert!(
        csv.ends_with("Z-generic.csv") && csv.starts_with("20"),
        "{csv}"
    );
    assert_eq!(csv.trim_end_matches("csv"), jsonl.trim_end_matches("jsonl"));
}

#[test]
fn engines_lists_the_registry() {
    let output = Place::new().run("engines");
    assert_eq!(output.status.code(), Some(0));
    // Whether io_uring is there depends on the kernel, on a container's rules, and on the width of pointers.
    let (mut of_uring, mut others) = (false, String::new());
    for line in stdout(&output).lines() {
        of_uring = line.starts_with(" uring ") || of_uring && line.starts_with("  ");
        if !of_uring {
            others += line;
            others += "\n";
        }
    }
    assert!(stdout(&output).contains("\n uring "));
    for entry in engines::all() {
        assert!(stdout(&output).contains(entry.about.name), "{entry}");
    }
    // Nor do old emulators know UDP_SEGMENT.
    if !others.contains("not here: ") {
        insta::assert_snapshot!(others);
    }
}

#[test]
fn plan_says_what_would_run_and_sends_nothing() {
    let place = Place::new();
    let output = place.run(&format!(
        "plan --full --details --root {} --board generic --pin none --ip v4 --threads 1,2 --payload 1460 \
         --engine std,mio-exhaustive,mio-once",
        hosts::two_cpus()
    ));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(place.files(), Vec::<String>::new());
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn help_fits_the_terminal_and_shows_examples() {
    let output = Place::new().run("--help");
    let help = stdout(&output);
    assert!(help.contains("Examples:"), "{help}");
    for line in help.lines() {
        assert!(is_command(line) || line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn marks_separate_blocks_and_are_in_key_and_column() {
    let place = Place::new();
    let options =
        "--engine null --no-reference --threads 2 --payload 9 --ip v4,v6 --connection connected";
    let short = "--heat 0s --warmup 0s --rounds 5 --duration 5ms -o out.csv";
    let output = place.run(&format!("{options} --tos cs0,ef,0xb9 {short}"));
    assert!(output.status.success(), "{}", stderr(&output));
    let marks = |row: Row| {
        (
            row.case.key(),
            row.tos.map(Tos::byte),
            row.block().to_string(),
        )
    };
    let mut seen: Vec<_> = rows(&place.path("out.csv"))
        .into_iter()
        .map(marks)
        .collect();
    seen.retain(|(key, ..)| key.contains("/v4"));
    seen.sort();
    let expected = [
        ("null:null/2t/9B/connected/v4", None, "2 threads, 9 B, v4"),
        (
            "null:null/2t/9B/connected/v4/tos-185",
            Some(185),
            "2 threads, 9 B, v4, tos 185",
        ),
        (
            "null:null/2t/9B/connected/v4/tos-ef",
            Some(184),
            "2 threads, 9 B, v4, tos ef",
        ),
    ];
    let expected = expected.map(|(key, tos, block)| (key.to_owned(), tos, block.to_owned()));
    assert_eq!(seen, expected);
}
