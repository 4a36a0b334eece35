//! Reading of logs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::line::{Chain, object};
use super::{FORMAT, Header, Kind, Run};
use crate::error::UsageError;
use crate::sys::files::{self, Kind as FileKind};
use crate::term::{escape, shell, text_file};

/// Content of a log: its first line, which describes the task, and its events. The default is the log of a sweep.
#[derive(Clone, Debug)]
pub struct Log<K: Kind = Header> {
    /// Name of the file, as given.
    pub name: String,
    /// First line of the file.
    pub header: K,
    /// Events. The n-th, from 0, is line n + 2 of the file.
    pub lines: Vec<K::Event>,
    /// Where the log goes on if it is resumed.
    pub end: End,
}

/// End of a log that was read.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// Length of the complete lines, in bytes. Bytes after them are a line that was cut off when the program ended;
    /// they are ignored.
    pub whole_bytes: u64,
    pub(super) chain: Chain,
}

impl<K: Kind> Log<K> {
    /// Passes each event to the state that `begin` makes from the header, and collects the rows that become final.
    ///
    /// # Errors
    /// Fails if the header or an event is impossible. The error names the line and the problem.
    pub fn replay<T, R>(
        &self,
        begin: impl FnOnce(K) -> Result<T, String>,
        take: impl Fn(&mut T, &K::Event) -> Result<Vec<R>, String>,
    ) -> Result<(T, Vec<R>), UsageError> {
        let refused = |line: usize, problem: String| UsageError::file(&self.name, line, &problem);
        let begun = begin(self.header.clone());
        let mut state = begun.map_err(|problem| refused(1, problem))?;
        let mut rows = Vec::new();
        for (number, event) in (2..).zip(&self.lines) {
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
        let bytes = files::read_whole(path, FileKind::FileOrPipe);
        let bytes = bytes.and_then(plain).map_err(unreadable)?;
        Self::parse(&escape::name(path), &bytes)
    }

    /// Reads the file that `resume` continues.
    ///
    /// # Errors
    /// Fails as [`Log::open`] does, or if the file is a pipe or compressed.
    pub fn open_to_resume(path: &Path) -> Result<Self, UsageError> {
        let refused = |problem| UsageError::flag("resume", &path.display(), problem);
        let bytes = files::read_whole(path, FileKind::File);
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
        let wrong = |line, problem: String| UsageError::file(name, line, &problem);
        let marks = text_file::BYTE_ORDER_MARKS;
        if marks.iter().any(|mark| bytes.starts_with(mark)) {
            return Err(wrong(1, MARKED.to_owned()));
        }
        // Bytes after the last newline are a line that was cut off when the program ended.
        let end = bytes.iter().rposition(|&byte| byte == b'\n');
        let whole = end.map_or(&[][..], |end| &bytes[..=end]);
        let mut lines = whole.split_inclusive(|&byte| byte == b'\n');
        let first = first::<K>(lines.next().unwrap_or_default());
        let (header, mut chain) = first.map_err(|problem| wrong(1, problem))?;
        // All checksums first: a file that was changed costs no more.
        let body = |(number, line)| {
            let checked = chain.body(line);
            let (body, next) = checked.ok_or_else(|| wrong(number, changed(name, number, line)))?;
            chain = next;
            Ok((number, body))
        };
        let bodies = (2..).zip(lines).map(body).collect::<Result<Vec<_>, _>>()?;
        let event = |(number, body): (usize, &[u8])| {
            let event = serde_json::from_slice(&object(body)).map_err(|error| error.to_string());
            let event = event.and_then(|event| match K::impossible(&event) {
                Some(problem) => Err(problem),
                None => Ok(event),
            });
            event.map_err(|problem| wrong(number, problem))
        };
        Ok(Self {
            name: name.to_owned(),
            header,
            lines: bodies.into_iter().map(event).collect::<Result<_, _>>()?,
            end: End {
                bytes: bytes.len() as u64,
                whole_bytes: whole.len() as u64,
                chain,
            },
        })
    }
}

/// Returns whether a file is a log of this kind, from its first bytes. An unreadable file is none.
pub fn is_of<K: Kind>(path: &Path) -> bool {
    let beginning = format!(r#"{{"header":{{"kind":"{}","#, K::NAME);
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

/// Returns what a log of any kind says about its run. `None`: it cannot be read.
pub fn run_of(path: &Path) -> Option<Run> {
    let bytes = files::read_whole(path, FileKind::File).ok()?;
    let bytes = plain(bytes).ok()?;
    let line = bytes.split(|&byte| byte == b'\n').next()?;
    let (body, _) = Chain::default().body(line)?;
    let mut first: Value = serde_json::from_slice(&object(body)).ok()?;
    serde_json::from_value(first["header"].take()).ok()
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
/// Fails if the line is no header, is of another kind or format, was changed, or is invalid.
fn first<K: Kind>(line: &[u8]) -> Result<(K, Chain), String> {
    let mut first: Value = serde_json::from_slice(line).unwrap_or_default();
    let header = &first["header"];
    let format = header["format"].as_u64();
    let format = format.ok_or_else(|| format!("no header: not {}, or cut off", K::WHAT))?;
    // Check the format first, because the rest may have another shape in another format.
    if format != u64::from(FORMAT) {
        return Err(format!(
            "a log of format {format}, but udpbench {} reads format {FORMAT}: use the udpbench that wrote it",
            crate::VERSION,
        ));
    }
    let (_, chain) = Chain::default().body(line).ok_or(CHANGED)?;
    let kind = header["kind"].as_str().unwrap_or_default();
    if kind != K::NAME {
        return Err(format!("a log of the kind {kind}: not {}", K::WHAT));
    }
    let header = serde_json::from_value(first["header"].take());
    Ok((header.map_err(|error| error.to_string())?, chain))
}

/// Error for a line whose checksum is another.
const CHANGED: &str = "its checksum is wrong: it was changed";

/// Describes the problem of a line that does not follow the lines before it.
fn changed(name: &str, number: usize, line: &[u8]) -> String {
    if line.starts_with(br#"{"header":"#) {
        return "a second header: one file, one run".to_owned();
    }
    let (before, word) = (number - 1, shell::word(name));
    let keep = if Path::new(name).extension().is_some_and(|it| it == "gz") {
        format!("zcat {word} | head -n {before}")
    } else {
        format!("head -n {before} {word}")
    };
    format!(
        "{CHANGED}, or a line is missing, doubled or moved. Restore the file, or keep what comes before: \
         {keep} >kept.jsonl"
    )
}

/// Error for a file with a byte-order mark. udpbench would append to it in UTF-8.
const MARKED: &str = "an editor saved it again, with a byte-order mark: save it as UTF-8 without one, with all its lines";
