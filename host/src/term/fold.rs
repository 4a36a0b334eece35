//! Folds lines that are wider than the terminal, at words.

use textwrap::core::{Word, display_width};
use textwrap::{Options, WordSeparator, WordSplitter};

/// Folds each line to at most `width` columns, as [`cell`] does. A command of this program stays in one line, for a
/// shell, whatever its width.
pub fn text(text: &str, width: usize) -> String {
    let lines = text.split_inclusive('\n');
    let line = |one: &str| {
        if is_command(one) {
            one.to_owned()
        } else {
            folded(one, width)
        }
    };
    lines.map(line).collect()
}

/// Folds each line to at most `width` columns. A continuation is indented to the column behind the last gap of two
/// spaces or more near the beginning of the line, else to the first letter of the line. A word that is wider than the
/// line stays whole.
pub fn cell(text: &str, width: usize) -> String {
    let lines = text.split_inclusive('\n');
    lines.map(|one| folded(one, width)).collect()
}

/// Rightmost column to which a continuation is indented.
const MOST_HANGING: usize = 24;

fn folded(line: &str, width: usize) -> String {
    let (line, end) = line
        .strip_suffix('\n')
        .map_or((line, ""), |line| (line, "\n"));
    let hanging = hanging(line).min(width / 2);
    let begins = line.char_indices().nth(hanging);
    let (first, rest) = line.split_at(begins.map_or(line.len(), |(at, _)| at));
    let indent = " ".repeat(hanging);
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    let folded = textwrap::fill(rest.trim_end(), options);
    folded.trim_end().to_owned() + end
}

/// Returns whether a line is, behind its label, a command of this program, however its path was typed. No sentence
/// about a version is one.
pub fn is_command(line: &str) -> bool {
    let begin = line.char_indices().nth(hanging(line));
    let text = begin.map_or("", |(at, _)| &line[at..]);
    let text = text.strip_prefix("resume with: ").unwrap_or(text);
    text.split_once(' ').is_some_and(|(program, rest)| {
        let is_program = program == "udpbench" || program.ends_with("/udpbench");
        is_program && rest.starts_with(|it: char| it == '-' || it.is_ascii_lowercase())
    })
}

/// Folds each line to at most `width` columns, for text from elsewhere. Cuts a word that is wider than the line, and
/// adds `...`.
pub fn cut(text: &str, width: usize) -> String {
    let cut = |line: &str| match columns(line) {
        fits if fits <= width => line.to_owned(),
        _ => {
            let line = Word::from(line);
            let begin = line.break_apart(width.saturating_sub(3)).next();
            begin.map_or("", |begin| begin.word).to_owned() + "..."
        }
    };
    let lines: Vec<String> = cell(text, width).lines().map(cut).collect();
    lines.join("\n")
}

/// Returns the width of a text in terminal columns. Escape sequences for colours have no width.
pub fn columns(text: &str) -> usize {
    display_width(text)
}

/// Returns the column to which continuations of a line are indented.
fn hanging(line: &str) -> usize {
    let chars: Vec<char> = line.chars().take(MOST_HANGING + 1).collect();
    let is_begin = |n: &usize| n >= &2 && chars[*n] != ' ' && chars[n - 2..*n] == [' ', ' '];
    let indent = chars.iter().take_while(|one| **one == ' ').count();
    let begins = (0..chars.len()).filter(is_begin);
    begins.filter(|&n| n > indent).max().unwrap_or(indent)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_follows_a_break_stands_below_what_was_broken() {
        let long = "  fix     stop them, or wait until they end\nshort\n";
        let expected = "  fix     stop them, or\n          wait until they\n          end\nshort\n";
        assert_eq!(text(long, 25), expected);
        assert_eq!(text("a long line of words", 10), "a long\nline of\nwords");
    }

    #[test]
    fn a_command_stays_in_one_line() {
        for command in [
            "next  ./udpbench find lossless --engine std",
            "        udpbench wire HOST --deploy",
            "resume with: udpbench resume results/x-find.jsonl",
        ] {
            assert_eq!(text(command, 20), command);
        }
    }

    #[test]
    fn a_line_that_fits_is_as_it_was_without_blanks_at_its_end() {
        assert_eq!(text("a  b   \n\n c", 10), "a  b\n\n c");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_and_no_word_is_broken_or_lost(
            words in prop::collection::vec("[a-z+%,]{1,12}", 1..40),
            width in 40_usize..120,
        ) {
            let line = format!("kind  {}", words.join(" "));
            let folded = text(&line, width);
            prop_assert!(folded.lines().all(|line| line.chars().count() <= width));
            let again: Vec<&str> = folded.split_whitespace().collect();
            prop_assert_eq!(&again[1..], &words[..]);
        }
    }
}
