//! Reading of logs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use serde_json::Value;

use super::line::{Chain, object};
use super::{FORMAT, Kind, Run};
use crate::error::UsageError;
use crate::sys::files::{self, Kind as FileKind};
use crate::term::{escape, shell};

/// Content of a log: its first line, which describes the task, and its events.
#[derive(Clone, Debug)]
pub struct Log<K: Kind> {
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
        let bytes = files::read_whole(path, FileKind::FileOrPipe).map_err(unreadable)?;
        let mut whole = Vec::new();
        // One byte more than is read of files.
        let read =
            plain(&bytes[..]).and_then(|it| it.take(files::MOST_BYTES + 1).read_to_end(&mut whole));
        match read.map_err(unreadable)? as u64 {
            0..=files::MOST_BYTES => Self::parse(&escape::name(path), &whole),
            _ => Err(unreadable(io::Error::other(
                "it has more than 1 GiB, uncompressed",
            ))),
        }
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

/// Returns whether a file is a log of this kind, from its first line. An unreadable file is none.
pub fn is_of<K: Kind>(path: &Path) -> bool {
    header(path).is_some_and(|header| header["kind"] == K::NAME)
}

/// Returns what a log of any kind says about its run. `None`: it cannot be read.
pub fn run_of(path: &Path) -> Option<Run> {
    serde_json::from_value(header(path)?).ok()
}

/// Returns the first line of a log of any kind. `None`: it cannot be read.
fn header(path: &Path) -> Option<Value> {
    // A pipe could not be read again.
    let file = path.is_file().then(|| File::open(path).ok()).flatten()?;
    let mut line = Vec::new();
    let lines = BufReader::new(plain(BufReader::new(file)).ok()?);
    lines
        .take(files::MOST_BYTES)
        .read_until(b'\n', &mut line)
        .ok()?;
    let mut first: Value = serde_json::from_slice(&line).ok()?;
    Some(first["header"].take())
}

/// First bytes of a file that gzip has written.
const GZIP: &[u8] = b"\x1f\x8b";

/// Returns the content of a file that gzip may have written.
///
/// # Errors
/// Fails if its first bytes cannot be read.
pub fn plain<'a>(mut file: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Ok(if file.fill_buf()?.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    })
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
