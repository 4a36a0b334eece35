//! Checks that this program can read every run kept in `results/`.

use std::fs;
use std::path::{Path, PathBuf};

use udpbench::results::files::Results;
use udpbench::results::row::Row;

use crate::common::made_up::{MadeUp, measured_pps};
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
fn a_run_says_how_far_the_runs_before_it_differed() {
    let place = Place::new();
    let earlier_runs = |name: &str| -> Vec<Option<usize>> {
        let rows = rows(&place.path(name));
        rows.iter().map(|row| row.earlier_runs).collect()
    };
    let is_disturbed = |name: &str| {
        let log = place.path(&format!("{name}.jsonl"));
        log.exists() && rows(&log).iter().any(Row::lost_cpu_time)
    };
    for (name, expected) in [
        ("a", None),
        ("b", None),
        ("c", None),
        ("d", None),
        ("e", Some(4)),
    ] {
        let output = place.run(&format!(
            "--engine std,nix --ip v4 --connection connected --threads 2 --payload 100 --warmup 0s --heat 0s \
             --rounds 6 --duration 30ms -o {name}.csv"
        ));
        // Other tests may take the CPUs: then a run is none that counts.
        if ["a", "b", "c", "d"].iter().any(|name| is_disturbed(name)) {
            return;
        }
        let found = earlier_runs(&format!("{name}.csv"));
        assert_eq!(found, [expected; 2], "{name}");
        let text = stdout(&output) + &stderr(&output);
        let said = "in your last 4)";
        let is_said = text.to_lowercase().contains(said);
        if !text.contains("other programs took the CPUs") {
            assert_eq!(is_said, expected.is_some(), "{text}");
        }
        if expected.is_none() {
            // A run whose threads lost CPU time does not count.
            let log = place.path(&format!("{name}.jsonl"));
            let calm = MadeUp::from(&log).with_speeds(|_, sample| measured_pps(sample));
            calm.write(&log);
        }
    }
    let again = place.run("summarize c.jsonl -o again.csv");
    assert!(again.status.success(), "{}", stderr(&again));
    let read = |name: &str| fs::read(place.path(name)).expect("a file");
    assert_eq!(read("again.csv"), read("c.csv"));
}
