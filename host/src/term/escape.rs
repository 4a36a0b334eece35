//! Escapes control characters and direction marks in text from files and in file names, so that a terminal can show it.
//!
//! A control character may move the cursor, change colours or overwrite text. A direction mark may reverse the text
//! that follows (CVE-2021-42574). Both are shown as Rust's string escapes: `\u{1b}`.

use std::borrow::Cow;
use std::path::Path;

/// Escapes text of several lines. `\n` and `\t` stay.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |character| {
        is_unsafe(character) && character != '\n' && character != '\t'
    })
}

/// Escapes text of one line, `\n` and `\t` included.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe)
}

/// Returns the name of a file, escaped for people.
pub fn name(path: &Path) -> String {
    line(&path.to_string_lossy()).into_owned()
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(2 * text.len());
    for character in text.chars() {
        if is_escaped(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Returns whether a character is a control character, a direction mark, override or isolate (UAX #9), or a Unicode
/// line break.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unsafe_on_a_terminal_is_shown_as_an_escape() {
        for (unsafe_text, shown) in [
            ("a\u{1b}[31mb", r"a\u{1b}[31mb"),
            ("\u{7}\u{7f}\u{9b}", r"\u{7}\u{7f}\u{9b}"),
            ("a\u{202e}b\u{2066}c", r"a\u{202e}b\u{2066}c"),
            ("\u{200e}\u{200f}\u{61c}", r"\u{200e}\u{200f}\u{61c}"),
            ("\r\u{85}\u{2028}", r"\r\u{85}\u{2028}"),
        ] {
            assert_eq!(text(unsafe_text), shown);
            assert_eq!(line(unsafe_text), shown);
        }
        assert_eq!(line("a\nb\tc"), r"a\nb\tc");
    }

    #[test]
    fn text_of_any_language_stays_as_it_is() {
        for plain in ["", "a\n\tb", "µ é 日本 שלום 🦀", r"a\b"] {
            assert_eq!(text(plain), plain);
        }
        assert_eq!(line(&line("a\u{1b}\n")), line("a\u{1b}\n"), "only once");
    }
}
