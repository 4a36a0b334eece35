//! Ranges of thread counts: `--threads 1-4` is `--threads 1,2,3,4`, before clap sees it, to which each value is one.

use std::ffi::{OsStr, OsString};
use std::mem;

use crate::data::Threads;

const FLAG: &str = "--threads";

/// The words with the ranges of `--threads` as lists. What is no range is for clap to judge.
pub fn spread<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Vec<OsString> {
    let mut is_value = false;
    let spread = |word: W| {
        let word = word.as_ref();
        let was_flag = mem::replace(&mut is_value, word == FLAG);
        let text = word.to_str().unwrap_or_default();
        match text
            .strip_prefix(FLAG)
            .and_then(|rest| rest.strip_prefix('='))
        {
            _ if was_flag => listed(text).into(),
            Some(value) => format!("{FLAG}={}", listed(value)).into(),
            None => word.to_owned(),
        }
    };
    words.into_iter().map(spread).collect()
}

fn listed(list: &str) -> String {
    let parts = list.split(',').map(|part| match counts(part) {
        Some(counts) => counts.join(","),
        None => part.to_owned(),
    });
    parts.collect::<Vec<String>>().join(",")
}

fn counts(range: &str) -> Option<Vec<String>> {
    let (least, most) = range.split_once('-')?;
    let count = |text: &str| text.parse::<Threads>().ok().map(u16::from);
    let counts = count(least)?..=count(most)?;
    let counts: Vec<String> = counts.map(|it| it.to_string()).collect();
    Some(counts).filter(|counts| !counts.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(words: &str, expected: &str) {
        let words = spread(words.split(' '));
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn a_range_is_the_list_of_its_counts() {
        becomes(
            "udpbench --threads 1-4 --ip v4",
            "udpbench --threads 1,2,3,4 --ip v4",
        );
        becomes("--threads=1,3-5,8", "--threads=1,3,4,5,8");
        becomes("--threads 2-2", "--threads 2");
    }

    #[test]
    fn what_is_no_range_of_counts_stays_as_it_is() {
        for words in [
            "--threads 4-1",
            "--threads 0-4",
            "--threads -4",
            "--threads 1-",
            "--threads 1-999",
            "--threads a-b",
            "--engine 1-4 --threads",
            "-o 1-4 --threads 2",
        ] {
            becomes(words, words);
        }
    }
}
