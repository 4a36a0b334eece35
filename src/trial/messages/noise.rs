//! Output of the other side before its first message: skipped, or shown if no message comes.

use std::io::{ErrorKind, Read};

use anyhow::{Context, bail};

use crate::term::escape;

/// Marker at the start of the messages: no shell and no program for people prints a zero byte.
pub const MAGIC: [u8; 9] = *b"\0udpbench";

/// Maximum of the bytes before [`MAGIC`].
const MAX_NOISE: usize = 1 << 16;

/// Skips everything before [`MAGIC`], for example the output of a shell's start-up files.
///
/// # Errors
/// Returns [`NoGreeting`] if [`MAGIC`] does not come within 64 KiB. Returns another error if the stream cannot be read.
pub(crate) fn expect_magic(input: &mut impl Read) -> anyhow::Result<()> {
    let mut noise = Vec::new();
    let mut byte = [0];
    // No further byte is read: it may be for another process.
    while noise.len() < MAX_NOISE + MAGIC.len() {
        match input.read_exact(&mut byte) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            read => read.context("cannot read a message")?,
        }
        noise.extend(byte);
        if noise.ends_with(&MAGIC) {
            return Ok(());
        }
    }
    bail!(NoGreeting(noise))
}

/// Error: the other side is no udpbench, or could not start. Holds its output.
#[derive(Debug, thiserror::Error)]
#[error("{}", told(.0))]
pub(crate) struct NoGreeting(Vec<u8>);

/// Quotes the end of the output, line by line.
fn told(output: &[u8]) -> String {
    const LINES: usize = 5;
    const BYTES: usize = 500;
    if output.is_empty() {
        return "it ended before it said anything".to_owned();
    }
    let end = String::from_utf8_lossy(&output[output.len().saturating_sub(BYTES)..]);
    let lines = end.lines().filter(|line| !line.trim().is_empty());
    let quoted = lines.map(|line| format!("\"{}\"", escape::line(line.trim_end())));
    let quoted: Vec<String> = quoted.collect();
    let last = quoted[quoted.len().saturating_sub(LINES)..].join(", ");
    format!("it does not speak udpbench's protocol but says {last}")
}

#[cfg(test)]
mod tests {
    use super::*;
    fn refused(stream: &[u8]) -> String {
        let error = expect_magic(&mut &stream[..]).expect_err("it is refused");
        format!("{error:#}")
    }

    #[test]
    fn what_start_up_files_print_is_skipped() {
        let mut stream = b"Welcome!\n\0udp\0\n".to_vec();
        stream.resize(MAX_NOISE, b'.');
        stream.extend(MAGIC);
        stream.push(7);
        let mut rest = &stream[..];
        expect_magic(&mut rest).expect("all before it is noise");
        assert_eq!(rest, [7]);
        stream.insert(0, b'.');
        let said = refused(&stream);
        assert!(
            said.contains("does not speak udpbench's protocol"),
            "{said}"
        );
    }

    #[test]
    fn what_is_no_greeting_is_quoted() {
        let said = refused(b"1\n2\n3\n4\r\n\n\x1b[1m5\nnot found");
        assert!(
            said.ends_with(r#"but says "2", "3", "4", "\u{1b}[1m5", "not found""#),
            "{said}"
        );
        assert!(refused(b"hi").contains(r#""hi""#));
        assert_eq!(refused(b""), "it ended before it said anything");
    }
}
