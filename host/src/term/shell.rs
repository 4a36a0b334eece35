//! Quotes words of a command that is printed to be pasted, or handed to a shell. A quoted word has no effect besides
//! its text.

use std::borrow::Cow;
use std::path::Path;

/// Quotes a word for a POSIX shell, if it has to be.
pub fn word(text: &str) -> Cow<'_, str> {
    // shlex also quotes the comma of `std,mmsg` and the sign of `5%`, which no shell expands within a word.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:%@+=".contains(&byte);
    if text.bytes().all(is_plain) && !text.starts_with(['%', '=']) && !text.is_empty() {
        return Cow::Borrowed(text);
    }
    // Only NUL is refused. No argument and no file name can contain it.
    shlex::try_quote(text).unwrap_or(Cow::Borrowed("''"))
}

/// Quotes the name of a file. A name that begins with a dash gets `./` in front, so that it is not taken for an option.
pub fn path(path: &Path) -> String {
    let shown = path.display().to_string();
    let is_option = shown.starts_with('-') && shown != "-";
    let shown = if is_option {
        format!("./{shown}")
    } else {
        shown
    };
    word(&shown).into_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_takes_each_word_as_it_is() {
        for text in [
            "out.jsonl",
            "a b",
            "it's",
            "$(touch x).csv",
            "`id`;'\"\\!*",
            "",
            "--a=b",
            "std,mmsg",
            "5%",
            "%1",
            "a@b:/c+d",
            "\u{e4}",
        ] {
            let script = format!("printf %s {}", word(text));
            let output = Command::new("sh").args(["-c", &script]).output();
            let output = output.expect("there is a shell").stdout;
            assert_eq!(String::from_utf8_lossy(&output), text, "{script}");
        }
    }

    #[test]
    fn plain_names_stay_plain_and_none_is_an_option() {
        assert_eq!(path(Path::new("results/a-1.jsonl")), "results/a-1.jsonl");
        assert_eq!(path(Path::new("-x.csv")), "./-x.csv");
        assert_eq!(path(Path::new("-")), "-");
    }
}
