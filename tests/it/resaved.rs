//! Files that editors and spreadsheets saved again: they are read with the same values, or refused with the place and
//! the fix.

use std::fs;

use crate::common::{Place, stderr, stdout};

/// A place with these files of the fixtures: `run.csv` and `run.jsonl`.
fn place() -> Place {
    let place = Place::new();
    for extension in ["csv", "jsonl"] {
        let fixture = crate::common::pages::root().join("tests/fixtures/logs/every-engine");
        let copy = place.path("run").with_extension(extension);
        fs::copy(fixture.with_extension(extension), copy).expect("a copy");
    }
    place
}

/// The text in the ways in which editors save it.
fn saved_again(text: &str) -> [(&'static str, Vec<u8>); 4] {
    let lines = text.replace('\n', "\r\n");
    let marked = format!("\u{feff}{text}");
    let units = || marked.encode_utf16();
    [
        ("CR LF", lines.into_bytes()),
        ("a byte-order mark", marked.clone().into_bytes()),
        ("UTF-16LE", units().flat_map(u16::to_le_bytes).collect()),
        ("UTF-16BE", units().flat_map(u16::to_be_bytes).collect()),
    ]
}

#[test]
fn each_command_says_which_cell_of_which_line_is_no_number() {
    let place = place();
    let csv = fs::read_to_string(place.path("run.csv")).expect("a CSV");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().expect("a header").clone();
    // As spreadsheets end lines.
    let mut form = csv::WriterBuilder::new();
    let form = form.terminator(csv::Terminator::CRLF);
    let mut writer = form.from_path(place.path("bad.csv")).expect("created");
    writer.write_record(&header).expect("written");
    for (line, record) in (2..).zip(reader.records().flatten()) {
        let cell = |(column, cell)| match (line, column) {
            (4, "received_pps") => "abc",
            _ => cell,
        };
        let cells = header.iter().zip(&record).map(cell);
        writer.write_record(cells).expect("written");
    }
    drop(writer);
    for arguments in [
        "rank bad.csv",
        "compare run.csv bad.csv",
        "compare bad.csv run.csv",
        "summarize bad.csv",
        #[cfg(feature = "report")]
        "report bad.csv -o page.html",
    ] {
        let output = place.run(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        let expected = "error: bad.csv, line 4, received_pps: \"abc\" is no number\n";
        assert_eq!(message, expected, "{arguments}");
    }
}

#[test]
fn raw_samples_are_read_in_any_encoding_but_gone_on_with_only_in_their_own() {
    let place = place();
    let expected = stdout(&place.run("summarize run.jsonl --format csv -o -"));
    let log = fs::read_to_string(place.path("run.jsonl")).expect("a log");
    for (how, bytes) in saved_again(&log) {
        fs::write(place.path("again.jsonl"), bytes).expect("written");
        let output = place.run("summarize again.jsonl --format csv -o -");
        assert_eq!(stdout(&output), expected, "{how}: {}", stderr(&output));
        let message = stderr(&place.run("--resume again.jsonl"));
        let is_refused = message.contains("again.jsonl, line 1: an editor saved it again");
        assert_eq!(is_refused, how != "CR LF", "{how}: {message}");
    }
    fs::write(place.path("again.jsonl"), log.replacen('\n', "\n\n", 1)).expect("written");
    let message = stderr(&place.run("rank again.jsonl"));
    assert!(
        message.contains("again.jsonl, line 2: an empty line: delete it"),
        "{message}"
    );
}

#[test]
fn options_and_profiles_are_read_in_any_encoding() {
    let profile = crate::common::pages::root().join("boards/rpi-4b.toml");
    let profile = fs::read_to_string(profile).expect("a profile");
    for (how, bytes) in saved_again(&profile) {
        let place = Place::new();
        fs::write(place.path("mine.toml"), bytes).expect("written");
        let output = place.run("plan --board ./mine.toml --engine null");
        assert_eq!(output.status.code(), Some(0), "{how}: {}", stderr(&output));
    }
    for (how, bytes) in saved_again("# mine\nengine = 'null'\nthreads = 2\n") {
        let place = Place::new();
        fs::write(place.path("udpbench.toml"), bytes).expect("written");
        let message = stderr(&place.run("plan --board generic"));
        let options = "options from udpbench.toml: --engine=null --threads=2\n";
        assert_eq!(message, options, "{how}");
    }
}

#[test]
fn what_is_no_text_is_refused_with_its_line() {
    let place = Place::new();
    let latin = b"# mine\nengine = 'null' # \xb5s\n";
    fs::write(place.path("mine.toml"), latin).expect("written");
    fs::write(place.path("run.csv"), b"case,sender\n\xb5s,\n").expect("written");
    fs::write(place.path("run.csv.gz"), b"\x1f\x8b\x08\x00").expect("written");
    for (arguments, problem) in [
        (
            "plan --config mine.toml",
            "mine.toml, line 2: the byte 0xB5 is not UTF-8: save the file as UTF-8",
        ),
        (
            "plan --board ./mine.toml",
            "./mine.toml, line 2: the byte 0xB5 is not UTF-8",
        ),
        (
            "rank run.csv",
            "run.csv, line 2: the byte 0xB5 is not UTF-8",
        ),
        (
            "rank run.csv.gz",
            "run.csv.gz: it is compressed: gunzip it first",
        ),
    ] {
        let output = place.run(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(problem), "{arguments}: {message}");
    }
}
