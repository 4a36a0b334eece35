//! The files of a run.

use std::io;
use std::path::{Path, PathBuf};

use super::milliseconds;
use crate::cli::RunArgs;
use crate::error::UsageError;
use crate::record::{Environment, Record};
use crate::request::Request;
use crate::sample::Sample;
use crate::sink::csv::CsvSink;
use crate::sink::lines::{LineFile, Lines};
use crate::sink::samples::{FORMAT, Header, SampleSink};

/// The files of a run, created before anything is measured.
pub(super) struct Outputs {
    csv: CsvSink,
    samples: Option<SampleSink>,
    pub(super) to_stdout: bool,
    /// Where the results go, for people.
    pub(super) shown: String,
}

impl Outputs {
    pub(super) fn create(
        args: &RunArgs,
        request: &Request,
        started_at: &str,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        if args.output.as_deref() == Some(Path::new("-")) {
            return Ok(Self {
                csv: CsvSink::new(Lines::Stdout),
                samples: None,
                to_stdout: true,
                shown: "standard output (no file for the raw samples then)".to_owned(),
            });
        }
        let csv_path = match &args.output {
            Some(path) => path.clone(),
            None => default_path(request, started_at)?,
        };
        let samples_path = csv_path.with_extension("jsonl");
        if samples_path == csv_path {
            return Err(refused(
                &csv_path,
                "the raw samples go to the same name with .jsonl; use .csv",
            )
            .into());
        }
        let csv = create(&csv_path)?;
        let samples = match create(&samples_path) {
            Ok(samples) => samples,
            Err(error) => {
                // Nothing was measured: leave no empty file behind.
                let _ = csv.remove();
                return Err(error.into());
            }
        };
        let header = Header {
            format: FORMAT,
            command_line: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            started_at: started_at.to_owned(),
            rounds: request.schedule.rounds,
            soak_ms: milliseconds(request.schedule.soak),
            window_ms: milliseconds(request.schedule.settings.window),
            environment: environment.clone(),
            host: request.host.clone(),
        };
        let shown = format!(
            "{}, raw samples in {}",
            csv_path.display(),
            samples_path.display()
        );
        Ok(Self {
            csv: CsvSink::new(Lines::File(csv)),
            samples: Some(SampleSink::new(Lines::File(samples), &header)?),
            to_stdout: false,
            shown,
        })
    }

    /// Keeps a window.
    pub(super) fn window(&mut self, sample: &Sample) -> anyhow::Result<()> {
        match &mut self.samples {
            Some(samples) => samples.window(sample),
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

/// `results/<UTC time>-<board>.csv`.
fn default_path(request: &Request, started_at: &str) -> Result<PathBuf, UsageError> {
    let directory = Path::new("results");
    let refusal = |error| {
        refused(
            directory,
            &format!("cannot create it: {error}; {WRITABLE_CURE}"),
        )
    };
    std::fs::create_dir_all(directory).map_err(refusal)?;
    let time = started_at.replace(':', "");
    Ok(directory.join(format!("{time}-{}.csv", request.detected.board)))
}

const WRITABLE_CURE: &str = "name a file in a directory that exists and that you may write to";

fn create(path: &Path) -> Result<LineFile, UsageError> {
    LineFile::create(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => refused(
            path,
            "it exists, and nothing is overwritten; choose another name",
        ),
        _ => refused(path, &format!("cannot create it: {error}; {WRITABLE_CURE}")),
    })
}

fn refused(path: &Path, problem: &str) -> UsageError {
    UsageError::flag("--output", &path.display(), problem)
}
