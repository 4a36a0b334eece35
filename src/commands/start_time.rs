//! Start time of a run: for its rows and for the default names of its files.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use super::say;
use crate::error::UsageError;
use crate::results::files::first_free;

/// Directory of files with a default name.
const DIRECTORY: &str = "results";

/// Returns the current UTC time in RFC 3339 format, in whole seconds.
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Warns if the clock has not been set since the host was switched on.
pub(super) fn warn_of_clock(started_at: &str) {
    // This program did not exist before 2024.
    const FIRST_YEAR: &str = "2024";
    if started_at < FIRST_YEAR {
        say(&format!(
            "the clock is not set: it says {started_at}, and so do the names of files and the log; measuring needs no more \
             than that it runs. To set it: timedatectl set-ntp true, or date -s"
        ));
    }
}

/// Creates the directory `results` and returns the first name in it that is free, also for a log: `<UTC time>-<board>` and
/// the suffix, with a number before it if need be. Two runs may begin in the same second, and a board without a clock
/// battery begins in 1970 at each boot.
///
/// # Errors
/// Fails if the directory cannot be created.
pub(super) fn default_path(
    started_at: &str,
    board: &str,
    suffix: &str,
) -> Result<PathBuf, UsageError> {
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
