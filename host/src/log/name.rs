//! Start time and default names of the files of a run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::fcntl::{Flock, FlockArg};

use super::{End, Kind, LogWriter};
use crate::error::UsageError;
use crate::term::output::say;

/// Directory of files with a default name.
const DIRECTORY: &str = "results";

/// Returns the current UTC time in RFC 3339 format, in whole seconds.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Warns if the clock has not been set since the host was switched on.
pub fn warn_of_clock(started_at: &str) {
    // This program did not exist before 2024.
    const FIRST_YEAR: &str = "2024";
    if started_at < FIRST_YEAR {
        say(&format!(
            "the clock is not set: it says {started_at}, and so do the names of files and the log; measuring needs no more \
             than that it runs. To set it: timedatectl set-ntp true, or date -s"
        ));
    }
}

/// Creates a log with its first line. Without `path`, the name of the file is made of `name`: the board, the start and
/// the command.
///
/// # Errors
/// Fails if the path does not end in `.jsonl`, if the file exists already or if it cannot be written.
pub fn create_log(
    path: Option<&Path>,
    name: (&str, &str, &str),
    header: &impl Kind,
) -> anyhow::Result<(LogWriter, PathBuf)> {
    let (board, started_at, command) = name;
    if let Some(path) = path.filter(|path| path.extension().is_none_or(|it| it != "jsonl")) {
        let fix =
            "this command writes a log: use a name in .jsonl; udpbench summarize makes rows of it";
        return Err(UsageError::flag("--output", &path.display(), fix).into());
    }
    warn_of_clock(started_at);
    let _held = path.is_none().then(hold_names);
    let path = match path {
        Some(path) => path.to_owned(),
        None => default_path(started_at, board, &format!("-{command}.jsonl"))?,
    };
    let mut log = LogWriter::create("--output", &path)?;
    if let Err(error) = log.header(header) {
        // Removes a log whose first line cannot be written.
        log.remove();
        return Err(error);
    }
    Ok((log, path))
}

/// Opens the log of a resumed experiment: see [`LogWriter::resume`].
///
/// # Errors
/// Fails if it cannot be written.
pub fn resume_log(path: &Path, end: End) -> Result<LogWriter, UsageError> {
    LogWriter::resume(path, end).map_err(|error| {
        UsageError::flag(
            "resume",
            &path.display(),
            format!("cannot resume it: {error}"),
        )
    })
}

/// Creates the directory `results`, in which no other run chooses a default name until the returned lock is dropped.
/// `None`: the directory cannot be created, or its file system has no locks.
pub fn hold_names() -> Option<Flock<File>> {
    fs::create_dir_all(DIRECTORY).ok()?;
    Flock::lock(File::open(DIRECTORY).ok()?, FlockArg::LockExclusive).ok()
}

/// Creates the directory `results` and returns the first name in it that is free, also for a log: `<UTC time>-<board>`
/// and the suffix, with a number before it if need be. Two runs may begin in the same second, and a board without a
/// clock battery begins in 1970 at each boot.
///
/// # Errors
/// Fails if the directory cannot be created.
pub fn default_path(started_at: &str, board: &str, suffix: &str) -> Result<PathBuf, UsageError> {
    fs::create_dir_all(DIRECTORY).map_err(|error| {
        let fix = format!(
            "cannot create this directory: {error}; results without a name go there: name a file, such as -o run.csv"
        );
        UsageError::file(DIRECTORY, 0, &fix)
    })?;
    let stem = format!("{DIRECTORY}/{}-{board}", started_at.replace(':', ""));
    Ok(first_free(|number| numbered(&stem, number, suffix)))
}

/// Returns a name with its number before the suffix, unless that is 1.
fn numbered(stem: &str, number: u32, suffix: &str) -> PathBuf {
    match number {
        1 => format!("{stem}{suffix}").into(),
        number => format!("{stem}-{number}{suffix}").into(),
    }
}

/// Returns the first name that is free, also for a log beside it: `name` makes one of each number from 1.
pub fn first_free(name: impl Fn(u32) -> PathBuf) -> PathBuf {
    let is_free = |path: &PathBuf| !path.exists() && !path.with_extension("jsonl").exists();
    (1..=u32::MAX).map(name).find(is_free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_name_is_taken() {
        let place = tempfile::tempdir().expect("a directory");
        let stem = place.path().join("time-board").display().to_string();
        for name in ["time-board.csv", "time-board-2.jsonl", "time-board-3.csv"] {
            let created = fs::File::create_new(place.path().join(name));
            created.expect("there is space");
        }
        let expected = place.path().join("time-board-4.csv");
        assert_eq!(first_free(|n| numbered(&stem, n, ".csv")), expected);
    }
}
