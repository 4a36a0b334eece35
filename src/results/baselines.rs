//! Baselines: runs kept under a name by `--baseline`, to compare later runs with (`--against`).
//!
//! Run 1 of a name is in `results/baselines/NAME.csv`, with its log beside it in `NAME.jsonl`; run 2 in `NAME.2.csv`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::UsageError;
use crate::log::name::first_free;
use crate::log::output_file::cannot_create;
use crate::text::nearest;

const DIRECTORY: &str = "results/baselines";

/// Highest number of runs of a name.
const MOST_RUNS: u32 = 999;

fn path(name: &str, run: u32) -> PathBuf {
    let number = if run == 1 {
        String::new()
    } else {
        format!(".{run}")
    };
    Path::new(DIRECTORY).join(format!("{name}{number}.csv"))
}

/// Returns the CSV path for the next run of a name. The log of the run goes beside it, with `.jsonl`.
pub fn next(name: &str) -> PathBuf {
    first_free(|run| path(name, run))
}

/// Returns the CSV path for the next run of a name, and creates the directory.
///
/// # Errors
/// Fails if the directory cannot be created.
pub fn create(name: &str) -> Result<PathBuf, UsageError> {
    let directory = Path::new(DIRECTORY);
    fs::create_dir_all(directory)
        .map_err(|error| cannot_create("--baseline", directory, &error))?;
    Ok(next(name))
}

/// Returns the files that `--against` names: all runs of a baseline, or a file.
///
/// # Errors
/// Fails if there is neither, and suggests a similar name.
pub fn find(asked: &str) -> Result<Vec<PathBuf>, UsageError> {
    let runs = (1..=MOST_RUNS).map(|run| path(asked, run));
    let runs: Vec<PathBuf> = runs.filter(|path| path.is_file()).collect();
    if !runs.is_empty() {
        return Ok(runs);
    }
    if Path::new(asked).is_file() {
        return Ok(vec![PathBuf::from(asked)]);
    }
    let names = names();
    let hint = nearest::hint(asked, names.iter().map(String::as_str));
    let fix = if names.is_empty() {
        "--baseline NAME makes one".to_owned()
    } else {
        format!("{hint}there are {}", names.join(", "))
    };
    let problem = format!("neither a baseline nor a file; {fix}");
    Err(UsageError::flag("--against", asked, problem))
}

/// Lists the names of all baselines in alphabetical order.
fn names() -> Vec<String> {
    let name = |entry: fs::DirEntry| {
        let file = entry.file_name().into_string().ok()?;
        let name = file.strip_suffix(".csv")?;
        let is_later_run = name
            .rsplit_once('.')
            .is_some_and(|(_, run)| run.parse::<u32>().is_ok());
        (!is_later_run).then(|| name.to_owned())
    };
    let entries = fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort_unstable();
    names
}
