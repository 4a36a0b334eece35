//! Tests of `udpbench summarize`: every format has the same rows, and nothing is overwritten, cut or invented.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Output;

use crate::common::made_up::MadeUp;
use crate::common::{Place, assert_code, hosts, kept, rows, stderr, stdout};
use serde_json::{Value, json};
use udpbench::data::Case;
use udpbench::host::placement::Placement;
use udpbench::results::export::Conclusion;
use udpbench::results::export::json;
use udpbench::results::log::Event;
use udpbench::results::row::{CaseWarning, Interruption, Reason, Row, Status};

/// A place with the log of a run, `run.jsonl`: some cases are measured, some skipped, and texts and numbers are such
/// that formats trip over them.
fn place() -> Place {
    let place = Place::new();
    let sweep = format!(
        "--sender null,gso --receiver null,mmsg --ip v4 --threads 1,2 --payload 300 --no-reference \
         --connection connected --board generic --pin none --heat 0s --warmup 1ms --duration 60ms \
         --seed 7 --root {} -o swept.csv",
        hosts::two_cpus()
    );
    let output = place.run(&sweep);
    assert!(output.status.code().is_some(), "{}", stderr(&output));
    let rows = rows(&place.path("swept.csv"));
    assert!(rows.iter().any(|row| row.status == Status::Ok));
    assert!(rows.iter().any(|row| row.status == Status::Skipped));
    troublesome(&place.path("swept.jsonl")).write(&place.path("run.jsonl"));
    place
}

fn troublesome(log: &Path) -> MadeUp {
    let reason = "=1+2, a \"quote\" | a bar,\na second line";
    let mut log = MadeUp::from(log).warned(&CaseWarning::ResumedWithDifference {
        what: "*two* <b>".to_owned(),
    });
    let host = &mut log.header.environment.host;
    host.isolated_cpus = Some("2,3".to_owned());
    host.lo_rps_cpus = Some(vec![1]);
    host.load_1min = Some(0.1 + 0.2);
    let mut windows = log.events.iter_mut().filter_map(|event| match event {
        Event::Window(window) => Some(&mut window.sample),
        _ => None,
    });
    let first = windows.next().expect("one was measured");
    first.accounting.at_end.received += 3;
    let others = windows.map(|sample| &sample.case);
    let case = others.filter(|case| **case != first.case).min();
    let case = case.expect("several were measured").clone();
    log.failed(|key| key == case, reason)
}

fn summarize(place: &Place, arguments: &str) -> Output {
    let output = place.run(&format!("summarize run.jsonl {arguments}"));
    assert_code(&output, 0);
    assert_eq!(stderr(&output), "", "{arguments}");
    output
}

#[test]
fn what_a_run_wrote_comes_out_to_the_byte() {
    let place = place();
    let before = fs::read_to_string(place.path("swept.csv")).expect("it is there");
    assert_eq!(stdout(&place.run("summarize swept.csv")), before);
}

#[test]
fn json_has_the_same_rows() {
    let place = place();
    let before = rows(&place.path("run.jsonl"));
    let text = stdout(&summarize(&place, "--format json"));
    let document: Value = serde_json::from_str(&text).expect("it is an object");
    let grade = document["quality"]["grade"].as_str();
    assert!(grade.is_some_and(|grade| ["good", "fair", "poor"].contains(&grade)));
    assert!(document["answer"].is_array() && document["verdict"].is_null());
    let values = document["rows"].as_array().expect("rows").clone();
    assert_eq!(values, json::objects(&before).expect("JSON"));
    summarize(&place, "-o run.json");
    let file = fs::read_to_string(place.path("run.json")).expect("it is there");
    assert_eq!(file, text);
    let with = |name: &str, value: Value| {
        let found = values.iter().find(|row| row[name] == value);
        found.unwrap_or_else(|| panic!("{name}: {value}"))
    };
    assert!(with("status", "ok".into())["received_pps"].is_number());
    assert!(with("status", "failed".into())["received_pps"].is_null());
    assert_eq!(with("unaccounted_packets", (-3).into())["rps_cpus"], "1");
    let mut warnings = values.iter().filter_map(|row| row["warnings"].as_array());
    let warning = json!({
        "code": "resumed-elsewhere",
        "text": "resumed with a difference: *two* <b>",
    });
    assert!(warnings.any(|warnings| warnings.contains(&warning)));
}

