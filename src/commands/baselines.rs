//! Baselines: results saved under a name by `--baseline`, to compare later runs with (`--against`).

use std::fs;
use std::path::{Path, PathBuf};

use super::open;
use crate::error::UsageError;
use crate::results::export::cannot_create;
use crate::results::files::Results;
use crate::term::nearest;

const DIRECTORY: &str = "results/baselines";

/// Returns the path of a baseline's CSV file. Its raw samples are in a `.jsonl` file beside it.
pub(super) fn path(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(format!("{name}.csv"))
}

/// Returns the CSV path for a new baseline and creates the directory.
///
/// # Errors
/// Fails if a baseline with this name exists or the directory cannot be created.
pub(super) fn create(name: &str) -> Result<PathBuf, UsageError> {
    let path = path(name);
    let samples = path.with_extension("jsonl");
    if let Some(existing) = [&path, &samples].into_iter().find(|path| path.exists()) {
        let problem = format!(
            "{} exists and is not overwritten; choose another name, or move {DIRECTORY}/{name}.* away first",
            existing.display()
        );
        return Err(UsageError::flag("--baseline", name, problem));
    }
    let directory = Path::new(DIRECTORY);
    fs::create_dir_all(directory)
        .map_err(|error| cannot_create("--baseline", directory, &error))?;
    Ok(path)
}

/// Opens the results that `--against` names: a baseline or a file.
///
/// # Errors
/// Fails if there is neither a baseline nor a file with this name, and suggests a similar name. Fails if the file
/// cannot be read.
pub(super) fn find(asked: &str) -> Result<Results, UsageError> {
    let paths = [path(asked), PathBuf::from(asked)];
    if let Some(path) = paths.iter().find(|path| path.is_file()) {
        return open(path);
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
        Some(file.strip_suffix(".csv")?.to_owned())
    };
    let entries = fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort_unstable();
    names
}
