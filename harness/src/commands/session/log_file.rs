//! The log of what is no sweep: made, read, and gone on with.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::commands::default_name::{self, clock_remark};
use crate::commands::say;
use crate::export::output_file::OutputFile;
use crate::log::First;

/// UTC.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Creates a log with its first line at `path`, or at `results/<UTC time>-<board>-<command>.jsonl`. Nothing is left of one
/// that cannot have it.
///
/// # Errors
/// When it is there already, or cannot be written.
pub(crate) fn create(
    path: Option<&Path>,
    (board, started_at, command): (&str, &str, &str),
    header: &impl First,
) -> anyhow::Result<(OutputFile, PathBuf)> {
    if let Some(remark) = clock_remark(started_at) {
        say(&remark);
    }
    let create = |path: &Path| {
        let mut file = OutputFile::create("--output", path)?;
        if let Err(error) = header.line().and_then(|line| file.append(&line)) {
            file.remove();
            return Err(error);
        }
        Ok(file)
    };
    if let Some(path) = path {
        return Ok((create(path)?, path.to_owned()));
    }
    let stem = default_name::stem(started_at, board)?;
    default_name::first_free(&stem, &format!("-{command}.jsonl"), &[], create)
}
