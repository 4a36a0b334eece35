//! Decodes text files as editors save them: UTF-8 or UTF-16.

use std::borrow::Cow;

use crate::error::UsageError;

/// Byte-order marks that editors put in front.
pub const BYTE_ORDER_MARKS: [&[u8]; 3] = [UTF8_MARK, UTF16_LE_MARK, UTF16_BE_MARK];
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF16_LE_MARK: &[u8] = b"\xff\xfe";
const UTF16_BE_MARK: &[u8] = b"\xfe\xff";

const NUL_MESSAGE: &str =
    "a NUL byte: the file is damaged, or UTF-16 without a byte-order mark; save it as UTF-8";

/// Decodes a text file: UTF-8 with or without a byte-order mark, or UTF-16 with one.
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
    match text.find('\0') {
        Some(at) => Err(UsageError::file(name, line_at(&text[..at]), NUL_MESSAGE)),
        None => Ok(text),
    }
}

/// Returns the number of the line, from 1, that comes after a text.
fn line_at(before: &str) -> usize {
    before.matches('\n').count() + 1
}

fn utf16(name: &str, bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, UsageError> {
    // A last byte without its other half becomes half of a character.
    let units = bytes.chunks(2).map(|pair| match pair {
        [one, other] => unit([*one, *other]),
        _ => 0xd800,
    });
    let mut text = String::with_capacity(bytes.len() / 2);
    for letter in char::decode_utf16(units) {
        text.push(letter.map_err(|_| {
            let problem = "half of a UTF-16 character: save the file as UTF-8";
            UsageError::file(name, line_at(&text), problem)
        })?);
    }
    Ok(text)
}

fn utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, str>, UsageError> {
    std::str::from_utf8(bytes)
        .map(Cow::Borrowed)
        .map_err(|error| {
            let good = &bytes[..error.valid_up_to()];
            let problem = format!(
                "the byte 0x{:02X} is not UTF-8: save the file as UTF-8",
                bytes[good.len()]
            );
            UsageError::file(name, line_at(&String::from_utf8_lossy(good)), &problem)
        })
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
    fn other_encodings_are_refused_with_their_line() {
        for (bytes, problem) in [
            (&b"a\nb\xe9c\n"[..], "x, line 2: the byte 0xE9 is not UTF-8"),
            (b"a\0\n\0", "x, line 1: a NUL byte"),
            (b"\0a\n\0b\0\n", "x, line 1: a NUL byte"),
            (
                b"\xff\xfea\0\n\0\x00\xd8b\0",
                "x, line 2: half of a UTF-16 character",
            ),
            (b"\xff\xfea\0\n\0b", "x, line 2: half of a UTF-16 character"),
            (b"a\n\xc2", "x, line 2: the byte 0xC2 is not UTF-8"),
        ] {
            let error = decode("x", bytes).expect_err("refused").to_string();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
