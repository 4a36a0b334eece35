//! Earlier runs of the same cases on the same machine, found in the folder of the results. Their rates show how far the
//! next run may differ from this one.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::data::Case;
use crate::results::row::{Environment, Row, RowInput, Status};
use crate::sys::files::{self, Kind};

/// Largest number of files that are read: the last ones by name, since default names begin with the time.
const MOST_FILES: usize = 20;
/// Size of the largest file that is read. A sweep of all cases writes less.
const MOST_BYTES: u64 = 4 << 20;

/// Rates of one case in earlier runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlierRuns {
    /// Key of the case.
    pub case: String,
    /// Datagrams received per second in each run, at least two.
    pub received_pps: Vec<f64>,
}

/// Columns of the files that are read.
#[derive(Deserialize)]
struct Seen {
    case: String,
    machine_id: String,
    received_pps: Option<f64>,
    status: Status,
    started_at: String,
    seed: u32,
}

impl EarlierRuns {
    /// Finds the earlier runs of these cases in the CSV files of a folder. Cases at given rates have none: the rate is
    /// no result. Files that cannot be read, and those of interrupted runs, are skipped.
    pub fn find<'a>(
        folder: &Path,
        cases: impl Iterator<Item = &'a Case>,
        environment: &Environment,
    ) -> Vec<Self> {
        let cases: Vec<&Case> = cases.filter(|case| case.rate.is_none()).collect();
        let Some(first) = cases.first() else {
            return Vec::new();
        };
        let machine = Row::new(&RowInput::skipped(first, String::new()), environment).machine_id;
        let mut rates: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        // A run may be in several files.
        let mut known = HashSet::new();
        for row in newest(folder)
            .iter()
            .filter_map(|path| rows(path))
            .flatten()
        {
            let counts = row.status == Status::Ok
                && row.machine_id == machine
                && known.insert((row.case.clone(), row.started_at, row.seed));
            let is_positive = |pps: &f64| pps.is_finite() && *pps > 0.0;
            if let Some(pps) = row.received_pps.filter(|pps| counts && is_positive(pps)) {
                rates.entry(row.case).or_default().push(pps);
            }
        }
        let runs = cases.into_iter().filter_map(|case| {
            let case = case.key();
            let received_pps = rates.remove(&case).filter(|rates| rates.len() > 1)?;
            Some(Self { case, received_pps })
        });
        runs.collect()
    }
}

/// Returns the last CSV files of a folder by name.
fn newest(folder: &Path) -> Vec<PathBuf> {
    // A file name alone has the empty folder.
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .collect();
    paths.sort_unstable();
    paths.split_off(paths.len().saturating_sub(MOST_FILES))
}

/// Reads the rows of a complete run. `None`: the file is too large, no CSV of udpbench, or of an interrupted run.
fn rows(path: &Path) -> Option<Vec<Seen>> {
    if fs::metadata(path).ok()?.len() > MOST_BYTES {
        return None;
    }
    let bytes = files::read_whole(path, Kind::File).ok()?;
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let rows: Vec<Seen> = reader.deserialize().collect::<Result<_, _>>().ok()?;
    let is_complete = rows.iter().all(|row| row.status != Status::Interrupted);
    is_complete.then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::export::csv;
    use crate::results::row::tests::{case, ordinary_row};

    fn find(folder: &Path) -> Vec<EarlierRuns> {
        EarlierRuns::find(folder, [case()].iter(), &Environment::default())
    }

    fn row(pps: f64) -> Row {
        Row {
            received_pps: Some(pps),
            started_at: format!("at {pps}"),
            ..ordinary_row()
        }
    }

    /// Returns the rates that are found in a folder with these files, one row each.
    fn found(files: &[(&str, Row)]) -> Vec<f64> {
        let place = tempfile::tempdir().expect("a directory");
        for (name, row) in files {
            let text = csv::encode(&[row]).expect("a row");
            fs::write(place.path().join(name), text).expect("written");
        }
        let runs = find(place.path()).into_iter();
        runs.flat_map(|runs| runs.received_pps).collect()
    }

    #[test]
    fn complete_runs_of_the_case_on_the_machine_are_found() {
        let files = [("a.csv", row(1.0)), ("b.csv", row(2.0))];
        assert_eq!(found(&files), [1.0, 2.0]);
        let changes: [fn(&mut Row); 6] = [
            |row| row.machine_id = "another".to_owned(),
            |row| row.case += "/flows3",
            |row| row.status = Status::Interrupted,
            |row| row.status = Status::Failed,
            |row| row.received_pps = None,
            // The same run.
            |row| row.started_at = "at 1".to_owned(),
        ];
        for change in changes {
            let mut files = files.clone();
            change(&mut files[1].1);
            assert!(found(&files).is_empty());
        }
    }

    #[test]
    fn the_last_files_by_name_are_read_and_only_csv() {
        let names: Vec<String> = (10..40).map(|n| format!("{n}.csv")).collect();
        let files = names
            .iter()
            .zip(10..)
            .map(|(name, n)| (name.as_str(), row(f64::from(n))));
        let mut files: Vec<(&str, Row)> = files.collect();
        files.push(("50.txt", row(50.0)));
        let expected: Vec<f64> = (20..40).map(f64::from).collect();
        assert_eq!(found(&files), expected);
    }

    #[test]
    fn nothing_in_a_folder_fails_a_run() {
        let place = tempfile::tempdir().expect("a directory");
        let put = |name: &str, bytes: &[u8]| {
            fs::write(place.path().join(name), bytes).expect("written");
        };
        put("empty.csv", b"");
        put("binary.csv", &[0xff, 0x00, 0xfe]);
        put("other.csv", b"case,value\nx,1\n");
        put("huge.csv", &vec![b'x'; 5 << 20]);
        fs::create_dir(place.path().join("folder.csv")).expect("created");
        nix::unistd::mkfifo(
            &place.path().join("pipe.csv"),
            nix::sys::stat::Mode::S_IRWXU,
        )
        .expect("created");
        for folder in [place.path(), Path::new("/nonexistent")] {
            assert!(find(folder).is_empty());
        }
    }
}
