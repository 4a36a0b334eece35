//! The file of a listener: its log, or a CSV with a row per window. It grows by whole lines, which a crash keeps.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::ListenArgs;
use super::socket::Opened;
use crate::data::listened::Gap;
use crate::error::UsageError;
use crate::host::board;
use crate::host::facts::Host;
use crate::listen::log::{Entry, ListenHeader};
use crate::listen::row::Row;
use crate::log::name::{create_log, now};
use crate::log::output_file::OutputFile;
use crate::log::{LogWriter, Run};
use crate::sys::files::Root;
use crate::term::output::say;
use crate::term::words::words_as_text;

/// Time between two flushes to the disk: a power failure costs no more of the log.
const BETWEEN_SYNCS: Duration = Duration::from_secs(60);

/// Destinations of windows.
#[derive(Debug)]
pub(super) enum Output {
    /// Nowhere.
    None,
    /// A file that cannot be written any more.
    Broken(anyhow::Error),
    /// A CSV. The first row brings the header.
    Csv {
        /// The file.
        file: OutputFile,
        /// The header is written.
        has_header: bool,
    },
    /// A log, and the time of its last flush.
    Log(LogWriter, Instant),
}

impl Output {
    /// Creates the file that was asked for, by its extension.
    ///
    /// # Errors
    /// Fails on another extension, if the file exists, or if it cannot be written.
    pub(super) fn create(args: &ListenArgs, opened: &Opened) -> anyhow::Result<Self> {
        let Some(path) = args.output.as_deref() else {
            return Ok(Self::None);
        };
        match path.extension().and_then(|it| it.to_str()) {
            Some("csv") => Ok(Self::Csv {
                file: OutputFile::create("--output", path)?,
                has_header: false,
            }),
            Some("jsonl") => Self::log(args, opened, path),
            _ => {
                let fix = "use a name in .jsonl for the log, or in .csv for a row per line";
                Err(UsageError::flag("--output", &path.display(), fix).into())
            }
        }
    }

    fn log(args: &ListenArgs, opened: &Opened, path: &Path) -> anyhow::Result<Self> {
        let host = Host::read(&Root::new("/"));
        let chosen = board::choose("auto", &host)?;
        let gap_ns = args.gap.map(|gap| u64::try_from(gap.as_nanos()));
        let header = ListenHeader {
            run: Run::new(&now(), words_as_text()),
            machine: chosen.machine(&host),
            board: chosen.board.name.clone(),
            listens_on: opened.about.clone(),
            buffer_bytes: opened.buffer_bytes,
            window: args.window,
            gap_ns: gap_ns.map(|ns| ns.unwrap_or(u64::MAX)),
            is_numbered: args.numbered().is_some(),
        };
        let name = (&*header.board, &*header.run.started_at, "listen");
        let (file, _) = create_log(Some(path), name, &header)?;
        Ok(Self::Log(file, Instant::now()))
    }

    /// Writes a window and its silences. After an error, such as of a full disk, nothing more is written.
    pub(super) fn window(&mut self, row: &Row, silences: &[Gap]) {
        if let Err(error) = self.try_window(row, silences) {
            say(&format!("{error:#}: it goes on without"));
            *self = Self::Broken(error);
        }
    }

    fn try_window(&mut self, row: &Row, silences: &[Gap]) -> anyhow::Result<()> {
        match self {
            Self::None | Self::Broken(_) => Ok(()),
            Self::Csv { file, has_header } => {
                let mut form = csv::WriterBuilder::new();
                let mut writer = form.has_headers(!*has_header).from_writer(Vec::new());
                writer.serialize(row)?;
                *has_header = true;
                file.append(&writer.into_inner()?)
            }
            Self::Log(file, synced) => {
                file.event(&Entry::Window(Box::new(row.clone())))?;
                for gap in silences {
                    file.event(&Entry::Silence((*gap).into()))?;
                }
                if synced.elapsed() >= BETWEEN_SYNCS {
                    *synced = Instant::now();
                    file.sync()?;
                }
                Ok(())
            }
        }
    }

    /// Writes the summary and flushes the file.
    ///
    /// # Errors
    /// Fails if the file cannot be written, or could not be before.
    pub(super) fn end(self, summary: &Value) -> anyhow::Result<()> {
        match self {
            Self::None => Ok(()),
            Self::Broken(error) => Err(error),
            Self::Csv { file, .. } => file.sync(),
            Self::Log(mut file, _) => {
                file.event(&Entry::Ended(summary.clone()))?;
                file.sync()
            }
        }
    }
}
