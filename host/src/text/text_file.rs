//! Decodes text files as editors save them: UTF-8, with a byte-order mark or without.

use crate::error::UsageError;

/// Byte-order mark that some editors put in front.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Decodes a text file.
///
/// # Errors
/// Fails if the bytes are of another encoding. The error has the line and the fix.
pub fn decode<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, UsageError> {
    let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let (good, bad) = bytes.split_at(error.valid_up_to());
        let line = good.split(|&byte| byte == b'\n').count();
        let problem = format!(
            "the byte 0x{:02X} is not UTF-8: save the file as UTF-8",
            bad[0]
        );
        UsageError::file(name, line, &problem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_with_a_mark() {
        let text = "a,\u{b5}\n\u{1f980}\n";
        let marked = [MARK, text.as_bytes()].concat();
        for bytes in [text.as_bytes(), &marked] {
            assert_eq!(decode("x", bytes), Ok(text));
        }
    }

    #[test]
    fn other_encodings_are_refused_with_their_line() {
        for (bytes, problem) in [
            (&b"a\nb\xe9c\n"[..], "x, line 2: the byte 0xE9 is not UTF-8"),
            (b"\xff\xfea\0\n\0", "x, line 1: the byte 0xFF is not UTF-8"),
            (b"a\n\xc2", "x, line 2: the byte 0xC2 is not UTF-8"),
        ] {
            let error = decode("x", bytes).expect_err("refused").to_string();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
