//! The files of a run.

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::cli::RunArgs;
use crate::error::UsageError;
use crate::export::append_file::{LineFile, Lines};
use crate::export::csv::{self, CsvWriter};
use crate::export::document::Document;
use crate::export::place::Displaced;
use crate::export::samples::SampleWriter;
use crate::export::{Format, cannot_create, is_stdout};
use crate::log::{Event, Log};
use crate::results::Results;
use crate::row::Row;
use crate::sys::files::{self, Kind};

/// The files of a run, created before anything is measured.
pub(super) struct Outputs {
    rows: RowWriter,
    samples: Option<SampleWriter>,
    pub(super) to_stdout: bool,
    /// Where the raw samples go.
    pub(super) samples_path: Option<PathBuf>,
    /// Where the results go, for people.
    pub(super) shown: String,
}

impl Outputs {
    /// New files, over no other ones.
    pub(super) fn create(args: &RunArgs, board: &str, started_at: &str) -> anyhow::Result<Self> {
        let output = match &args.output {
            Some(path) => path.clone(),
            None => default_path(args.format, board, started_at)?,
        };
        let format = Format::choose(args.format, &output)?;
        let samples_path = match &args.samples {
            Some(path) => Some(path.clone()),
            None if is_stdout(&output) => None,
            None => Some(output.with_extension("jsonl")),
        };
        if samples_path.as_ref() == Some(&output) {
            let problem = "that file is for the rows; choose another name";
            return Err(refused("--samples", &output, problem).into());
        }
        let rows = RowWriter::create(format, &output)?;
        let flag = if args.samples.is_some() {
            "--samples"
        } else {
            "--output"
        };
        let samples = samples_path.as_deref().map(|path| create(flag, path));
        match samples.transpose() {
            Ok(samples) => Ok(Self::new(rows, &output, samples, samples_path)),
            Err(error) => {
                // Nothing was measured: leave no empty file behind.
                rows.remove();
                Err(error.into())
            }
        }
    }

    /// The files of the run that left `log`: rows that were not final are taken back, raw samples go on after
    /// the last whole line.
    pub(super) fn resume(
        args: &RunArgs,
        raw: &Path,
        log: &Log,
        rows: &[Row],
        unfinished: &[Row],
    ) -> anyhow::Result<Self> {
        let samples = LineFile::resume(raw, log.bytes, log.whole_bytes)
            .map_err(|error| refused("--resume", raw, &format!("cannot resume it: {error}")))?;
        let output = args.output.clone();
        let extension = args.format.unwrap_or(Format::Csv).extension();
        let output = output.unwrap_or_else(|| raw.with_extension(extension));
        let format = Format::choose(args.format, &output)?;
        let writer = if format == Format::Csv && output.exists() {
            let known = [rows, unfinished].concat();
            let other = |problem: &str| refused("--output", &output, problem);
            let csv = files::read_whole(&output, Kind::File);
            let csv = csv.map_err(|error| other(&format!("cannot read it: {error}")))?;
            if !is_of_run(&csv, &known, log) {
                let problem =
                    "it has other contents than results of this sweep; choose another name";
                return Err(other(problem).into());
            }
            RowWriter::Csv(CsvWriter::new(Lines::File(replace(&output)?)))
        } else {
            RowWriter::create(format, &output)?
        };
        let mut outputs = Self::new(writer, &output, Some(samples), Some(raw.to_owned()));
        outputs.rows.rows(rows)?;
        outputs.rows.put_in_place()?;
        Ok(outputs)
    }

    fn new(
        rows: RowWriter,
        output: &Path,
        samples: Option<LineFile>,
        samples_path: Option<PathBuf>,
    ) -> Self {
        let to_stdout = is_stdout(output);
        let results = if to_stdout {
            "standard output".to_owned()
        } else {
            output.display().to_string()
        };
        let shown = match &samples_path {
            Some(path) => format!("{results}, raw samples in {}", path.display()),
            None => format!("{results} (--samples names a file for the raw samples)"),
        };
        Self {
            rows,
            samples: samples.map(|file| SampleWriter::new(Lines::File(file))),
            to_stdout,
            samples_path,
            shown,
        }
    }

    /// Takes the files away again.
    pub(super) fn remove(self) {
        self.rows.remove();
        let _ = self.samples.map(SampleWriter::remove);
    }

    /// Keeps what happened.
    pub(super) fn line(&mut self, line: &Event) -> anyhow::Result<()> {
        match &mut self.samples {
            Some(samples) => samples.line(line),
            None => Ok(()),
        }
    }

