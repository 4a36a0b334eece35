//! Tests of sweep options from `udpbench.toml`.

use std::fs;

use crate::common::{Place, assert_code, header, rows, stderr, stdout};

const SWEEP: &str = "--rounds 5 --duration 25ms --warmup 1ms --heat 0s -o out.csv";
const CASE: &str = "# one case\nengine = 'null'\nthreads = 2\npayload = [26]\nip = 'v4'\nconnection = 'connected'\n\
                    no-reference = true\nverify = false\n";

/// A place with that file.
fn with(text: &str) -> Place {
    let place = Place::new();
    fs::write(place.path("udpbench.toml"), text).expect("written");
    place
}

#[test]
fn options_of_the_file_stand_for_those_that_are_not_typed() {
    let place = with(CASE);
    let output = place.run(&format!("{SWEEP} --payload 26,300"));
    assert_code(&output, 0);
    let note = "options from udpbench.toml: --engine=null --threads=2 --ip=v4 --connection=connected --no-reference\n";
    assert!(stderr(&output).starts_with(note), "{}", stderr(&output));
    let mut cases: Vec<String> = rows(&place.path("out.csv"))
        .into_iter()
        .map(|row| row.case.key())
        .collect();
    cases.sort();
    assert_eq!(
        cases,
        [
            "null:null/2t/26B/connected/v4",
            "null:null/2t/300B/connected/v4"
        ]
    );
    // The log says what was run.
    let header = header(&place.path("out.jsonl")).expect("a header");
    let words = header.run.command_line.join(" ");
    assert!(words.ends_with(
        "--payload 26,300 --engine=null --threads=2 --ip=v4 --connection=connected --no-reference"
    ));
}

#[test]
fn what_belongs_together_may_be_typed_in_part() {
    let place = with("until = '1%'\nengine = 'null'\n");
    let output = place.run("plan --max-time 2m");
    assert_code(&output, 0);
}

#[test]
fn a_file_may_be_named_or_left_out() {
    let place = with(CASE);
    fs::rename(place.path("udpbench.toml"), place.path("mine.toml")).expect("renamed");
    fs::write(place.path("udpbench.toml"), "engine = 'std'\n").expect("written");
    for (flag, note, cases) in [
        (
            "--config mine.toml",
            "options from mine.toml: --engine=null",
            "1 case to run",
        ),
        ("", "options from udpbench.toml: --engine=std\n", ""),
        ("--no-config", "", ""),
    ] {
        let output = place.run(&format!("plan {flag} --board generic"));
        assert_eq!(output.status.code(), Some(0), "{flag}: {}", stderr(&output));
        assert!(
            stderr(&output).starts_with(note),
            "{flag}: {}",
            stderr(&output)
        );
        assert_eq!(
            stderr(&output).is_empty(),
            note.is_empty(),
            "{flag}: {}",
            stderr(&output)
        );
        assert!(
            stdout(&output).contains(cases),
            "{flag}: {}",
            stdout(&output)
        );
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_the_fix() {
    for (line, problem) in [
        (
            "thread = 2",
            "thread: no such option; did you mean threads? use those of udpbench --help",
        ),
        ("output = 'x.csv'", "output: no such option; "),
        ("threads = 0", "invalid value '0' for '--threads <LIST>'"),
        ("engine = 'stdd'", "did you mean std?"),
        ("quick = 1", "quick: use true or false"),
        (
            "threads = true",
            "threads: use a text, a number, or a list of them",
        ),
        (
            "payload = [1, [true]]",
            "payload: use a text, a number, or a list of them",
        ),
        ("threads = ", "string values must be quoted"),
        (
            "engine = \u{201c}std\u{201d}",
            "expected literal string: \"engine = \u{201c}std\u{201d}\"",
        ),
        ("\u{a0}threads = 2", "invalid unquoted key"),
        // What only the whole of it shows.
        ("payload = [26, 26]", "--payload 26: listed twice"),
        ("outstanding = 4", "--outstanding 4: add --workload rr"),
        ("max-time = '1m'", "--max-time 1m: it limits --until"),
    ] {
        let place = with(&format!("# mine\n\n{line}\n"));
        let output = place.run("plan");
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(message.contains(problem), "{line}: {message}");
        assert!(
            message.contains("error: udpbench.toml, line 3: "),
            "{line}: {message}"
        );
        assert_eq!(stdout(&output), "", "{line}");
    }
}

#[test]
fn a_file_that_is_not_there_is_refused_if_it_was_named() {
    let output = Place::new().run("plan --config nope.toml");
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(
        message.contains("--config nope.toml: cannot read it: No such file"),
        "{message}"
    );
}

#[test]
fn what_quick_chooses_is_not_overridden_by_the_file() {
    let place = with("duration = '10s'\nwarmup = '1s'\nthreads = 2\n");
    let output = place.run("plan --quick");
    assert!(
        stderr(&output).starts_with("options from udpbench.toml: --threads=2\n"),
        "{}",
        stderr(&output)
    );
    let plan = stdout(&output);
    assert!(plan.contains("6 windows of 50.0ms each"), "{plan}");
}

#[test]
fn what_is_no_sweep_of_its_own_has_no_options_from_the_file() {
    let place = with(CASE);
    let output = place.run("engines");
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(0), String::new())
    );
    let output = place.run("plan --suite board");
    let message = stderr(&output);
    assert!(
        message.starts_with("udpbench.toml is left out: it is not for --suite\n"),
        "{message}"
    );
    let output = place.run(SWEEP);
    assert_code(&output, 0);
    fs::write(place.path("udpbench.toml"), "nonsense").expect("written");
    let output = place.run("resume out.jsonl -q");
    assert_eq!(
        (output.status.code(), &*stderr(&output)),
        (Some(0), "out.csv and .jsonl\n")
    );
}
