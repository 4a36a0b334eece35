//! Tests of the logs that names stand for, and of earlier runs.

use super::*;
use crate::results::row::tests::{case, of_key, ordinary_row};

/// Returns the log that `asked` stands for in a directory with these files, or the error without the directory's
/// name.
fn found(files: &[&str], asked: &str) -> Result<String, String> {
    let place = tempfile::tempdir().expect("a directory");
    fs::create_dir(place.path().join("folder")).expect("created");
    for name in files {
        fs::write(place.path().join(name), "").expect("written");
    }
    let without = |text: String| text.replace(&format!("{}/", place.path().display()), "");
    match log_of(&place.path().join(asked)) {
        Ok(log) => Ok(without(log.display().to_string())),
        Err(error) => Err(without(error.to_string())),
    }
}

#[test]
fn rows_stand_for_the_log_beside_them() {
    let plain = ["a.csv", "a.json", "a.md", "a.jsonl", "b.csv"];
    for rows in ["a.csv", "a.json", "a.md", "a.jsonl"] {
        assert_eq!(found(&plain, rows), Ok("a.jsonl".to_owned()), "{rows}");
    }
    let compressed = ["a.csv", "a.jsonl.gz"];
    assert_eq!(found(&compressed, "a.csv"), Ok("a.jsonl.gz".to_owned()));
    let missing = "b.csv: rows are only written, and their log is not beside them: name b.jsonl, wherever it is";
    assert_eq!(found(&plain, "b.csv"), Err(missing.to_owned()));
}

#[test]
fn other_names_are_names_of_logs() {
    for name in ["a.jsonl", "a.jsonl.gz", "a", "a.jsonl.saved"] {
        assert_eq!(found(&[name], name), Ok(name.to_owned()));
    }
    // Reading it says why it cannot be read.
    assert_eq!(found(&[], "absent.csv"), Ok("absent.csv".to_owned()));
    assert_eq!(log_of(Path::new("/dev/stdin")), Ok("/dev/stdin".into()));
}

#[test]
fn a_folder_is_no_log() {
    let refused = "folder: a folder: name one or more logs (.jsonl) in it".to_owned();
    assert_eq!(found(&["folder/a.jsonl"], "folder"), Err(refused));
}

fn row(pps: f64) -> Row {
    Row {
        received_pps: Some(pps),
        started_at: format!("at {pps}"),
        ..ordinary_row()
    }
}

/// Returns the rates that are found in runs of one row each.
fn rates_in(rows: &[Row]) -> Vec<f64> {
    let runs = rows.iter().map(|row| vec![row.clone()]);
    let runs = among(runs, [case()].iter(), &Environment::default());
    runs.into_iter()
        .flat_map(|runs| runs.received_pps)
        .collect()
}

#[test]
fn complete_runs_of_the_case_on_the_machine_are_found() {
    let rows = [row(1.0), row(2.0), row(3.0), row(4.0)];
    assert_eq!(rates_in(&rows), [1.0, 2.0, 3.0, 4.0]);
    let changes: [fn(&mut Row); 7] = [
        |row| row.machine_id = "another".to_owned(),
        |row| row.case = of_key("std:std/2t/300B/connected/v4/flows3"),
        |row| row.status = Status::Interrupted,
        |row| row.status = Status::Failed,
        |row| row.received_pps = None,
        // Other programs disturbed it.
        |row| row.disturbed_windows = Some(6),
        // The same run.
        |row| row.started_at = "at 1".to_owned(),
    ];
    for change in changes {
        let mut rows = rows.clone();
        change(&mut rows[1]);
        assert!(rates_in(&rows).is_empty());
    }
}

#[test]
fn the_last_logs_by_name_are_read() {
    let place = tempfile::tempdir().expect("a directory");
    for n in 10..40 {
        for extension in ["jsonl", "csv"] {
            let name = format!("{n}.{extension}");
            fs::write(place.path().join(name), "").expect("written");
        }
    }
    let expected = (20..40).map(|n| place.path().join(format!("{n}.jsonl")));
    assert_eq!(newest(place.path()), expected.collect::<Vec<_>>());
}

#[test]
fn nothing_in_a_folder_fails_a_run() {
    let place = tempfile::tempdir().expect("a directory");
    let put = |name: &str, bytes: &[u8]| {
        fs::write(place.path().join(name), bytes).expect("written");
    };
    put("empty.jsonl", b"");
    put("binary.jsonl", &[0xff, 0x00, 0xfe]);
    put("compressed.jsonl", b"\x1f\x8bx");
    put("other.jsonl", b"{\"plan\":{}}\nx,1\n");
    put("huge.jsonl", &vec![b'x'; 5 << 20]);
    fs::create_dir(place.path().join("folder.jsonl")).expect("created");
    nix::unistd::mkfifo(
        &place.path().join("pipe.jsonl"),
        nix::sys::stat::Mode::S_IRWXU,
    )
    .expect("created");
    for folder in [place.path(), Path::new("/nonexistent")] {
        let found = earlier_runs(folder, [case()].iter(), &Environment::default());
        assert!(found.is_empty());
    }
}