    /// Writes what was kept for the end, and saves what is not where it was put any more.
    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        let samples = self.samples.as_ref().and_then(SampleWriter::rescue);
        if let Some(displaced) = &samples {
            self.samples_path = displaced.is_now_at().map(Path::to_owned);
        }
        let displaced = samples.into_iter().chain(self.rows.rescue());
        let mut problems: Vec<String> = displaced.map(|file| file.to_string()).collect();
        // Rows that are still in memory are written whatever became of the other file.
        problems.extend(self.rows.finish().err().map(|error| format!("{error:#}")));
        if problems.is_empty() {
            Ok(())
        } else {
            bail!("{}", problems.join("; "))
        }
    }

    /// The command that resumes the sweep.
    pub(super) fn resume_command(&self) -> Option<String> {
        let samples = self.samples_path.as_ref()?;
        Some(format!(
            "resume with: udpbench --resume {}",
            samples.display()
        ))
    }

    /// Keeps the rows of a block, and makes its windows safe against a power cut.
    pub(super) fn rows(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        // First what the rows follow from. If that cannot be kept, the rows can all the same.
        let synced = self.samples.as_ref().map_or(Ok(()), SampleWriter::sync);
        let written = self.rows.rows(rows);
        synced.and(written)
    }
}

/// Where rows go: a CSV grows, other formats are written whole after each block.
enum RowWriter {
    Csv(CsvWriter),
    Document(Document),
}

impl RowWriter {
    fn create(format: Format, output: &Path) -> anyhow::Result<Self> {
        Ok(match format {
            Format::Csv if is_stdout(output) => Self::Csv(CsvWriter::new(Lines::Stdout)),
            Format::Csv => {
                let file = create("--output", output)?;
                Self::Csv(CsvWriter::new(Lines::File(file)))
            }
            _ => Self::Document(Document::create(format, output)?),
        })
    }

    fn rows(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        match self {
            Self::Csv(writer) => writer.rows(rows),
            Self::Document(writer) => writer.rows(rows),
        }
    }

    fn finish(&self) -> anyhow::Result<()> {
        match self {
            Self::Csv(_) => Ok(()),
            Self::Document(writer) => writer.finish(),
        }
    }

    fn rescue(&self) -> Option<Displaced> {
        match self {
            Self::Csv(writer) => writer.rescue(),
            Self::Document(writer) => writer.rescue(),
        }
    }

    fn put_in_place(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Csv(writer) => writer.put_in_place(),
            Self::Document(_) => Ok(()),
        }
    }

    fn remove(self) {
        let _ = match self {
            Self::Csv(writer) => writer.remove(),
            Self::Document(writer) => writer.remove(),
        };
    }
}

/// Whether all whole rows of a CSV file are of the run that `known` rows are of. A power cut may have taken from
/// the raw samples what a row was made of.
fn is_of_run(csv: &[u8], known: &[Row], log: &Log) -> bool {
    if !csv.contains(&b'\n') {
        // The beginning of a header that was cut off, or nothing yet; anything else is another file.
        return csv::shape(known).is_ok_and(|whole| whole.starts_with(csv));
    }
    let Ok(found) = Results::from_csv("", csv) else {
        return false;
    };
    let is_planned = |row: &Row| {
        let mut cases = log.header.plan.cases();
        row.seed == log.header.schedule.seed && cases.any(|planned| planned.case.key() == row.case)
    };
    found.rows.iter().all(|row| {
        let known = known.iter().find(|known| known.case == row.case);
        is_planned(row) && known.is_none_or(|known| known.started_at == row.started_at)
    })
}

/// `results/<UTC time>-<board>.csv`, or another extension.
fn default_path(
    format: Option<Format>,
    board: &str,
    started_at: &str,
) -> Result<PathBuf, UsageError> {
    let directory = Path::new("results");
    std::fs::create_dir_all(directory)
        .map_err(|error| cannot_create("--output", directory, &error))?;
    let time = started_at.replace(':', "");
    let extension = format.unwrap_or(Format::Csv).extension();
    Ok(directory.join(format!("{time}-{board}.{extension}")))
}

/// A file that is to take the place of the one at `path`.
fn replace(path: &Path) -> Result<LineFile, UsageError> {
    LineFile::replace(path).map_err(|error| {
        let part = LineFile::part(path);
        if part.exists() {
            let problem = "a killed run left it; remove it and try again";
            refused("--output", &part, problem)
        } else {
            cannot_create("--output", path, &error)
        }
    })
}

fn create(flag: &'static str, path: &Path) -> Result<LineFile, UsageError> {
    LineFile::create(path).map_err(|error| cannot_create(flag, path, &error))
}

fn refused(flag: &'static str, path: &Path, problem: &str) -> UsageError {
    UsageError::flag(flag, &path.display(), problem)
}
