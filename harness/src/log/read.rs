//! Reads a file of raw samples.

use std::collections::BTreeSet;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Event, FORMAT, Header, OLDEST_FORMAT};
use crate::data::{EngineName, Traits};
use crate::error::UsageError;
use crate::text;

/// What a file of JSON Lines holds: what is to be done, and what happened. By default, of a sweep.
#[derive(Clone, Debug)]
pub struct Log<H = Header, E = Event> {
    /// The file, as it was named.
    pub name: String,
    /// Its first line.
    pub header: H,
    /// The others. The n-th, from 0, is line n + 2 of the file.
    pub lines: Vec<E>,
    /// How much of the file is whole lines, in bytes. What comes after them was cut off by whatever ended the
    /// program, and is no line.
    pub whole_bytes: u64,
    /// How much there was of the file in all when it was read, in bytes.
    pub bytes: u64,
}

impl Log {
    /// Reads a file.
    ///
    /// # Errors
    /// The line that is not what it should be, and how.
    pub fn open(path: &Path) -> Result<Self, UsageError> {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Self::parse(&name, &bytes),
            Err(error) => Err(UsageError::file(
                &name,
                1,
                &format!("cannot read it: {error}"),
            )),
        }
    }

    /// Reads what a file of that name holds.
    ///
    /// # Errors
    /// As for [`Log::open`].
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, UsageError> {
        Self::read(name, bytes, header, |line| matches!(line, Event::Header(_)))
    }
}

impl<H, E: DeserializeOwned> Log<H, E> {
    /// Reads what a file of that name holds: the `header` in its first line, and in no other.
    ///
    /// # Errors
    /// As for [`Log::open`].
    pub(crate) fn read(
        name: &str,
        bytes: &[u8],
        header: impl FnOnce(&[u8]) -> Result<H, String>,
        is_header: impl Fn(&E) -> bool,
    ) -> Result<Self, UsageError> {
        if text::MARKS.iter().any(|mark| bytes.starts_with(mark)) {
            return Err(UsageError::file(name, 1, MARKED));
        }
        // What comes after the last line was cut off by whatever ended the program.
        let end = bytes.iter().rposition(|&byte| byte == b'\n');
        let whole = end.map_or(&[][..], |end| &bytes[..=end]);
        let mut lines = whole.split_inclusive(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let header = header(first).map_err(|problem| UsageError::file(name, 1, &problem))?;
        let line = |(number, line): (usize, &[u8])| {
            let refused = |problem: &str| UsageError::file(name, number, problem);
            match serde_json::from_slice(line) {
                Ok(line) if is_header(&line) => Err(refused("a second header: one file, one run")),
                Ok(line) => Ok(line),
                Err(_) if line.trim_ascii().is_empty() => Err(refused("an empty line: delete it")),
                Err(error) => Err(refused(&without_line(&error))),
            }
        };
        Ok(Self {
            name: name.to_owned(),
            header,
            lines: (2..).zip(lines).map(line).collect::<Result<_, _>>()?,
            whole_bytes: whole.len() as u64,
            bytes: bytes.len() as u64,
        })
    }
}

/// What follows is appended in UTF-8.
const MARKED: &str = "an editor saved it again, with a byte-order mark: save it as UTF-8 without one, with all its lines";

fn header(line: &[u8]) -> Result<Header, String> {
    const NONE: &str = "no header: not raw samples of udpbench, or cut off";
    let value: Value = serde_json::from_slice(line).map_err(|_| NONE)?;
    // Format 1 had the header's fields in the line itself.
    let format = value.pointer("/header/format").or(value.get("format"));
    match format.and_then(Value::as_u64) {
        Some(format) if (u64::from(OLDEST_FORMAT)..=u64::from(FORMAT)).contains(&format) => {}
        Some(format) => {
            return Err(format!(
                "raw samples of format {format}, but udpbench {} reads formats {OLDEST_FORMAT} to \
                 {FORMAT}: use the CSV beside them, or the udpbench that wrote them",
                crate::VERSION
            ));
        }
        None => return Err(NONE.to_owned()),
    }
    match serde_json::from_slice(line) {
        Ok(Event::Header(header)) => Ok(with_engines(*header)),
        Ok(_) => Err(NONE.to_owned()),
        Err(error) => Err(without_line(&error)),
    }
}

/// Format 2 did not say what is known of its engines.
fn with_engines(mut header: Header) -> Header {
    if header.format < 3 {
        let cases = header.plan.cases().map(|planned| planned.case);
        let names: BTreeSet<EngineName> = cases
            .flat_map(|case| [case.sender, case.receiver])
            .collect();
        header.plan.engines = names.into_iter().filter_map(Traits::known).collect();
    }
    header
}

/// serde counts the lines of what it was given, which is one.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column", " at column")
}
