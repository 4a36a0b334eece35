//! The log of what is no sweep: made, read, and gone on with.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::commands::default_name::{self, clock_remark};
use crate::commands::say;
use crate::error::UsageError;
use crate::export::output_file::OutputFile;
use crate::log::{First, Log};
use crate::sys::files::{self, Kind};

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

/// Reads that of a flag.
///
/// # Errors
/// When it cannot be read, or is none.
pub(crate) fn read<H: First>(flag: &'static str, path: &Path) -> Result<Log<H>, UsageError> {
    let bytes = files::read_whole(path, Kind::File).map_err(|error| {
        UsageError::flag(flag, &path.display(), format!("cannot read it: {error}"))
    })?;
    Log::parse(&path.display().to_string(), &bytes)
}

/// Whether a file is a log whose first line is that. What cannot be read is none.
pub(crate) fn is_of<H: First>(path: &Path) -> bool {
    let beginning = format!("{{\"{}\":", H::KEY);
    let mut start = vec![0; beginning.len()];
    let is_file = path.is_file();
    is_file
        && File::open(path)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok()
        && start == beginning.as_bytes()
}
