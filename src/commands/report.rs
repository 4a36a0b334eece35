//! `udpbench report`: writes results as one HTML page.

use std::process::ExitCode;

use crate::cli::ReportArgs;

/// Reads the files and writes the page.
///
/// # Errors
/// Fails if a file cannot be read, if the page may not be overwritten, or if the disk is full. Always fails in a build
/// without the feature `report`.
#[cfg(feature = "report")]
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    writing::run(args)
}

/// Returns the error of a build without reports.
///
/// # Errors
/// Always fails.
#[cfg(not(feature = "report"))]
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let file = args
        .files
        .first()
        .map_or_else(String::new, |file| file.display().to_string());
    Err(super::not_built("report", &file, "report").into())
}

#[cfg(feature = "report")]
mod writing {
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

    pub(super) fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
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
}

#[cfg(all(test, not(feature = "report")))]
mod tests {
    use super::*;
    use crate::error::UsageError;

    #[test]
    fn a_program_without_reports_says_so_and_that_another_has_them() {
        let args = ReportArgs {
            files: vec!["run.csv".into()],
            output: "r.html".into(),
            overwrite: false,
            suite: None,
        };
        let error = run(&args).expect_err("there is none");
        assert!(error.is::<UsageError>());
        assert!(
            error
                .to_string()
                .starts_with("report run.csv: this udpbench was built without"),
            "{error}"
        );
    }
}
