//! Reads a file of raw samples.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Event, FORMAT, Header};
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
        let kind = Kind {
            key: "header",
            what: "raw samples of udpbench",
            format: FORMAT,
        };
        Self::read(name, bytes, kind, |line| match line {
            Event::Header(header) => Ok(*header),
            other => Err(other),
        })
    }
}

/// A kind of log, by its first line.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// The one key of that line: the header is its value.
    pub(crate) key: &'static str,
    /// What messages call such a log.
    pub(crate) what: &'static str,
    /// The only format that is read.
    pub(crate) format: u32,
}

impl<H, E: DeserializeOwned> Log<H, E> {
    /// Reads what a file of that name holds. `header` takes the header out of an event: that is the first line, and no
    /// other.
    ///
    /// # Errors
    /// As for [`Log::open`].
    pub(crate) fn read(
        name: &str,
        bytes: &[u8],
        kind: Kind,
        header: impl Fn(E) -> Result<H, E>,
    ) -> Result<Self, UsageError> {
        if text::MARKS.iter().any(|mark| bytes.starts_with(mark)) {
            return Err(UsageError::file(name, 1, MARKED));
        }
        // What comes after the last line was cut off by whatever ended the program.
        let end = bytes.iter().rposition(|&byte| byte == b'\n');
        let whole = end.map_or(&[][..], |end| &bytes[..=end]);
        let mut lines = whole.split_inclusive(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let first = kind.first_event(first).and_then(|event| {
            let header = header(event);
            header.map_err(|_| kind.no_header())
        });
        let first = first.map_err(|problem| UsageError::file(name, 1, &problem))?;
        let line = |(number, line): (usize, &[u8])| {
            let refused = |problem: &str| UsageError::file(name, number, problem);
            match serde_json::from_slice(line).map(&header) {
                Ok(Ok(_)) => Err(refused("a second header: one file, one run")),
                Ok(Err(event)) => Ok(event),
                Err(_) if line.trim_ascii().is_empty() => Err(refused("an empty line: delete it")),
                Err(error) => Err(refused(&without_line(&error))),
            }
        };
        Ok(Self {
            name: name.to_owned(),
            header: first,
            lines: (2..).zip(lines).map(line).collect::<Result<_, _>>()?,
            whole_bytes: whole.len() as u64,
            bytes: bytes.len() as u64,
        })
    }
}

impl Kind {
    /// Parses the first line.
    ///
    /// # Errors
    /// It is no header, has another format, or is not what it should be.
    fn first_event<E: DeserializeOwned>(self, line: &[u8]) -> Result<E, String> {
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        let format = value[self.key]["format"].as_u64();
        let format = format.ok_or_else(|| self.no_header())?;
        // Before the rest, which may have another shape in another format.
        if format != u64::from(self.format) {
            return Err(format!(
                "{}, format {format}, but udpbench {} reads format {}: use the udpbench that wrote it; a CSV beside it \
                 can still be read",
                self.what,
                crate::VERSION,
                self.format
            ));
        }
        serde_json::from_slice(line).map_err(|error| without_line(&error))
    }

    fn no_header(self) -> String {
        format!("no header: not {}, or cut off", self.what)
    }
}

/// What follows is appended in UTF-8.
const MARKED: &str = "an editor saved it again, with a byte-order mark: save it as UTF-8 without one, with all its lines";

/// serde counts the lines of what it was given, which is one.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column", " at column")
}
