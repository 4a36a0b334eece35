//! Status of a case, and reasons for its end.

use serde::{Deserialize, Serialize};

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
    Failed(String),
    /// The case was never to run, for this reason.
    Skipped(String),
}

/// Reason why a sweep ended before it was complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// The log does not say, because the program was killed or the power failed, or the sweep goes on.
    #[default]
    Unknown,
    /// A signal arrived.
    Signal,
    /// The remote host was lost, for this reason.
    Lost(String),
}

impl Interruption {
    /// Returns the name in the column `ended_by`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Signal => "signal",
            Self::Lost(_) => "other-host",
        }
    }

    /// Returns the text in the column `reason`.
    pub fn reason(&self) -> String {
        match self {
            Self::Unknown => "the log ends before the case does".to_owned(),
            Self::Signal => "ended by a signal".to_owned(),
            Self::Lost(why) => format!("the other host is gone: {why}"),
        }
    }
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
