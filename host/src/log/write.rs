//! Writing of logs: each line goes to the kernel as soon as it is known, whole or not at all.

use std::io;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use serde_json::{Value, json};

use super::line::Chain;
use super::output_file::OutputFile;
use super::{End, FORMAT, Kind};
use crate::error::UsageError;

/// A log that is being written. Nobody else writes to it meanwhile.
#[derive(Debug)]
pub struct LogWriter {
    file: OutputFile,
    chain: Chain,
}

impl LogWriter {
    /// Creates the file. `flag` is the option that names it in errors.
    ///
    /// # Errors
    /// Fails if the file exists already or cannot be created.
    pub fn create(flag: &'static str, path: &Path) -> Result<Self, UsageError> {
        Ok(Self {
            file: OutputFile::create(flag, path)?,
            chain: Chain::default(),
        })
    }

    /// Opens a log that was read, to append after its last whole line. The rest is cut off.
    ///
    /// # Errors
    /// Fails if the file cannot be opened, if another program holds its lock, or if its length changed since it was
    /// read.
    pub fn resume(path: &Path, end: End) -> io::Result<Self> {
        Ok(Self {
            file: OutputFile::resume(path, end.bytes, end.whole_bytes)?,
            chain: end.chain,
        })
    }

    /// Writes the first line.
    ///
    /// # Errors
    /// Fails as [`Self::append`] does.
    pub fn header<K: Kind>(&mut self, header: &K) -> anyhow::Result<()> {
        self.event(&first_line(header)?)
    }

    /// Appends an event.
    ///
    /// # Errors
    /// Fails as [`Self::append`] does.
    pub fn event(&mut self, event: &impl Serialize) -> anyhow::Result<()> {
        self.append(&serde_json::to_vec(event)?)
    }

    /// Appends a JSON object.
    ///
    /// # Errors
    /// Fails if the line cannot be written completely. The file is then cut back to its previous length.
    pub fn append(&mut self, object: &[u8]) -> anyhow::Result<()> {
        let (line, chain) = self.chain.line(object).context("no JSON object")?;
        self.file.append(&line)?;
        self.chain = chain;
        Ok(())
    }

    /// Flushes the lines to the disk, so that they survive a power failure.
    ///
    /// # Errors
    /// Fails as [`OutputFile::sync`] does.
    pub fn sync(&self) -> anyhow::Result<()> {
        self.file.sync()
    }

    /// Removes the file, if possible.
    pub fn remove(self) {
        self.file.remove();
    }
}

/// Returns the first line of a log. Its kind and format come first, for people.
///
/// # Errors
/// Fails if the header cannot be written as JSON.
pub fn first_line<K: Kind>(header: &K) -> serde_json::Result<Value> {
    let mut first = json!({ "kind": K::NAME, "format": FORMAT });
    if let Value::Object(fields) = serde_json::to_value(header)? {
        for (name, value) in fields {
            first[name] = value;
        }
    }
    Ok(json!({ "header": first }))
}
