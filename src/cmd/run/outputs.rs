//! The files of a run.

use std::io;
use std::path::{Path, PathBuf};

use crate::cli::RunArgs;
use crate::error::UsageError;
use crate::raw::{Line, Log};
use crate::record::{Record, Status};
use crate::results::Results;
use crate::sink::csv::CsvSink;
use crate::sink::lines::{LineFile, Lines};
use crate::sink::samples::SampleSink;

/// The files of a run, created before anything is measured.
pub(super) struct Outputs {
    csv: CsvSink,
    samples: Option<SampleSink>,
    pub(super) to_stdout: bool,
    /// Where the raw samples go.
    pub(super) samples_path: Option<PathBuf>,
    /// Where the results go, for people.
    pub(super) shown: String,
}

impl Outputs {
    /// New files, over no other ones.
    pub(super) fn create(args: &RunArgs, board: &str, started_at: &str) -> anyhow::Result<Self> {
        let csv_path = match &args.output {
            Some(path) if is_stdout(path) => None,
            Some(path) => Some(path.clone()),
            None => Some(default_path(board, started_at)?),
        };
        let samples_path = match (&args.samples, &csv_path) {
            (Some(path), _) => Some(path.clone()),
            (None, Some(csv)) => Some(csv.with_extension("jsonl")),
            (None, None) => None,
        };
        if samples_path.is_some() && samples_path == csv_path {
            return Err(refused(
                "--output",
                csv_path.as_deref().unwrap_or(Path::new("")),
                "the raw samples go to the same name with .jsonl; use .csv",
            )
            .into());
        }
        let csv = csv_path
            .as_deref()
            .map(|path| create("--output", path))
            .transpose()?;
        let flag = if args.samples.is_some() {
            "--samples"
        } else {
            "--output"
        };
        let samples = match samples_path
            .as_deref()
            .map(|path| create(flag, path))
            .transpose()
        {
            Ok(samples) => samples,
            Err(error) => {
                // Nothing was measured: leave no empty file behind.
                let _ = csv.map(LineFile::remove);
                return Err(error.into());
            }
        };
        Ok(Self::new(csv, samples, csv_path, samples_path))
    }

    /// The files of the run that left `log`: rows that were not final are taken back, raw samples go on after
    /// the last whole line.
    pub(super) fn resume(
        args: &RunArgs,
        raw: &Path,
        log: &Log,
        rows: &[Record],
    ) -> anyhow::Result<Self> {
        let samples = LineFile::resume(raw, log.whole_bytes)
            .map_err(|error| refused("--resume", raw, &format!("cannot go on with it: {error}")))?;
        let csv_path = match &args.output {
            Some(path) if is_stdout(path) => None,
            Some(path) => Some(path.clone()),
            None => Some(raw.with_extension("csv")),
        };
        let csv = match &csv_path {
            Some(path) if path.exists() => {
                let csv = std::fs::read(path).unwrap_or_default();
                if !is_of_run(&csv, rows, log) {
                    let problem =
                        "it holds other results than those of this sweep; choose another name";
                    return Err(refused("--output", path, problem).into());
                }
                Some(
                    LineFile::replace(path)
                        .map_err(|error| cannot_create("--output", path, &error))?,
                )
            }
            Some(path) => Some(create("--output", path)?),
            None => None,
        };
        let mut outputs = Self::new(csv, Some(samples), csv_path, Some(raw.to_owned()));
        outputs.csv.rows(rows)?;
        outputs.csv.put_in_place()?;
        Ok(outputs)
    }

    fn new(
        csv: Option<LineFile>,
        samples: Option<LineFile>,
        csv_path: Option<PathBuf>,
        samples_path: Option<PathBuf>,
    ) -> Self {
        let results = match &csv_path {
            Some(path) => path.display().to_string(),
            None => "standard output".to_owned(),
        };
        let shown = match &samples_path {
            Some(path) => format!("{results}, raw samples in {}", path.display()),
            None => format!("{results} (--samples names a file for the raw samples)"),
        };
        Self {
            to_stdout: csv.is_none(),
            csv: CsvSink::new(csv.map_or(Lines::Stdout, Lines::File)),
            samples: samples.map(|file| SampleSink::new(Lines::File(file))),
            samples_path,
            shown,
        }
    }

    /// Keeps what happened.
    pub(super) fn line(&mut self, line: &Line) -> anyhow::Result<()> {
        match &mut self.samples {
            Some(samples) => samples.line(line),
            None => Ok(()),
        }
    }

    /// Keeps the rows of a block, and makes its windows safe against a power cut.
    pub(super) fn rows(&mut self, rows: &[Record]) -> anyhow::Result<()> {
        self.csv.rows(rows)?;
        match &self.samples {
            Some(samples) => samples.sync(),
            None => Ok(()),
        }
    }
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether all whole rows of a CSV file are of the run: those that are final, and those that an interruption
/// left and that are measured further.
fn is_of_run(csv: &[u8], rows: &[Record], log: &Log) -> bool {
    let end = csv
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let Ok(found) = Results::from_csv("", &csv[..end]) else {
        return end == 0;
    };
    let plan = &log.header.plan;
    found.rows.iter().all(|row| {
        if row.status == Status::Interrupted {
            row.seed == log.header.schedule.seed
                && plan.cases().any(|planned| planned.case.key() == row.case)
        } else {
            let same =
                |other: &Record| row.case == other.case && row.started_at == other.started_at;
            rows.iter().any(same)
        }
    })
}

/// `results/<UTC time>-<board>.csv`.
fn default_path(board: &str, started_at: &str) -> Result<PathBuf, UsageError> {
    let directory = Path::new("results");
    std::fs::create_dir_all(directory)
        .map_err(|error| cannot_create("--output", directory, &error))?;
    let time = started_at.replace(':', "");
    Ok(directory.join(format!("{time}-{board}.csv")))
}

fn create(flag: &'static str, path: &Path) -> Result<LineFile, UsageError> {
    LineFile::create(path).map_err(|error| cannot_create(flag, path, &error))
}

fn cannot_create(flag: &'static str, path: &Path, error: &io::Error) -> UsageError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => refused(
            flag,
            path,
            "it exists, and nothing is overwritten; choose another name",
        ),
        _ => refused(
            flag,
            path,
            &format!("cannot create it: {error}; {WRITABLE_CURE}"),
        ),
    }
}

const WRITABLE_CURE: &str = "name a file in a directory that exists and that you may write to";

fn refused(flag: &'static str, path: &Path, problem: &str) -> UsageError {
    UsageError::flag(flag, &path.display(), problem)
}
