//! What became of a case.

use serde::{Deserialize, Serialize};

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Measured, and its books are closed.
    Ok,
    /// Not run, for the reason given.
    Skipped,
    /// It broke, starved, or its packet counts do not add up.
    Failed,
    /// Ended early, with the rounds that it had.
    Interrupted,
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        })
    }
}

/// How a case ended, seen from the sweep.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It was measured to the end; why that was there.
    Complete(EndedBy),
    /// The sweep was interrupted.
    Interrupted,
    /// Its last window could not be measured; the reason.
    Failed(String),
    /// It was never to run; the reason.
    Skipped(String),
}

/// Why no more rounds were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// As many as were asked for.
    Rounds,
    /// Every interval was narrow enough.
    Until,
    /// The time was over.
    MaxTime,
}

impl EndedBy {
    /// As in the column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Until => "until",
            Self::MaxTime => "max-time",
        }
    }
}
