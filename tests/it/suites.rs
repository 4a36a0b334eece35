//! Tests of `--suite`: several sweeps in turn.

use std::fs;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use udpbench::experiment::suite;
use udpbench::results::row::Status;

use crate::common::{Place, assert_code, copy_program, rows, stderr, stdout, wait_until};

/// As short as can be.
const SHORT: &str = "--duration 30ms --rounds 6 --warmup 1ms --heat 0s";

#[test]
fn every_suite_is_listed_and_shown_as_it_is_written() {
    let place = Place::new();
    let list = stdout(&place.run("suites"));
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites");
    for suite in suite::all() {
        let name = &suite.name;
        assert!(list.lines().any(|line| line == name), "{name}: {list}");
        let file = fs::read_to_string(directory.join(format!("{name}.toml")));
        assert_eq!(
            stdout(&place.run(&format!("suites {name}"))),
            file.expect("it is there")
        );
    }
    assert!(
        list.lines().all(|line| line.chars().count() <= 100),
        "{list}"
    );
}

#[test]
fn programs_that_are_not_there_are_left_out_of_a_suite() {
    let place = Place::new();
    let plan = || stdout(&place.run("plan --suite languages"));
    let without = plan();
    assert!(without.contains("engines  std, mmsg/32\n"), "{without}");
    fs::create_dir_all(place.path("target/languages")).expect("it is new");
    copy_program(&place.path("target/languages/go-net"));
    let with = plan();
    assert!(with.contains("engines  std, mmsg/32, go-net\n"), "{with}");
}

#[test]
fn a_suite_leaves_rows_samples_and_a_page() {
    let place = Place::new();
    let output = place.run(&format!(
        "--suite network-socket-performance {SHORT} -o mine"
    ));
    assert!(output.status.success(), "{}", stderr(&output));
    let measured = rows(&place.path("mine/duplex.csv"));
    assert!(
        measured.iter().all(|row| row.status == Status::Ok),
        "{measured:#?}"
    );
    assert!(place.path("mine/duplex.jsonl").exists());
    let text = stdout(&output);
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    if cfg!(feature = "report") {
        let page = fs::read_to_string(place.path("mine/report.html")).expect("it was written");
        assert!(page.contains("TCP in one direction and in both at once"));
        fs::remove_file(place.path("mine/report.html")).expect("it is there");
        let again = "report --suite network-socket-performance mine/duplex.csv -o mine/report.html";
        let output = place.run(again);
        assert!(output.status.success(), "{}", stderr(&output));
        let made_again =
            fs::read_to_string(place.path("mine/report.html")).expect("it was written");
        assert_eq!(made_again, page);
    }
}

#[test]
fn a_suite_that_was_interrupted_goes_on_where_it_was() {
    let place = Place::new();
    let suite = format!("--suite rust-socket-benchmark {SHORT} --seed 1");
    let running = place.udpbench(&format!("{suite} -o mine")).spawn();
    let mut running = running.expect("the program starts");
    wait_until("the second sweep has begun", || {
        place.path("mine/mio.csv").exists()
    });
    let pid = Pid::from_raw(running.id().try_into().expect("a pid"));
    kill(pid, Signal::SIGINT).expect("it runs");
    assert_eq!(running.wait().expect("it ends").code(), Some(130));
    let first = fs::read(place.path("mine/std.csv")).expect("it was written");
    let output = place.run(&format!("{suite} -o mine"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        fs::read(place.path("mine/std.csv")).expect("it is there"),
        first
    );
    let measured = rows(&place.path("mine/mio.csv"));
    assert!(
        measured.iter().all(|row| row.status != Status::Interrupted),
        "{measured:#?}"
    );
}

#[test]
fn searches_of_a_suite_go_on_from_their_logs_and_are_on_its_page() {
    let place = Place::new();
    fs::create_dir(place.path("mine")).expect("a directory");
    let suite = suite::find("--suite", "wire").expect("it is there");
    // They are begun outside the suite, where they can be told to be short.
    for search in &suite.searches {
        let (name, options) = (&search.name, &search.options);
        let begun = place.run(&format!(
            "find {options} --board generic --max-case-time 100ms -q -o mine/{name}.jsonl"
        ));
        assert_code(&begun, 4);
    }
    let trials = |name: &str| {
        let log = fs::read_to_string(place.path(&format!("mine/{name}.jsonl")));
        log.map_or(0, |log| log.matches("{\"window\":").count())
    };
    let before: Vec<usize> = suite.searches.iter().map(|it| trials(&it.name)).collect();
    let output = place.run(&format!("--suite wire {SHORT} --board generic -q -o mine"));
    assert!(output.status.success(), "{}", stderr(&output));
    for (search, before) in suite.searches.iter().zip(before) {
        let after = trials(&search.name);
        assert!(after > before, "{}: {before}, {after}", search.name);
    }
    if cfg!(feature = "report") {
        let page = fs::read_to_string(place.path("mine/report.html")).expect("it was written");
        for (n, title) in [
            "The highest rate without loss",
            "The byte that costs more",
            "What silence costs",
            "The longest train that is taken whole",
        ]
        .iter()
        .enumerate()
        {
            let heading = format!("<h2 id=\"search-{n}\">{title}</h2>");
            assert!(page.contains(&heading), "{heading}");
        }
    }
}

#[test]
fn a_directory_of_another_suite_is_refused() {
    let place = Place::new();
    let one = place.run(&format!(
        "--suite network-socket-performance {SHORT} -q -o mine"
    ));
    assert!(one.status.success(), "{}", stderr(&one));
    // Both have a sweep of that name.
    let other = place.run(&format!("--suite sockbench {SHORT} -q -o mine"));
    assert_code(&other, 2);
    let said = stderr(&other);
    assert!(
        said.contains("mine/duplex.jsonl: it is of a sweep with other cases"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_measured() {
    let place = Place::new();
    for (options, problem) in [
        (
            "--suite nope",
            "--suite 'nope': no such suite; use one that udpbench suites lists",
        ),
        (
            "--suite board --ip v6,v4 --engine std",
            "--suite board: a suite says itself what varies: leave out --ip",
        ),
        (
            "--suite board -o -",
            "a suite has several files: name a directory",
        ),
        ("latency --suite board", "leave out latency"),
        ("suites nope", "suites 'nope': no such suite"),
        (
            "--suite board --rounds 10000 --duration 1s",
            "windows of at least 1 ms",
        ),
    ] {
        let output = place.run(options);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{options}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(problem),
            "{options}: {}",
            stderr(&output)
        );
    }
    assert_eq!(place.files(), Vec::<String>::new());
}
