//! What the other side prints before its first message: skipped, or shown where no message comes.

use std::fmt;
use std::io::{BufRead, Read};

use anyhow::{Context, bail};

use super::message::MAGIC;
use crate::escape;

/// The most that may come before [`MAGIC`], in bytes.
const MAX_NOISE: usize = 1 << 16;

/// Skips what comes before [`MAGIC`], such as what start-up files of a shell print.
///
/// # Errors
/// [`NoGreeting`], when it does not come within 64 KiB, or the stream cannot be read.
pub(super) fn expect_magic(input: &mut impl BufRead) -> anyhow::Result<()> {
    let mut noise = Vec::new();
    for byte in input.bytes().take(MAX_NOISE + MAGIC.len()) {
        noise.push(byte.context("cannot read a message")?);
        if noise.ends_with(&MAGIC) {
            return Ok(());
        }
    }
    bail!(NoGreeting(noise))
}

/// The other side is no udpbench, or could not start. Holds what it said instead.
#[derive(Debug)]
pub(super) struct NoGreeting(Vec<u8>);

impl fmt::Display for NoGreeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("it ended before it said anything");
        }
        write!(
            f,
            "it does not speak udpbench's protocol but says {}",
            self.last_lines()
        )
    }
}

impl std::error::Error for NoGreeting {}

impl NoGreeting {
    /// The end of what it said, quoted line by line.
    fn last_lines(&self) -> String {
        const LINES: usize = 5;
        const BYTES: usize = 500;
        let end = &self.0[self.0.len().saturating_sub(BYTES)..];
        let text = String::from_utf8_lossy(end);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let last = lines[lines.len().saturating_sub(LINES)..].iter();
        let quoted = last.map(|line| format!("\"{}\"", escape::line(line.trim_end())));
        quoted.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::message::{Hello, greet, greeting};

    fn error(read: anyhow::Result<impl Sized>) -> String {
        match read {
            Ok(_) => panic!("it is refused"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn what_start_up_files_print_is_skipped() {
        let mut greeting_of_another = b"Welcome!\n\0udp\0\n".to_vec();
        greeting_of_another.resize(MAX_NOISE, b'.');
        greet(&mut greeting_of_another, &Hello::here()).expect("into memory");
        let mut stream = &greeting_of_another[..];
        greeting(&mut stream).expect("all before it is noise");
        assert!(stream.is_empty(), "it was read to its end");
        greeting_of_another.insert(0, b'.');
        let said = error(greeting(&mut &greeting_of_another[..]));
        assert!(
            said.contains("does not speak udpbench's protocol"),
            "{said}"
        );
    }

    #[test]
    fn what_is_no_greeting_is_quoted() {
        let said = error(greeting(&mut &b"1\n2\n3\n4\r\n\n\x1b[1m5\nnot found"[..]));
        assert!(
            said.ends_with(r#"but says "2", "3", "4", "\u{1b}[1m5", "not found""#),
            "{said}"
        );
        assert!(error(greeting(&mut &b"hi"[..])).contains(r#""hi""#));
        assert_eq!(
            error(greeting(&mut &b""[..])),
            "it ended before it said anything"
        );
        assert!(error(greeting(&mut &MAGIC[..])).contains("before it said its version"));
    }
}
