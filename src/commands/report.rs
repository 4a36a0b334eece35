//! `udpbench report`: writes results as one HTML page.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use crate::cli::ReportArgs;
use crate::error::UsageError;
use crate::experiment::register::ExperimentResults;
use crate::experiment::suite;
use crate::report;
use crate::results::export::is_stdout;
use crate::results::files::{Results, log_of};
use crate::term::output::{say, to_stdout};

/// Reads the files and writes the page.
///
/// # Errors
/// Fails if a file cannot be read, if the page may not be overwritten, or if the disk is full.
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let is_stdout = is_stdout(&args.output);
    if !is_stdout {
        may_be_written(args)?;
    }
    let (mut files, mut logs) = (Vec::new(), Vec::new());
    for file in &args.files {
        match ExperimentResults::open("FILE", &log_of(file)?)? {
            Some(log) => logs.push(log),
            None => files.push(Results::open(file)?),
        }
    }
    let suite = args.suite.as_ref();
    let suite = suite.map(|name| suite::find("--suite", name)).transpose()?;
    let page = report::page(&files, &logs, suite.as_ref());
    if is_stdout {
        to_stdout(page.as_bytes())?;
    } else {
        let shown = args.output.display();
        write(&args.output, page.as_bytes()).with_context(|| format!("--output {shown}"))?;
        say(&format!("{shown}: open it in a browser"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks that the page may be written: it may replace an earlier page, and another file only with `--overwrite`.
fn may_be_written(args: &ReportArgs) -> Result<(), UsageError> {
    let path = &args.output;
    let directory = directory_of(path);
    let file = fs::canonicalize(path).ok();
    let is_this = |input: &PathBuf| fs::canonicalize(input).ok() == file;
    let problem = match fs::metadata(path) {
        _ if !directory.is_dir() => {
            &format!("no directory {}; create it first", directory.display())
        }
        Err(_) => return Ok(()),
        Ok(metadata) if !metadata.is_file() => {
            "it exists and is not a file; choose another name, or - for standard output"
        }
        Ok(_) if args.files.iter().any(is_this) => {
            "it is one of the input files; choose another name"
        }
        Ok(_) if args.overwrite || is_report(path) => return Ok(()),
        Ok(_) => {
            "it exists and is not a report; choose another name, or overwrite it with --overwrite"
        }
    };
    Err(UsageError::flag("--output", &path.display(), problem))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn is_report(path: &Path) -> bool {
    let mut start = [0; report::MARK.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == report::MARK.as_bytes()
}

/// Writes the page to a temporary file and renames it, so that a reader sees the old page or the new one, never a
/// part.
fn write(path: &Path, page: &[u8]) -> io::Result<()> {
    // Resolves a symbolic link, so that the rename replaces its target and not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut unfinished = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory_of(&path))?;
    unfinished.write_all(page)?;
    unfinished.as_file().sync_all()?;
    unfinished.persist(path)?;
    Ok(())
}