#[test]
fn json_lines_are_the_rows_of_the_json() {
    let place = place();
    let document: Value =
        serde_json::from_str(&stdout(&summarize(&place, "--format json"))).expect("an object");
    let array = document["rows"].as_array().expect("rows").clone();
    for output in ["", "-o -"] {
        let text = stdout(&summarize(&place, &format!("--format jsonl {output}")));
        let rows = text.lines().map(serde_json::from_str);
        let rows: Vec<Value> = rows.collect::<Result<_, _>>().expect("each is an object");
        assert_eq!(rows, array);
    }
}

/// The rows of a whole sweep, with skipped ones, as they went to standard output.
#[test]
fn a_sweep_and_its_raw_samples_give_the_same_json_lines() {
    let place = Place::new();
    let sweep = "--engine null,mio-exhaustive --no-reference --ip v4 --threads 1 --payload 1,2 --connection connected \
                 --heat 0s --warmup 0s --rounds 5 --duration 5ms --samples s.jsonl --format jsonl";
    let swept = place.run(sweep);
    assert_code(&swept, 0);
    assert_eq!(place.files(), ["s.jsonl"]);
    let status = |line| serde_json::from_str::<Value>(line).expect("a row")["status"].clone();
    let text = stdout(&swept);
    let all: Vec<Value> = text.lines().map(status).collect();
    assert_eq!(all, ["ok", "ok", "skipped", "skipped"]);
    for again in ["summarize s.jsonl", "resume s.jsonl"] {
        let output = place.run(&format!("{again} --format jsonl"));
        assert_eq!(stdout(&output), text, "{again}: {}", stderr(&output));
    }
    assert_eq!(place.files(), ["s.jsonl"]);
}

#[test]
fn a_format_alone_goes_to_standard_output_and_the_log_stays() {
    let sweep = "--engine null --no-reference --ip v4 --threads 1 --payload 1 --connection connected --heat 0s \
                 --warmup 0s --rounds 5 --duration 5ms";
    for format in ["csv", "csv --decimal-comma", "json", "jsonl", "markdown"] {
        let place = Place::new();
        let swept = place.run(&format!("{sweep} --format {format}"));
        assert_code(&swept, 0);
        assert_eq!(place.files(), ["results"], "{format}");
        let logs = fs::read_dir(place.path("results")).expect("it is there");
        let logs: Vec<_> = logs.flatten().map(|entry| entry.path()).collect();
        let [log] = &logs[..] else {
            panic!("{format}: {logs:?}")
        };
        let again = format!("summarize {} --format {format}", log.display());
        let again = place.run(&again);
        assert_eq!(
            stdout(&again),
            stdout(&swept),
            "{format}: {}",
            stderr(&again)
        );
        // A quiet sweep names its log.
        let quiet = stderr(&place.run(&format!("{sweep} --format {format} -q")));
        assert!(
            quiet.contains("standard output, raw samples in results/"),
            "{format}: {quiet}"
        );
    }
}

#[test]
fn the_csv_begins_with_the_engine_and_has_decimal_commas_on_request() {
    let place = place();
    let plain = fs::read_to_string(place.path("swept.csv")).expect("it is there");
    let engines = plain.lines().map(|line| line.split(',').next());
    let engines: BTreeSet<&str> = engines.flatten().collect();
    for engine in ["engine", "null", "gso>null/cut", "gso>mmsg/32/cut"] {
        assert!(engines.contains(engine), "{engines:?}");
    }
    let comma =
        stdout(&place.run("summarize swept.csv --decimal-comma -o comma.csv --columns all"));
    assert_eq!(comma, "");
    let all = stdout(&place.run("summarize swept.csv --columns all"));
    let comma = fs::read_to_string(place.path("comma.csv")).expect("written");
    let mut reader = csv_of(&comma, b';');
    let mut plain = csv_of(&all, b',');
    assert_eq!(
        reader.headers().expect("some"),
        plain.headers().expect("some")
    );
    let mut decimals = 0;
    for (one, other) in reader.records().flatten().zip(plain.records().flatten()) {
        for (one, other) in one.iter().zip(&other) {
            decimals += usize::from(one != other);
            let is_alike = one == other || one.replace(',', ".") == other;
            assert!(is_alike, "{one}, {other}");
        }
    }
    assert!(decimals > 20, "{decimals}");
    for arguments in ["--format json", "--format table", "-o a.json"] {
        let refused = place.run(&format!("summarize run.jsonl {arguments} --decimal-comma"));
        assert_eq!(refused.status.code(), Some(2), "{arguments}");
        assert!(stderr(&refused).contains("--decimal-comma is for csv"));
    }
}

