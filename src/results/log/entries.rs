//! Logs whose lines are of their own kind: the first one describes the run, each other one is an entry. They are of
//! runs without cases, such as a soak.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::First;
use super::read::plain;
use crate::error::UsageError;
use crate::sys::files::{self, Kind};
use crate::term::{escape, json};

/// A log that was read.
#[derive(Clone, Debug)]
pub struct Entries<H, E> {
    /// First line.
    pub header: H,
    /// The other lines.
    pub entries: Vec<E>,
    /// Bytes of the file, and of its whole lines.
    pub bytes: (u64, u64),
}

impl<H: First, E: DeserializeOwned> Entries<H, E> {
    /// Reads a log. A last line that is cut off is left out.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or names the line that is wrong.
    pub fn open(flag: &'static str, path: &Path) -> Result<Self, UsageError> {
        let name = escape::name(path);
        let wrong = |problem: String| UsageError::flag(flag, &name, problem);
        let bytes = files::read_whole(path, Kind::File).and_then(plain);
        let bytes = bytes.map_err(|error| wrong(format!("cannot read it: {error}")))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |at| at + 1);
        let mut lines = bytes[..whole].split(|byte| *byte == b'\n');
        let header = lines.next().and_then(header);
        let header =
            header.ok_or_else(|| wrong(format!("its first line is not that of {}", H::WHAT)))?;
        let lines = (2..).zip(lines).filter(|(_, line)| !line.is_empty());
        let entries = lines.map(|(number, line)| {
            json::parse(line).map_err(|error| wrong(format!("line {number}: {error}; restore it")))
        });
        Ok(Self {
            header,
            entries: entries.collect::<Result<_, _>>()?,
            bytes: (bytes.len() as u64, whole as u64),
        })
    }
}

fn header<H: First>(line: &[u8]) -> Option<H> {
    let mut line: Value = serde_json::from_slice(line).ok()?;
    serde_json::from_value(line.get_mut(H::KEY)?.take()).ok()
}

/// Returns an entry as a line, with a newline.
///
/// # Errors
/// Fails if it cannot be written as JSON.
pub fn entry_line(entry: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    Ok(line)
}
