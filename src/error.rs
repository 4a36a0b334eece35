//! What the user got wrong: exit code 2, and a message that names the place, the value and the fix.

use thiserror::Error;

/// A command line or a file that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UsageError {
    /// A flag's value.
    #[error("{flag} {value}: {problem}")]
    Flag {
        /// The flag with its dashes, or the subcommand.
        flag: &'static str,
        /// What was given.
        value: String,
        /// What is wrong with it, and what to write instead.
        problem: String,
    },
    /// A line of a file.
    #[error("{file}{}: {problem}", in_line(*line))]
    File {
        /// The file, as it was named.
        file: String,
        /// From 1. 0: the file as a whole.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A cell of a CSV file.
    #[error("{file}, line {line}, {column}: {problem}")]
    Cell {
        /// The file, as it was named.
        file: String,
        /// From 1.
        line: usize,
        /// The heading of its column.
        column: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl UsageError {
    /// A flag's value.
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

    /// A line of a file.
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