fn csv_of(text: &str, separator: u8) -> ::csv::Reader<&[u8]> {
    let mut form = ::csv::ReaderBuilder::new();
    form.delimiter(separator).from_reader(text.as_bytes())
}

#[test]
fn warnings_of_a_finished_run_are_listed() {
    let place = place();
    let text = stdout(&summarize(&place, "--warnings"));
    let warning = " x  resumed with a difference: *two* <b>\n";
    assert!(text.contains(warning), "{text}");
    assert!(
        text.lines()
            .all(|line| line.contains(" x  ") || line.starts_with("  "))
    );
    assert!(!text.contains("skipped"), "{text}");
}

#[test]
fn rows_stand_for_the_log_beside_them_and_are_never_read() {
    let place = place();
    for (command, format) in ["csv", "json", "md"].into_iter().flat_map(|format| {
        ["rank", "compare swept.jsonl", "summarize"].map(|command| (command, format))
    }) {
        fs::write(place.path(&format!("run.{format}")), "changed").expect("there is space");
        fs::write(place.path(&format!("alone.{format}")), "changed").expect("there is space");
        let of_log = place.run(&format!("{command} run.jsonl"));
        let of_rows = place.run(&format!("{command} run.{format}"));
        let shown = |output: &Output| stdout(output) + &stderr(output);
        let expected = shown(&of_log).replace("run.jsonl", &format!("run.{format}"));
        assert_eq!(words(&shown(&of_rows)), words(&expected), "{command}");
        let alone = place.refuses(&format!("{command} alone.{format}"));
        let said = format!(
            "error: alone.{format}: rows are only written, and their log is not beside them: name alone.jsonl, \
             wherever it is\n"
        );
        assert_eq!(stderr(&alone), said, "{command}");
    }
}

#[test]
fn a_compressed_log_is_read_like_the_plain_one_and_not_resumed() {
    let place = place();
    let plain = stdout(&summarize(&place, ""));
    let script = "gzip -9 run.jsonl; echo changed >run.csv; $udpbench summarize run.jsonl.gz; $udpbench summarize run.csv; \
                  cat run.jsonl.gz | $udpbench summarize /dev/stdin";
    let output = place.shell(script);
    assert_eq!(stdout(&output), plain.repeat(3), "{}", stderr(&output));
    let resumed = place.refuses("resume run.jsonl.gz");
    assert!(
        stderr(&resumed).contains("gunzip it first"),
        "{}",
        stderr(&resumed)
    );
}

/// Returns the answer of `rank` for `run.jsonl`, and the lines of its table.
fn answer(place: &Place) -> (String, Vec<String>) {
    let rank = stdout(&place.run("rank run.jsonl"));
    let lines = rank.lines().skip_while(|line| !line.starts_with("answer "));
    let lines = lines.take_while(|line| !line.contains("place  engine"));
    let lines: Vec<&str> = lines.collect();
    let is_below = |line: &&str| line.contains("technique  engine");
    let below = lines.iter().position(is_below).unwrap_or(lines.len());
    let said = lines[..below].join(" ");
    let table = lines.iter().skip(below + 1).map(|line| words(line));
    (words(said.trim_start_matches("answer")), table.collect())
}

