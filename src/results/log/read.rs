//! Reading of raw samples.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::{Event, FORMAT, First, Header};
use crate::error::UsageError;
use crate::sys::files::{self, Kind};
use crate::term::{escape, json, text_file};

/// Content of a log: its first line, which describes the plan, and its events. The default is the log of a sweep.
#[derive(Clone, Debug)]
pub struct Log<H = Header> {
    /// Name of the file, as given.
    pub name: String,
    /// First line of the file.
    pub header: H,
    /// Events. The n-th, from 0, is line n + 2 of the file.
    pub lines: Vec<Event>,
    /// Length of the complete lines, in bytes. Bytes after them are a line that was cut off when the program ended;
    /// they are ignored.
    pub whole_bytes: u64,
    /// Length of the file when it was read, in bytes.
    pub bytes: u64,
}

impl<H: First> Log<H> {
    /// Passes each event to the state that `begin` makes from the header, and collects the rows that become final.
    ///
    /// # Errors
    /// Fails if the header or an event is impossible. The error names the line and the problem.
    pub fn replay<T, R>(
        &self,
        begin: impl FnOnce(H) -> Result<T, String>,
        contradiction: impl Fn(&T, &Event) -> Option<String>,
        take: impl Fn(&mut T, &Event) -> Result<Vec<R>, String>,
    ) -> Result<(T, Vec<R>), UsageError>
    where
        H: Clone,
    {
        let refused = |line: usize, problem: String| UsageError::file(&self.name, line, &problem);
        let begun = begin(self.header.clone());
        let mut state = begun.map_err(|problem| refused(1, problem))?;
        let mut rows = Vec::new();
        for (number, event) in (2..).zip(&self.lines) {
            if let Some(problem) = contradiction(&state, event) {
                return Err(refused(number, problem));
            }
            let taken = take(&mut state, event);
            rows.extend(taken.map_err(|problem| refused(number, problem))?);
        }
        Ok((state, rows))
    }

    /// Reads the file that is the value of an option, also from a pipe, and compressed by gzip.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is no log of this kind.
    pub fn open(flag: &'static str, path: &Path) -> Result<Self, UsageError> {
        let unreadable = |error: io::Error| {
            UsageError::flag(flag, &path.display(), format!("cannot read it: {error}"))
        };
        let bytes = files::read_whole(path, Kind::FileOrPipe);
        let bytes = bytes.and_then(plain).map_err(unreadable)?;
        Self::parse(&escape::name(path), &bytes)
    }

    /// Reads the file that `--resume` continues.
    ///
    /// # Errors
    /// Fails as [`Log::open`] does, or if the file is a pipe or compressed.
    pub fn open_to_resume(path: &Path) -> Result<Self, UsageError> {
        let refused = |problem| UsageError::flag("--resume", &path.display(), problem);
        let bytes = files::read_whole(path, Kind::File);
        let bytes = bytes.map_err(|error| refused(format!("cannot read it: {error}")))?;
        if bytes.starts_with(GZIP) {
            return Err(refused("it is compressed: gunzip it first".to_owned()));
        }
        Self::parse(&escape::name(path), &bytes)
    }

    /// Parses the content of the file `name`.
    ///
    /// # Errors
    /// Fails if a line is invalid. The error names the line and the problem.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, UsageError> {
        if text_file::BYTE_ORDER_MARKS
            .iter()
            .any(|mark| bytes.starts_with(mark))
        {
            return Err(UsageError::file(name, 1, MARKED));
        }
        // Bytes after the last newline are a line that was cut off when the program ended.
        let end = bytes.iter().rposition(|&byte| byte == b'\n');
        let whole = end.map_or(&[][..], |end| &bytes[..=end]);
        let mut lines = whole.split_inclusive(|&byte| byte == b'\n');
        let first = first(lines.next().unwrap_or_default());
        let header = first.map_err(|problem| UsageError::file(name, 1, &problem))?;
        let line = |(number, line): (usize, &[u8])| {
            json::parse(line).map_err(|error| {
                let problem = problem::<H>(line, &error);
                UsageError::file(name, number, &problem)
            })
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

/// Returns whether a file is a log of this kind. An unreadable file is none.
pub fn is_of<H: First>(path: &Path) -> bool {
    let beginning = format!("{{\"{}\":", H::KEY);
    let mut start = vec![0; beginning.len()];
    // A pipe could not be read again.
    let file = path.is_file().then(|| File::open(path).ok()).flatten();
    let read = file.map(|mut file| {
        if is_compressed(path) {
            MultiGzDecoder::new(file).read_exact(&mut start)
        } else {
            file.read_exact(&mut start)
        }
    });
    read.is_some_and(|read| read.is_ok()) && start == beginning.as_bytes()
}

/// First bytes of a file that gzip has written.
const GZIP: &[u8] = b"\x1f\x8b";

/// Returns whether gzip has written a file. An unreadable file was not.
fn is_compressed(path: &Path) -> bool {
    let mut start = [0; GZIP.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == GZIP
}

/// Returns the content of a file that may be compressed.
pub(super) fn plain(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(GZIP) {
        return Ok(bytes);
    }
    let mut plain = Vec::new();
    let content = MultiGzDecoder::new(&bytes[..]);
    content
        .take(files::MOST_BYTES + 1)
        .read_to_end(&mut plain)?;
    if plain.len() as u64 > files::MOST_BYTES {
        return Err(io::Error::other("it has more than 1 GiB, uncompressed"));
    }
    Ok(plain)
}

/// Parses the first line.
///
/// # Errors
/// Fails if the line is no header, has another format, or is invalid.
fn first<H: First>(line: &[u8]) -> Result<H, String> {
    let mut value: Value = serde_json::from_slice(line).unwrap_or_default();
    let format = value[H::KEY]["format"].as_u64();
    let format = format.ok_or_else(|| format!("no header: not {}, or cut off", H::WHAT))?;
    // Check the format first, because the rest may have another shape in another format.
    if format != u64::from(FORMAT) {
        return Err(format!(
            "{}, format {format}, but udpbench {} reads format {FORMAT}: use the udpbench that wrote it",
            H::WHAT,
            crate::VERSION,
        ));
    }
    let header: H =
        serde_json::from_value(value[H::KEY].take()).map_err(|error| without_line(&error))?;
    header.contradiction().map_or(Ok(header), Err)
}

/// Describes the problem of a line that is no event.
fn problem<H: First>(line: &[u8], error: &serde_json::Error) -> String {
    let is_header = |value: &Value| value.get(H::KEY).is_some();
    match serde_json::from_slice::<Value>(line) {
        _ if line.trim_ascii().is_empty() => "an empty line: delete it".to_owned(),
        Ok(value) if is_header(&value) => "a second header: one file, one run".to_owned(),
        _ => without_line(error),
    }
}

/// Error for a file with a byte-order mark. udpbench would append to it in UTF-8.
const MARKED: &str = "an editor saved it again, with a byte-order mark: save it as UTF-8 without one, with all its lines";

/// Returns the error without its line number. serde sees only a single line, so the number is always 1.
fn without_line(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column", " at column")
}
