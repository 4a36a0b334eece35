//! Checks that this program can read every run kept in `results/`.

use std::fs;
use std::path::{Path, PathBuf};

use udpbench::engines;
use udpbench::results::files::Results;
use udpbench::results::row::{Row, Status};

use crate::common::{Place, stderr, stdout};

/// Returns the files in the directories of `results/`; git ignores files beside the directories.
fn kept(extension: &str) -> Vec<PathBuf> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let mut waiting: Vec<PathBuf> = entries(&results).filter(|path| path.is_dir()).collect();
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(entries(&path));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    entries.map(|entry| entry.expect("an entry").path())
}

fn rows(path: &Path) -> Vec<Row> {
    let results = Results::open(path).unwrap_or_else(|error| panic!("{error}"));
    results.rows
}

/// Returns whether a CSV is of udpbench: scripts write files of other shapes beside.
fn is_of_udpbench(path: &PathBuf) -> bool {
    let columns = csv::Reader::from_path(path).and_then(|mut csv| csv.headers().cloned());
    let has = |name: &str| {
        columns
            .as_ref()
            .is_ok_and(|it| it.iter().any(|it| it == name))
    };
    has("case") && has("received_mbps_low")
}

#[test]
fn every_row_reads_and_its_key_names_its_axes() {
    let files: Vec<PathBuf> = kept("csv").into_iter().filter(is_of_udpbench).collect();
    assert!(!files.is_empty());
    let programs = include_str!("../../suites/languages.toml");
    let runtimes = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/runtimes/src");
    for path in files {
        let rows = rows(&path);
        assert!(!rows.is_empty(), "{}", path.display());
        for row in rows {
            let key = format!(
                "{}:{}/{}t/{}B/{}/{}",
                row.sender, row.receiver, row.threads, row.payload_bytes, row.connection, row.ip
            );
            let rest = row.case.strip_prefix(&key);
            let more = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            assert!(more, "{}: {}", path.display(), row.case);
            assert_eq!(row.senders, row.threads.senders(), "{key}");
            assert_eq!(row.receivers, row.threads.receivers(), "{key}");
            for engine in [&row.sender, &row.receiver] {
                let absent = engines::why_not_built(engine).is_some();
                let is_program = programs.contains(&format!("exec:target/languages/{engine}"));
                let is_runtime = runtimes.join(format!("{engine}.rs")).exists();
                let is_known =
                    absent || is_program || is_runtime || engines::find(engine).is_some();
                assert!(is_known, "{key}: {engine}");
            }
            let speaks = matches!(row.status, Status::Ok | Status::Interrupted);
            assert_eq!(row.received_mbps.is_some(), speaks, "{key}");
        }
    }
}

/// Whatever was built in: what replay needs to know of an engine is in the log.
#[test]
fn every_log_gives_the_rows_beside_it() {
    let place = Place::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs");
    let of_every_engine = fixtures.join("every-engine.jsonl");
    for log in kept("jsonl").into_iter().chain([of_every_engine]) {
        let mut summarize = place.udpbench("summarize --format csv --columns all -o -");
        let output = summarize.arg(&log).output().expect("the program starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {error}", log.display());
        let beside = fs::read(log.with_extension("csv")).expect("the CSV beside it");
        assert!(output.stdout == beside, "{}: other rows", log.display());
    }
}

/// CI runs this with and without the engines that are features: the snapshots are the same.
#[test]
fn every_build_reads_a_log_alike() {
    let place = Place::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs");
    for name in ["run.jsonl", "new.jsonl"] {
        fs::copy(fixtures.join("every-engine.jsonl"), place.path(name)).expect("a copy");
    }
    insta::assert_snapshot!("rank", stdout(&place.run("rank run.jsonl")));
    insta::assert_snapshot!("compare", stdout(&place.run("compare run.jsonl new.jsonl")));
}

#[test]
fn every_run_says_under_which_circumstances() {
    for path in kept("csv") {
        let home = path.parent().expect("a directory");
        let circumstances = home.join("README.md").exists() || home.join("../README.md").exists();
        assert!(circumstances, "{}", path.display());
    }
}

#[test]
fn the_published_figures_are_there() {
    let published = kept("csv").into_iter().filter(|path| {
        path.parent()
            .is_some_and(|home| home.ends_with("2021-rpi-4b-published"))
    });
    let rows: Vec<Row> = published.flat_map(|path| rows(&path)).collect();
    assert_eq!(rows.len(), 36 + 8 + 8);
    let best = rows
        .iter()
        .filter_map(|row| row.received_mbps)
        .fold(0.0, f64::max);
    assert!((best - 2250.51).abs() < 1e-9, "{best}");
    assert!(
        rows.iter()
            .all(|row| row.version == "rust_socket_benchmark")
    );
}

#[test]
fn a_run_says_how_far_the_runs_before_it_differed() {
    let place = Place::new();
    let earlier_runs = |name: &str| -> Vec<Option<usize>> {
        let rows = rows(&place.path(name));
        rows.iter().map(|row| row.earlier_runs).collect()
    };
    for (name, expected) in [("a", None), ("b", None), ("c", Some(2))] {
        let output = place.run(&format!(
            "--engine std,nix --ip v4 --connection connected --threads 2 --payload 100 --warmup 0s --soak 0s \
             --rounds 6 --duration 30ms -o {name}.csv"
        ));
        assert_eq!(
            earlier_runs(&format!("{name}.csv")),
            [expected; 2],
            "{name}"
        );
        let text = stdout(&output) + &stderr(&output);
        let said = "your last 2 runs differed by +-";
        let is_said = text.to_lowercase().contains(said);
        assert_eq!(is_said, expected.is_some(), "{text}");
    }
    let again = place.run("summarize c.jsonl -o again.csv");
    assert!(again.status.success(), "{}", stderr(&again));
    let read = |name: &str| fs::read(place.path(name)).expect("a file");
    assert_eq!(read("again.csv"), read("c.csv"));
}
