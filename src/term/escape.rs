//! Escapes control characters and direction marks in text from files and in file names, so that a terminal can show it.
//!
//! A control character may move the cursor, change colours or overwrite text. A direction mark may reverse the text
//! that follows (CVE-2021-42574). Both are shown as Rust's string escapes: `\u{1b}`.

use std::borrow::Cow;
use std::path::Path;

/// Escapes text of several lines. Line breaks and tabs stay.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| {
        steers(letter) && letter != '\n' && letter != '\t'
    })
}

/// Escapes text of one line, line breaks and tabs included.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, steers)
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
    for letter in text.chars() {
        if is_escaped(letter) {
            safe.extend(letter.escape_default());
        } else {
            safe.push(letter);
        }
    }
    Cow::Owned(safe)
}

/// Returns whether a character is a control character, a direction mark, override or isolate (UAX #9), or a Unicode
/// line break.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown_as_an_escape() {
        for (steering, shown) in [
            ("a\u{1b}[31mb", r"a\u{1b}[31mb"),
            ("\u{7}\u{7f}\u{9b}", r"\u{7}\u{7f}\u{9b}"),
            ("a\u{202e}b\u{2066}c", r"a\u{202e}b\u{2066}c"),
            ("\u{200e}\u{200f}\u{61c}", r"\u{200e}\u{200f}\u{61c}"),
            ("\r", r"\r"),
        ] {
            assert_eq!(text(steering), shown);
            assert_eq!(line(steering), shown);
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
