//! Default names of output files: `results/<UTC time>-<board>` and an extension. If a name is taken, a number is
//! appended: two runs may begin in the same second, and a board without a clock battery begins in 1970 at each boot.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::UsageError;
use crate::results::export::cannot_create;

/// Directory of files with a default name.
const DIRECTORY: &str = "results";
/// Limit of the appended number. A further failure has another cause than a taken name.
const MOST: u32 = 1000;

/// Returns the current UTC time in RFC 3339 format, in whole seconds.
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Returns `results/<UTC time>-<board>` and creates the directory.
///
/// # Errors
/// Fails if the directory cannot be created.
pub(super) fn stem(started_at: &str, board: &str) -> Result<String, UsageError> {
    let directory = Path::new(DIRECTORY);
    fs::create_dir_all(directory).map_err(|error| cannot_create("--output", directory, &error))?;
    let time = started_at.replace(':', "");
    Ok(format!("{DIRECTORY}/{time}-{board}"))
}

/// Calls `make` with the first free name of `<stem><end>`, `<stem>-2<end>`, `<stem>-3<end>`... `make` must fail if the
/// name is taken. `others` are the extensions of files that `make` creates beside it.
///
/// # Errors
/// Returns the error of `make`, unless the cause is a taken name.
pub(super) fn first_free<T, E>(
    stem: &str,
    end: &str,
    others: &[&str],
    mut make: impl FnMut(&Path) -> Result<T, E>,
) -> Result<(T, PathBuf), E> {
    let mut number = 1;
    loop {
        let path = PathBuf::from(match number {
            1 => format!("{stem}{end}"),
            _ => format!("{stem}-{number}{end}"),
        });
        let is_taken = || {
            let others = others
                .iter()
                .map(|extension| path.with_extension(extension));
            path.exists() || others.into_iter().any(|path| path.exists())
        };
        match make(&path) {
            Ok(made) => return Ok((made, path)),
            Err(_) if number < MOST && is_taken() => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Returns a warning if the clock has not been set since the host was switched on.
pub(super) fn clock_remark(started_at: &str) -> Option<String> {
    // Earlier than this program: a clock before it is wrong.
    const FIRST_YEAR: &str = "2024";
    (started_at < FIRST_YEAR).then(|| {
        format!(
            "the clock is not set: it says {started_at}, and so do the names of files and the log; measuring needs no more \
             than that it runs. To set it: timedatectl set-ntp true, or date -s"
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn the_first_free_name_is_taken() {
        let place = tempfile::tempdir().expect("a directory");
        let stem = place.path().join("time-board").display().to_string();
        let file = |name: &str| place.path().join(name);
        let make = |path: &Path| File::create_new(path);
        let next = || first_free(&stem, ".csv", &["jsonl"], make).map(|(_, path)| path);
        assert_eq!(next().expect("free"), file("time-board.csv"));
        assert_eq!(next().expect("free"), file("time-board-2.csv"));
        assert_eq!(next().expect("free"), file("time-board-3.csv"));
        // Another failure than a taken name is returned.
        let nowhere = place.path().join("none/time").display().to_string();
        first_free(&nowhere, ".csv", &[], make).expect_err("no directory");
    }

    #[test]
    fn a_clock_of_1970_is_told() {
        let remark = clock_remark("1970-01-01T00:00:07Z").expect("a remark");
        assert!(remark.contains("it says 1970-01-01T00:00:07Z"), "{remark}");
        assert_eq!(clock_remark("2026-11-26T23:00:00Z"), None);
    }
}
