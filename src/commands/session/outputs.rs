//! The output files of an experiment: the log (raw samples and events) and the rows.

use std::path::{Path, PathBuf};

use crate::cli::RunArgs;
use crate::commands::conclude;
use crate::error::UsageError;
use crate::log::name::{create_log, default_path, hold_names, resume_log};
use crate::log::output_file::OutputFile;
use crate::results::baselines;
use crate::results::export::row_file::RowFile;
use crate::results::export::selection::Selection;
use crate::results::export::{Conclude, is_stdout};
use crate::results::files::earlier_runs;
use crate::results::log::{EarlierRuns, End, Event, Header, Kind, LogWriter, Run};
use crate::results::row::Row;
use crate::sys::files;
use crate::term::shell;
use crate::term::words::words_as_text;

/// Output files of an experiment, created before the first trial.
#[derive(Default)]
pub(crate) struct Outputs {
    /// File of rows. `None` for an experiment without rows.
    rows: Option<RowFile>,
    samples: Option<LogWriter>,
    pub(crate) to_stdout: bool,
    /// Path of the log with the raw samples.
    pub(crate) samples_path: Option<PathBuf>,
    /// Destination of the rows, as text for messages.
    pub(crate) results: String,
    /// Destinations of the rows and the raw samples, as text for messages.
    pub(crate) shown: String,
    /// Options that resume it otherwise than it began, each after a blank.
    pub(crate) changes: String,
}

impl Outputs {
    /// Creates new files. Overwrites none.
    pub(crate) fn create(
        args: &RunArgs,
        board: &str,
        started_at: &str,
        selection: &Selection,
    ) -> anyhow::Result<Self> {
        let typed = &args.output;
        let is_named =
            typed.output.is_some() || typed.results().is_some() && typed.samples.is_some();
        // Until the files are there.
        let _held = (!is_named).then(hold_names);
        let output = match (typed.results(), &typed.baseline) {
            (Some(output), _) => output.to_owned(),
            (None, Some(name)) => baselines::create(name)?,
            (None, None) => default_path(started_at, board, ".csv")?,
        };
        let samples_path = match &typed.samples {
            Some(path) => Some(path.clone()),
            // Only a typed -o - asks for no log.
            None if is_stdout(&output) && typed.output.is_some() => None,
            None if is_stdout(&output) => Some(default_path(started_at, board, ".jsonl")?),
            None => Some(output.with_extension("jsonl")),
        };
        let format = typed.format_of(&output)?;
        if samples_path.as_deref() == Some(&*output) {
            let problem = "that file is for the rows; choose another name";
            return Err(refused("--samples", &output, problem).into());
        }
        let rows = RowFile::create(
            format,
            selection.clone(),
            &output,
            concluding(Run::new(started_at, words_as_text())),
        )?;
        let is_named = typed.samples.is_some();
        let flag = if is_named { "--samples" } else { "--output" };
        let samples = samples_path.as_deref();
        let samples = samples.map(|path| LogWriter::create(flag, path));
        match samples.transpose() {
            Ok(samples) => Ok(Self::new(rows, &output, samples, samples_path)),
            Err(error) => {
                // Nothing was measured: leaves no empty file behind.
                rows.remove();
                Err(error.into())
            }
        }
    }

    /// Creates the log of an experiment without rows, at `path` or at `results/<UTC time>-<board>-<command>.jsonl`, and
    /// writes its first line.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be written.
    pub(crate) fn log_of(
        path: Option<&Path>,
        name: (&str, &str, &str),
        header: &impl Kind,
    ) -> anyhow::Result<Self> {
        let (log, path) = create_log(path, name, header)?;
        Ok(Self::of_log(log, &path))
    }

    /// Opens the log of an experiment without rows to append to it.
    ///
    /// # Errors
    /// Fails if the log cannot be written.
    pub(crate) fn resume_log(path: &Path, end: End) -> Result<Self, UsageError> {
        Ok(Self::of_log(resume_log(path, end)?, path))
    }

    fn of_log(log: LogWriter, path: &Path) -> Self {
        Self {
            samples: Some(log),
            results: path.display().to_string(),
            shown: path.display().to_string(),
            samples_path: Some(path.to_owned()),
            ..Self::default()
        }
    }

    /// Opens the files of an interrupted sweep again. The log continues after its last complete line. The file of rows
    /// is cut back to `rows`.
    pub(crate) fn resume(
        args: &RunArgs,
        raw: &Path,
        (header, end): (&Header, End),
        rows: &[Row],
    ) -> anyhow::Result<Self> {
        let samples = Some(resume_log(raw, end)?);
        let output = args.output.results().map(Path::to_owned);
        let output = output.unwrap_or_else(|| raw.with_extension("csv"));
        let file = resumed_rows(args, &output, header, rows)?;
        Ok(Self::new(file, &output, samples, Some(raw.to_owned())))
    }