/// The text with single spaces between its words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn markdown_and_the_page_give_the_advice_of_rank() {
    let place = Place::new();
    MadeUp::from(&kept()).write(&place.path("run.jsonl"));
    let (said, table) = answer(&place);
    assert!(said.contains("Over loopback, of "), "{said}");
    let offload = table.iter().find(|line| line.starts_with("offload "));
    let cells: Vec<&str> = offload.expect("it was measured").split(' ').collect();
    let (engine, value) = (cells[1], cells[4]);
    let markdown = stdout(&place.run("summarize run.jsonl --format markdown"));
    let listed = markdown.replace("\n- ", " ").replace('\\', "");
    assert!(words(&listed).contains(&said), "{said}: {markdown}");
    let (_, sentence) = listed
        .split_once(&format!("offload: {engine} "))
        .expect("a sentence");
    assert!(sentence.contains(&format!("{value} times std")));
    if cfg!(feature = "report") {
        place.run("report run.jsonl -o page.html");
        let page = fs::read_to_string(place.path("page.html")).expect("written");
        let text = page
            .replace("</p><p class=\"advice\">", " ")
            .replace("<b>", "")
            .replace("</b>", "");
        let text = text.replace("&gt;", ">").replace("&lt;", "<");
        assert!(words(&text).contains(&said), "{said}");
        let text = text.replace(" class=\"text\"", "");
        let row = format!("offload</th><td>{engine}</td>");
        let (_, row) = text.split_once(&row).expect("a row");
        let (row, _) = row.split_once("</tr>").expect("an end");
        assert!(row.contains(&format!("<td>{value}<")), "{row}");
    }
}

#[test]
fn markdown_has_the_table_of_the_terminal() {
    let rows = fixed_rows();
    let text = udpbench::results::export::markdown::encode(&rows, &Conclusion::default());
    insta::assert_snapshot!(text);
}

/// Rows as of a board that nobody has, to the last digit.
fn fixed_rows() -> Vec<Row> {
    let place = place();
    let measured = rows(&place.path("swept.csv"));
    // Which comes first, a seed does not say alike on 32 bits and on 64.
    let is_wanted = |row: &&Row| row.status == Status::Ok && row.threads.is_alone();
    let measured = measured.iter().find(is_wanted);
    let row = Row {
        pin: Placement::from_lists(2.try_into().expect("in range"), &[0], &[1]),
        received_pps: Some(200_000.0),
        received_pps_low: Some(190_000.0),
        received_pps_high: Some(210_000.0),
        received_mbps: Some(480.0),
        loss_pct: Some(33.3333),
        sender_cpu_ns_per_packet: Some(3300.4),
        receiver_cpu_ns_per_packet: None,
        cpu_ns_per_packet: Some(645.6),
        ratio_to_std: Some(1.25),
        ratio_to_std_low: Some(1.2),
        ratio_to_std_high: Some(1.3),
        model: "Acme | One".to_owned(),
        virtualization: String::new(),
        kernel: "6.12.1".to_owned(),
        cpu_model: "Cortex".to_owned(),
        governor: "performance".to_owned(),
        preemption: String::new(),
        machine: String::new(),
        soc: String::new(),
        started_at: "2026-01-02T03:04:05.678Z".to_owned(),
        version: "0.0.0".to_owned(),
        warnings: Vec::new(),
        ..measured.expect("one was measured").clone()
    };
    let remark = CaseWarning::Remark {
        text: "a_b | *c*\n@d".to_owned(),
    };
    let small = Row {
        case: Case {
            payload: 26.try_into().expect("in range"),
            ..row.case
        },
        payload_bytes: 26.try_into().expect("in range"),
        status: Status::Interrupted,
        reason: Reason::Interrupted(Interruption::Signal),
        started_at: "2026-01-02T03:04:01.000Z".to_owned(),
        warnings: vec![remark.into()],
        ..row.clone()
    };
    let skipped = Row {
        status: Status::Skipped,
        reason: Reason::Skipped("there is no IPv6 here".to_owned()),
        started_at: String::new(),
        received_mbps: None,
        ..row.clone()
    };
    let long = Row {
        case: Case {
            sender: "tokio-exhaustive".parse().expect("a name"),
            ..row.case
        },
        ..row.clone()
    };
    vec![row, skipped, long, small]
}

