//! Suites: named lists of sweeps and searches. The files `suites/*.toml` are compiled in.
//!
//! `suites/README.md` explains every key to authors of suites.

use serde::Deserialize;

use crate::error::UsageError;
use crate::text::nearest;

/// Returns the names of these suites, each with the text of its file.
macro_rules! texts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../suites/", $name, ".toml")))),*]
    };
}

/// Suites of this build in alphabetical order: the name of the file, and its text.
static TEXTS: &[(&str, &str)] = texts![
    "board",
    "good-and-bad-server",
    "languages",
    "message-io",
    "network-socket-performance",
    "rust-socket-benchmark",
    "sockbench",
    "wire",
];

/// Sweeps and searches that answer one question together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Name of the file, without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// Question of the suite, for people.
    pub title: String,
    /// Origin of the suite.
    pub source: String,
    /// Explanation of what the sweeps do not say themselves.
    pub about: String,
    /// Sweeps, in the order in which they run.
    #[serde(rename = "sweep")]
    pub sweeps: Vec<SuitePart>,
    /// Searches, in the order in which they run after the sweeps.
    #[serde(default, rename = "find")]
    pub searches: Vec<SuitePart>,
}

/// Sweep or search of a suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuitePart {
    /// Name of its files, without their endings.
    pub name: String,
    /// Question of the sweep, for people.
    pub about: String,
    /// Options on the command line, after `udpbench` or `udpbench find`.
    pub options: String,
}

/// Returns every suite of this build.
pub fn all() -> Vec<Suite> {
    let read = |(name, text): &(&str, &str)| Suite::parse(name, text);
    TEXTS.iter().map(read).collect()
}

/// Returns the suite of this name, which was given as `place`.
///
/// # Errors
/// Returns an error if there is no such suite, and says what to do instead.
pub fn find(place: &'static str, name: &str) -> Result<Suite, UsageError> {
    nearest::named(all(), name, |suite| &suite.name).map_err(|hint| {
        let fix = format!("no such suite; {hint}use one that udpbench suites lists");
        UsageError::flag(place, &format!("'{name}'"), fix)
    })
}

/// Returns the names of all suites of this build.
pub fn names() -> Vec<&'static str> {
    TEXTS.iter().map(|(name, _)| *name).collect()
}

/// Returns the text of a suite, with its comments.
pub fn source(name: &str) -> Option<&'static str> {
    let (_, text) = TEXTS.iter().find(|(suite, _)| *suite == name)?;
    Some(text)
}

impl Suite {
    /// Parses a suite.
    ///
    /// # Panics
    /// Panics if the text is no suite. The tests read every text.
    fn parse(name: &str, text: &str) -> Self {
        let mut suite: Self = toml::from_str(text).expect("a suite that the tests have read");
        name.clone_into(&mut suite.name);
        // Line breaks in the file have no meaning.
        suite.about = suite.about.split_whitespace().collect::<Vec<_>>().join(" ");
        suite
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_suite_of_this_build_is_sound() {
        let all = all();
        let names: Vec<&str> = all.iter().map(|suite| &*suite.name).collect();
        assert_eq!(
            names,
            [
                "board",
                "good-and-bad-server",
                "languages",
                "message-io",
                "network-socket-performance",
                "rust-socket-benchmark",
                "sockbench",
                "wire",
            ]
        );
        for suite in all {
            assert!(!suite.sweeps.is_empty(), "{}", suite.name);
            let searches = suite.searches.iter();
            let names: Vec<&str> = suite
                .sweeps
                .iter()
                .chain(searches)
                .map(|it| &*it.name)
                .collect();
            let is_file_name = |name: &&str| {
                name.bytes()
                    .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
            };
            assert!(names.iter().all(is_file_name), "{names:?}");
            let different: BTreeSet<&&str> = names.iter().collect();
            assert_eq!(different.len(), names.len(), "{names:?}");
        }
    }
}
