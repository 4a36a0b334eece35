//! Errors of the user: exit code 2, and a message that names the place, the value and the fix.

use thiserror::Error;

/// A command line or a file that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UsageError {
    /// An invalid value of a flag.
    #[error("{flag}{}{value}: {problem}", if value.is_empty() { "" } else { " " })]
    Flag {
        /// The flag with its dashes, or the subcommand.
        flag: &'static str,
        /// The value, as the user gave it. Empty: there is none.
        value: String,
        /// The problem, and the fix.
        problem: String,
    },
    /// An invalid line of a file.
    #[error("{file}{}: {problem}", in_line(*line))]
    File {
        /// Name of the file, as the user gave it.
        file: String,
        /// Line number, from 1. 0 means the file as a whole.
        line: usize,
        /// The problem.
        problem: String,
    },
}

impl UsageError {
    /// Returns the error for an invalid value of a flag.
    pub fn flag(
        flag: &'static str,
        value: &(impl ToString + ?Sized),
        problem: impl Into<String>,
    ) -> Self {
        Self::Flag {
            flag,
            value: value.to_string(),
            problem: problem.into(),
        }
    }

    /// Returns the error for an invalid line of a file. Line 0 means the file as a whole. Line breaks in `problem`
    /// become `; `.
    pub fn file(file: &str, line: usize, problem: &str) -> Self {
        Self::File {
            file: file.to_owned(),
            line,
            problem: problem.trim_end().replace('\n', "; "),
        }
    }
}

fn in_line(line: usize) -> String {
    match line {
        0 => String::new(),
        line => format!(", line {line}"),
    }
}
