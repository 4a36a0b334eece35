//! Decodes text files as editors and spreadsheets save them: UTF-8 or UTF-16.

use std::borrow::Cow;

use crate::error::UsageError;

/// Byte-order marks that editors put in front.
pub const BYTE_ORDER_MARKS: [&[u8]; 3] = [UTF8_MARK, UTF16_LE_MARK, UTF16_BE_MARK];
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF16_LE_MARK: &[u8] = b"\xff\xfe";
const UTF16_BE_MARK: &[u8] = b"\xfe\xff";

const NUL_MESSAGE: &str =
    "a NUL byte: the file is damaged, or UTF-16 without a byte-order mark; save it as UTF-8";

/// Decodes a text file: UTF-8 with or without a byte-order mark, or UTF-16 with one. A character that is cut off at the
/// end becomes U+FFFD.
///
/// # Errors
/// Fails if the bytes are of another encoding. The error has the line and the fix.
pub fn decode<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, UsageError> {
    let text = if let Some(rest) = bytes.strip_prefix(UTF16_LE_MARK) {
        Cow::Owned(utf16(name, rest, u16::from_le_bytes)?)
    } else if let Some(rest) = bytes.strip_prefix(UTF16_BE_MARK) {
        Cow::Owned(utf16(name, rest, u16::from_be_bytes)?)
    } else {
        utf8(name, bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes))?
    };
    // A power cut may leave NULs after the last line. That line is not checked.
    let lines = text.rfind('\n').map_or("", |end| &text[..end]);
    match lines.find('\0') {
        Some(at) => {
            let line = line_at(lines.as_bytes(), at);
            Err(UsageError::file(name, line, NUL_MESSAGE))
        }
        None => Ok(text),
    }
}

/// Returns the number of the line, from 1, that contains the byte at this index.
pub fn line_at(text: &[u8], index: usize) -> usize {
    let ends = text.iter().take(index).filter(|&&byte| byte == b'\n');
    ends.count() + 1
}

fn utf16(name: &str, bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, UsageError> {
    let pairs = bytes.chunks_exact(2);
    let is_cut = !pairs.remainder().is_empty();
    let units = pairs.map(|pair| unit([pair[0], pair[1]]));
    let mut letters = char::decode_utf16(units).peekable();
    let mut text = String::with_capacity(bytes.len() / 2);
    while let Some(letter) = letters.next() {
        match letter {
            Ok(letter) => text.push(letter),
            Err(_) if letters.peek().is_none() => text.push(char::REPLACEMENT_CHARACTER),
            Err(half) => {
                let line = line_at(text.as_bytes(), text.len());
                let problem = format!(
                    "0x{:04X} is half of a UTF-16 character: save the file as UTF-8",
                    half.unpaired_surrogate()
                );
                return Err(UsageError::file(name, line, &problem));
            }
        }
    }
    text.extend(is_cut.then_some(char::REPLACEMENT_CHARACTER));
    Ok(text)
}

fn utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, UsageError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        // A character is cut off at the end.
        Err(error) if error.error_len().is_none() => return Ok(String::from_utf8_lossy(bytes)),
        Err(error) => error,
    };
    let good = error.valid_up_to();
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
        let marked = [UTF8_MARK, text.as_bytes()].concat();
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
            (
                b"\xff\xfea\0\n\0\x00\xd8b\0",
                "x, line 2: 0xD800 is half of a UTF-16 character",
            ),
        ] {
            let error = decode("x", bytes).expect_err("refused").to_string();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
