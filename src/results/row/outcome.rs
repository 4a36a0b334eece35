//! Status of a case, and reasons for its end.

use serde::{Deserialize, Serialize};

use super::{Failure, Interruption};

/// Status of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Measured, and its packet counts add up.
    Ok,
    /// Not run. The row has the reason.
    Skipped,
    /// Failed: it broke, starved, or its packet counts do not add up.
    Failed,
    /// Ended early, with the rounds that were measured.
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

/// End of a case in the sweep.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The case was measured to the end, for this reason.
    Complete(EndedBy),
    /// The sweep ended before the case.
    Interrupted(Interruption),
    /// The last window could not be measured, for this reason.
    Failed(Failure),
    /// The case was never to run, for this reason.
    Skipped(String),
}

/// Reason why no more rounds were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// The requested number of rounds was complete.
    Rounds,
    /// Every interval was narrow enough.
    Until,
    /// The time limit was reached.
    MaxTime,
}

impl EndedBy {
    /// Returns the name in the column `ended_by`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Until => "until",
            Self::MaxTime => "max-time",
        }
    }
}
