//! Finds earlier runs of the same cases on the same machine in the folder of the results.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::data::Case;
use crate::results::earlier_runs::EarlierRuns;
use crate::results::files::{Results, logs_in};
use crate::results::log::Log;
use crate::results::row::{Environment, Row, RowInput, Status};

/// Largest number of files that are read: the last ones by name, since default names begin with the time.
const MOST_FILES: usize = 20;
/// Smallest number of runs that say by how much the next one may differ: of two, it would be by anything.
const FEWEST: usize = 4;
/// Size of the largest file that is read. A default run writes a tenth of it; larger ones would delay the start.
const MOST_BYTES: u64 = 4 << 20;

/// Finds the earlier runs of these cases in the logs of a folder. Cases at given rates have none: the rate is no
/// result. Files that cannot be read, those of interrupted runs, and cases from whose threads other programs took the
/// CPUs are skipped.
pub fn find<'a>(
    folder: &Path,
    cases: impl Iterator<Item = &'a Case>,
    environment: &Environment,
) -> Vec<EarlierRuns> {
    let newest = newest(folder);
    among(
        newest.iter().filter_map(|path| rows(path)),
        cases,
        environment,
    )
}

fn among<'a>(
    runs: impl Iterator<Item = Vec<Row>>,
    cases: impl Iterator<Item = &'a Case>,
    environment: &Environment,
) -> Vec<EarlierRuns> {
    let is_complete = |rows: &Vec<Row>| rows.iter().all(|row| row.status != Status::Interrupted);
    let cases: Vec<&Case> = cases.filter(|case| case.rate.is_none()).collect();
    let Some(first) = cases.first() else {
        return Vec::new();
    };
    let machine = Row::new(&RowInput::skipped(first, String::new()), environment).machine_id;
    let mut rates: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    // A run may be in several files.
    let mut known = HashSet::new();
    for row in runs.filter(is_complete).flatten() {
        let counts = row.status == Status::Ok
            && !row.lost_cpu_time()
            && row.machine_id == machine
            && known.insert((row.case.key(), row.started_at, row.seed));
        let is_positive = |pps: &f64| pps.is_finite() && *pps > 0.0;
        if let Some(pps) = row.received_pps.filter(|pps| counts && is_positive(pps)) {
            rates.entry(row.case.key()).or_default().push(pps);
        }
    }
    let runs = cases.into_iter().filter_map(|case| {
        let case = case.key();
        let received_pps = rates.remove(&case).filter(|rates| rates.len() >= FEWEST)?;
        Some(EarlierRuns { case, received_pps })
    });
    runs.collect()
}

/// Returns the last logs of a folder by name.
fn newest(folder: &Path) -> Vec<PathBuf> {
    // A file name alone has the empty folder.
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut paths = logs_in(folder);
    paths.split_off(paths.len().saturating_sub(MOST_FILES))
}

/// Reads the rows of a run. `None`: the file is too large, or no log of a sweep.
fn rows(path: &Path) -> Option<Vec<Row>> {
    let file = fs::metadata(path).ok()?;
    if !file.is_file() || file.len() > MOST_BYTES {
        return None;
    }
    Some(Results::from_log(Log::open("FILE", path).ok()?).ok()?.rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::{case, of_key, ordinary_row};

    fn row(pps: f64) -> Row {
        Row {
            received_pps: Some(pps),
            started_at: format!("at {pps}"),
            ..ordinary_row()
        }
    }

    /// Returns the rates that are found in runs of one row each.
    fn found(rows: &[Row]) -> Vec<f64> {
        let runs = rows.iter().map(|row| vec![row.clone()]);
        let runs = among(runs, [case()].iter(), &Environment::default());
        runs.into_iter()
            .flat_map(|runs| runs.received_pps)
            .collect()
    }

    #[test]
    fn complete_runs_of_the_case_on_the_machine_are_found() {
        let rows = [row(1.0), row(2.0), row(3.0), row(4.0)];
        assert_eq!(found(&rows), [1.0, 2.0, 3.0, 4.0]);
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
            assert!(found(&rows).is_empty());
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
            let found = find(folder, [case()].iter(), &Environment::default());
            assert!(found.is_empty());
        }
    }
}