    fn new(
        rows: RowFile,
        output: &Path,
        samples: Option<LogWriter>,
        samples_path: Option<PathBuf>,
    ) -> Self {
        let to_stdout = is_stdout(output);
        let mut results = output.display().to_string();
        if to_stdout {
            "standard output".clone_into(&mut results);
        }
        let shown = match &samples_path {
            Some(path) if path.with_extension("") == output.with_extension("") => {
                let log = path.extension().unwrap_or_default();
                format!("{results} and .{}", log.to_string_lossy())
            }
            Some(path) => format!("{results}, raw samples in {}", path.display()),
            None => format!("{results} (--samples names a file for the raw samples)"),
        };
        Self {
            rows: Some(rows),
            samples,
            to_stdout,
            samples_path,
            results,
            shown,
            ..Self::default()
        }
    }

    /// Removes the files.
    pub(crate) fn remove(self) {
        if let Some(rows) = self.rows {
            rows.remove();
        }
        if let Some(samples) = self.samples {
            samples.remove();
        }
    }

    /// Finds earlier runs of the cases in the folder of the rows. The new file there has no rows yet.
    pub(crate) fn earlier_runs(&self, header: &Header) -> Vec<EarlierRuns> {
        let folder = Path::new(&self.results).parent();
        let folder = folder.filter(|_| !self.to_stdout);
        folder.map_or_else(Vec::new, |folder| {
            let cases = header.plan.runnable().map(|planned| &planned.case);
            earlier_runs(folder, cases, &header.environment)
        })
    }

    /// Writes the first line of the log: the plan.
    pub(crate) fn first(&mut self, header: &Header) -> anyhow::Result<()> {
        let samples = self.samples.as_mut();
        samples.map_or(Ok(()), |samples| samples.header(header))
    }

    /// Appends an event to the log.
    pub(crate) fn event(&mut self, event: &Event) -> anyhow::Result<()> {
        let samples = self.samples.as_mut();
        samples.map_or(Ok(()), |samples| samples.event(event))
    }

    /// Writes rows that wait for the end, whatever happened to the log.
    pub(crate) fn finish(&mut self) -> anyhow::Result<()> {
        let synced = self.sync();
        if synced.is_err() {
            self.samples_path = None;
        }
        let kept = self.rows.as_ref().map_or(Ok(()), RowFile::finish);
        synced.and(kept)
    }

    /// Returns the command that resumes the experiment, or `None` without a log.
    pub(crate) fn resume_command(&self) -> Option<String> {
        let log = shell::path(self.samples_path.as_ref()?);
        Some(format!(
            "resume with: udpbench resume {log}{}",
            self.changes
        ))
    }

    /// Syncs the log to disk, against a power cut.
    pub(crate) fn sync(&self) -> anyhow::Result<()> {
        self.samples.as_ref().map_or(Ok(()), LogWriter::sync)
    }

    /// Writes the rows of a block and syncs the log that they come from.
    pub(crate) fn rows(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        // The log comes first, since the rows come from it. If it cannot be synced, the rows are still written.
        let synced = self.sync();
        let written = self.rows.as_mut().map_or(Ok(()), |file| file.rows(rows));
        synced.and(written)
    }
}

/// Returns what concludes from the rows of this run.
fn concluding(run: Run) -> Conclude {
    Box::new(move |rows| conclude(rows, run.clone()))
}

/// Writes the rows of a resumed sweep. A CSV that exists is replaced if it is of this sweep, as the seed says in each
/// of its lines: all that is in it comes from the log.
fn resumed_rows(
    args: &RunArgs,
    output: &Path,
    header: &Header,
    rows: &[Row],
) -> anyhow::Result<RowFile> {
    let format = args.output.format_of(output)?;
    let selection = Selection::of_plan(args.output.columns, &header.plan, &header.schedule);
    if !format.is_csv() || !output.exists() {
        let mut file = RowFile::create(format, selection, output, concluding(header.run.clone()))?;
        file.rows(rows)?;
        return Ok(file);
    }
    let other = |problem: &str| refused("--output", output, problem);
    let csv = files::read_whole(output, files::Kind::File);
    let csv = csv.map_err(|error| other(&format!("cannot read it: {error}")))?;
    let seed = header.schedule.seed.to_string();
    let cells = std::iter::once("seed").chain(std::iter::repeat(&*seed));
    let mut lines = csv.split_inclusive(|&byte| byte == b'\n').zip(cells);
    // A power cut leaves half a line.
    let is_of_run = |(line, cell): (&[u8], &str)| {
        let mut cells = line.split(|byte| b",;".contains(byte));
        (!line.ends_with(b"\n") && cell == seed) || cells.any(|it| it == cell.as_bytes())
    };
    if !lines.all(is_of_run) {
        let problem = "it has other contents than results of this sweep; choose another name";
        return Err(other(problem).into());
    }
    let bytes = csv.len() as u64;
    let file = OutputFile::resume(output, bytes, bytes)
        .map_err(|error| other(&format!("cannot resume it: {error}")))?;
    RowFile::resume_csv(format, file, selection, rows)
}

fn refused(flag: &'static str, path: &Path, problem: &str) -> UsageError {
    UsageError::flag(flag, &path.display(), problem)
}
