//! The raw samples: JSON Lines, each thing that happened as soon as it had. See [`crate::log`].

use super::append_file::Lines;
use super::place::Displaced;
use crate::log::Event;

/// Appends what happens to a JSON Lines file.
#[derive(Debug)]
pub struct SampleWriter {
    lines: Lines,
}

impl SampleWriter {
    /// What happens goes to `lines`.
    pub fn new(lines: Lines) -> Self {
        Self { lines }
    }

    /// Appends what happened.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn line(&mut self, line: &Event) -> anyhow::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.lines.append(&bytes)
    }

    /// See [`Lines::rescue`].
    pub fn rescue(&self) -> Option<Displaced> {
        self.lines.rescue()
    }

    /// Takes the file away again, if it is one.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn remove(self) -> std::io::Result<()> {
        self.lines.remove()
    }

    /// Makes everything so far safe against a power cut.
    ///
    /// # Errors
    /// When the disk cannot.
    pub fn sync(&self) -> anyhow::Result<()> {
        self.lines.sync()
    }
}
