//! The raw samples: JSON Lines beside the CSV, each window as soon as it is over, after a header line.

use serde::{Deserialize, Serialize};

use super::lines::Lines;
use crate::host::Host;
use crate::record::Environment;
use crate::sample::Sample;

/// The first line of the file: what all windows share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// Of this format.
    pub format: u32,
    /// As it was typed.
    pub command_line: Vec<String>,
    /// When the program started, UTC.
    pub started_at: String,
    /// Windows per case.
    pub rounds: u32,
    /// Traffic before the first case.
    pub soak_ms: f64,
    /// How long each window was meant to be.
    pub window_ms: f64,
    /// What all rows share.
    pub environment: Environment,
    /// The machine.
    pub host: Host,
}

/// Counts up when a reader of the old format would misread the new one.
pub const FORMAT: u32 = 1;

/// Appends samples to a JSON Lines file.
#[derive(Debug)]
pub struct SampleSink {
    lines: Lines,
}

impl SampleSink {
    /// Writes the header.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(lines: Lines, header: &Header) -> anyhow::Result<Self> {
        let mut sink = Self { lines };
        sink.line(header)?;
        Ok(sink)
    }

    /// Appends one window.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn window(&mut self, sample: &Sample) -> anyhow::Result<()> {
        self.line(sample)
    }

    /// Makes everything so far safe against a power cut.
    ///
    /// # Errors
    /// When the disk cannot.
    pub fn sync(&self) -> anyhow::Result<()> {
        self.lines.sync()
    }

    fn line(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.lines.append(&line)
    }
}
