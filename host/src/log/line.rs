//! Lines of a log: JSON objects with a checksum as their last field, `{"NAME":...,"crc":"1a2b3c4d"}`.
//!
//! The checksum is the CRC-32 (as of zlib and gzip) of all lines so far, each without its checksum. So it refuses a
//! line that was changed, and also one after a line that is missing, doubled, moved or of another log; and the
//! beginning of a log is a log. It is a field at the end, not a word before the object, so that every JSON tool still
//! reads the lines and nobody has to parse one to check it. It is no protection against intent.

use crc32fast::Hasher;

/// Checksum of the lines so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain(u32);

impl Chain {
    /// Returns a JSON object as the next line, with a newline, and the chain with it. `None`: it is no object.
    pub fn line(self, object: &[u8]) -> Option<(Vec<u8>, Self)> {
        let body = object.strip_suffix(b"}")?;
        let next = self.with(body);
        let line = [body, next.field().as_bytes(), b"\n"].concat();
        Some((line, next))
    }

    /// Returns the next line up to its checksum, and the chain with it. `None`: the line does not follow.
    pub fn body(self, line: &[u8]) -> Option<(&[u8], Self)> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let body = &line[..line.len().checked_sub(FIELD_BYTES)?];
        let next = self.with(body);
        let follows = line.ends_with(next.field().as_bytes());
        follows.then_some((body, next))
    }

    fn with(self, body: &[u8]) -> Self {
        let mut hasher = Hasher::new_with_initial(self.0);
        hasher.update(body);
        Self(hasher.finalize())
    }

    /// Returns the last field of the last line.
    fn field(self) -> String {
        format!(r#","crc":"{:08x}"}}"#, self.0)
    }
}

/// Length of [`Chain::field`].
const FIELD_BYTES: usize = r#","crc":"01234567"}"#.len();

/// Returns the JSON object of a line up to its checksum.
pub fn object(body: &[u8]) -> Vec<u8> {
    [body, b"}"].concat()
}

/// Returns objects as the lines of a log. For tests and fuzzers.
pub fn lines(objects: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<u8> {
    let mut chain = Chain::default();
    let lines = objects.into_iter().filter_map(|object| {
        let (line, next) = chain.line(object.as_ref())?;
        chain = next;
        Some(line)
    });
    lines.flatten().collect()
}
