//! Decodes text files as editors and spreadsheets save them: UTF-8 or UTF-16.

use std::borrow::Cow;

use crate::error::UsageError;

/// Byte-order marks that editors put in front: of UTF-8, of little-endian and of big-endian UTF-16.
pub const MARKS: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];

/// Decodes a text file: UTF-8 with or without a byte-order mark, or UTF-16 with one. A character that is cut off at the
/// end becomes U+FFFD.
///
/// # Errors
/// Fails if the bytes are of another encoding. The error has the line and the fix.
pub fn decode<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, UsageError> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)),
        _ => utf8(name, bytes.strip_prefix(MARKS[0]).unwrap_or(bytes))?,
    };
    // A power cut may leave NULs after the last line. That line is not checked.
    let lines = text.rfind('\n').map_or("", |end| &text[..end]);
    match lines.find('\0') {
        Some(at) => Err(UsageError::file(name, line_at(lines.as_bytes(), at), NUL)),
        None => Ok(text),
    }
}

const NUL: &str =
    "a NUL byte: the file is damaged, or UTF-16 without a byte-order mark; save it as UTF-8";

/// Returns the number of the line that contains a byte, from 1.
pub fn line_at(text: &[u8], byte: usize) -> usize {
    let ends = text.iter().take(byte).filter(|&&byte| byte == b'\n');
    ends.count() + 1
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let pairs = bytes.chunks_exact(2);
    let is_cut = !pairs.remainder().is_empty();
    let units: Vec<u16> = pairs.map(|pair| unit([pair[0], pair[1]])).collect();
    let mut text = String::from_utf16_lossy(&units);
    text.extend(is_cut.then_some(char::REPLACEMENT_CHARACTER));
    text
}

fn utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, UsageError> {
    let Err(error) = std::str::from_utf8(bytes) else {
        return Ok(String::from_utf8_lossy(bytes));
    };
    let good = error.valid_up_to();
    if error.error_len().is_none() {
        return Ok(String::from_utf8_lossy(bytes));
    }
    let line = line_at(bytes, good);
    let problem = format!(
        "the byte 0x{:02X} is not UTF-8: save the file as UTF-8",
        bytes[good]
    );
    Err(UsageError::file(name, line, &problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_in_every_encoding() {
        let text = "a,\u{b5}\n\u{1f980}\n";
        let with = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
            units.flat_map(unit).collect()
        };
        let marked = [MARKS[0], text.as_bytes()].concat();
        for bytes in [
            text.as_bytes(),
            &marked,
            &with(u16::to_le_bytes),
            &with(u16::to_be_bytes),
        ] {
            assert_eq!(decode("x", bytes).as_deref(), Ok(text));
        }
    }

    #[test]
    fn a_letter_that_is_cut_off_belongs_to_the_last_line() {
        for bytes in [&b"a\n\xc2"[..], b"\xff\xfea\0\n\0b"] {
            assert_eq!(decode("x", bytes).as_deref(), Ok("a\n\u{fffd}"));
        }
        assert_eq!(decode("x", b"a\n\0\0").as_deref(), Ok("a\n\0\0"));
    }

    #[test]
    fn other_encodings_are_refused_with_their_line() {
        for (bytes, problem) in [
            (&b"a\nb\xe9c\n"[..], "x, line 2: the byte 0xE9 is not UTF-8"),
            (b"a\0\n\0", "x, line 1: a NUL byte"),
            (b"\0a\n\0b\0\n", "x, line 1: a NUL byte"),
        ] {
            let error = decode("x", bytes).expect_err("refused").to_string();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