#[test]
fn no_cell_of_a_csv_is_a_formula() {
    let place = place();
    let text = stdout(&summarize(&place, "--columns all"));
    assert!(text.contains("\"'=1+2, a \"\"quote"), "{text}");
    assert!(text.contains(",-3,"), "a number stays one: {text}");
    let json = stdout(&summarize(&place, "--format json"));
    assert!(json.contains(r#""=1+2, a "#), "JSON is exact: {json}");
}

#[test]
fn results_come_from_a_pipe_as_from_a_file() {
    let place = place();
    for file in ["run.jsonl", "swept.jsonl"] {
        let expected = stdout(&place.run(&format!("summarize {file}")));
        let output = place.shell(&format!("cat {file} | $udpbench summarize /dev/stdin"));
        assert_eq!(stdout(&output), expected, "{file}: {}", stderr(&output));
    }
}

#[test]
fn the_table_is_that_of_the_run() {
    let place = place();
    let rows = rows(&place.path("run.jsonl"));
    let table = stdout(&summarize(&place, "--format table"));
    let of_rows = udpbench::results::export::table::draw(&rows, 100);
    let below = table.strip_prefix(&of_rows).expect("the table first");
    assert!(below.starts_with("\nMb/s: payload received"), "{below}");
    assert!(below.contains("\n\nanswer   "), "{below}");
    summarize(&place, "--format table -o table.txt");
    let file = fs::read_to_string(place.path("table.txt")).expect("it is there");
    assert_eq!(file, table);
}

#[test]
fn bad_input_is_refused_and_nothing_is_written() {
    let place = place();
    fs::write(place.path("mine.json"), "mine").expect("there is space");
    fs::write(place.path("torn.jsonl"), "case,status\na,ok\n").expect("there is space");
    let before = place.files();
    for (arguments, message) in [
        ("run.jsonl -o mine.json", "--output mine.json: it exists"),
        ("run.jsonl -o swept.csv", "--output swept.csv: it exists"),
        (
            "run.jsonl -o no/such.json",
            "--output no/such.json: cannot create it",
        ),
        (
            "run.jsonl --format json -o a.csv",
            "--format json: the name a.csv is of another format",
        ),
        (
            "run.jsonl --format table -o a.md",
            "--format table: the name a.md is of another format",
        ),
        (
            "run.jsonl -o a.xlsx",
            "--output a.xlsx: no format has names like this; use .csv",
        ),
        (
            "run.jsonl -o a.jsonl",
            "--output a.jsonl: names in .jsonl are for raw samples",
        ),
        (
            "run.jsonl --format jsonl -o a.jsonl",
            "--format jsonl: writes to standard output only, as files in .jsonl have raw samples",
        ),
        ("run.jsonl --format yaml", "invalid value 'yaml'"),
        ("torn.jsonl -o a.csv", "torn.jsonl, line 1: no header"),
        ("none.jsonl -o a.csv", "none.jsonl"),
    ] {
        let output = place.refuses(&format!("summarize {arguments}"));
        assert!(
            stderr(&output).contains(message),
            "{arguments}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "", "{arguments}");
        assert_eq!(place.files(), before, "{arguments}");
    }
    let mine = fs::read_to_string(place.path("mine.json")).expect("it is there");
    assert_eq!(mine, "mine");
}

#[test]
fn a_full_disk_leaves_no_half_of_a_file() {
    let place = place();
    let before = place.files();
    // Ignored, as qemu-user writes more than that for itself, before the program can handle the signal.
    let script = "trap '' XFSZ; ulimit -f 1; exec $udpbench summarize run.jsonl -o run.json";
    let output = place.shell(script);
    assert_code(&output, 1);
    assert!(
        stderr(&output).contains("cannot write run.json"),
        "{}",
        stderr(&output)
    );
    assert_eq!(place.files(), before);
}

#[test]
fn a_closed_pipe_is_no_success_but_for_people() {
    let place = place();
    for format in ["csv", "json", "jsonl", "markdown", "table"] {
        let (reader, writer) = UnixStream::pair().expect("a pair of sockets");
        drop(reader);
        let mut summarize = place.udpbench(&format!("summarize run.jsonl --format {format}"));
        let output = summarize.stdout(OwnedFd::from(writer)).output();
        let output = output.expect("it starts");
        let message = stderr(&output);
        if format == "table" {
            assert_eq!((output.status.code(), &*message), (Some(0), ""));
        } else {
            assert_code(&output, 1);
            assert!(
                message.contains("standard output: Broken pipe"),
                "{message}"
            );
        }
    }
}
