//! Default names of output files: `results/<UTC time>-<board>` and an extension. If a name is taken, a number is
//! appended: two runs may begin in the same second, and a board without a clock battery begins in 1970 at each boot.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::UsageError;

/// Directory of files with a default name.
const DIRECTORY: &str = "results";
/// Largest number that is appended to a taken name.
const MAX_NUMBER: u32 = 1000;

/// Creates the directory `results` and returns `results/<UTC time>-<board>`.
///
/// # Errors
/// Fails if the directory cannot be created.
pub(super) fn create_stem(started_at: &str, board: &str) -> Result<String, UsageError> {
    let directory = Path::new(DIRECTORY);
    fs::create_dir_all(directory).map_err(|error| no_directory(directory, &error))?;
    let time = started_at.replace(':', "");
    Ok(format!("{DIRECTORY}/{time}-{board}"))
}

/// Returns the error for a directory that cannot be created, though nobody typed its name.
fn no_directory(directory: &Path, error: &io::Error) -> UsageError {
    let problem = match error.kind() {
        io::ErrorKind::AlreadyExists => "it is a file, not a directory".to_owned(),
        _ => format!("cannot create this directory: {error}"),
    };
    let fix =
        format!("{problem}; results without a name go there: name a file, such as -o run.csv");
    UsageError::file(&directory.display().to_string(), 0, &fix)
}

/// Creates a file or a directory with `create`, at the first free name of `<stem><suffix>`, `<stem>-2<suffix>`,
/// `<stem>-3<suffix>`... `create` must fail if the name is taken. It may also create files of the same name with the
/// `sibling_extensions`.
///
/// # Errors
/// Returns the error of `create`, unless the cause is a taken name.
pub(super) fn create_first_free<T, E>(
    stem: &str,
    suffix: &str,
    sibling_extensions: &[&str],
    mut create: impl FnMut(&Path) -> Result<T, E>,
) -> Result<(T, PathBuf), E> {
    let mut number = 1;
    loop {
        let path = PathBuf::from(match number {
            1 => format!("{stem}{suffix}"),
            _ => format!("{stem}-{number}{suffix}"),
        });
        let is_taken = || {
            let mut siblings = sibling_extensions
                .iter()
                .map(|extension| path.with_extension(extension));
            path.exists() || siblings.any(|path| path.exists())
        };
        match create(&path) {
            Ok(created) => return Ok((created, path)),
            Err(_) if number < MAX_NUMBER && is_taken() => number += 1,
            Err(error) => return Err(error),
        }
    }
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
        let create = |path: &Path| File::create_new(path);
        let next = || create_first_free(&stem, ".csv", &["jsonl"], create).map(|(_, path)| path);
        assert_eq!(next().expect("free"), file("time-board.csv"));
        assert_eq!(next().expect("free"), file("time-board-2.csv"));
        assert_eq!(next().expect("free"), file("time-board-3.csv"));
        // Other errors are returned.
        let nowhere = place.path().join("none/time").display().to_string();
        create_first_free(&nowhere, ".csv", &[], create).expect_err("no directory");
    }
}
