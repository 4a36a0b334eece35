//! Text from files and file names, as a terminal may have it.
//!
//! A control character may move the cursor, colour or overwrite what stands there, and a mark of direction may
//! turn around what is read (CVE-2021-42574). Both are shown as the escapes that Rust's strings have: `\u{1b}`.

use std::borrow::Cow;
use std::path::Path;

/// Text of several lines: only line breaks and tabs stay what they are.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| {
        steers(letter) && letter != '\n' && letter != '\t'
    })
}

/// Text that stays within its line.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, steers)
}

/// The name of a file, for people.
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

/// Whether a letter is no letter: a control character, a mark, override or isolate of direction (UAX #9), or
/// a line break of Unicode's.
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
