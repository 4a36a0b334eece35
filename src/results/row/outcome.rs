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
    /// The sweep ended before that.
    Interrupted(Interruption),
    /// Its last window could not be measured; the reason.
    Failed(String),
    /// It was never to run; the reason.
    Skipped(String),
}

/// Why a sweep ended before it was complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// Its log does not say, or it goes on: it was killed, or the power failed.
    #[default]
    Unknown,
    /// A signal came.
    Signal,
    /// The other host was not heard of any more, and why.
    Lost(String),
}

impl Interruption {
    /// As in the column `ended_by`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Signal => "signal",
            Self::Lost(_) => "other-host",
        }
    }

    /// As in the column `reason`.
    pub fn reason(&self) -> String {
        match self {
            Self::Unknown => "the log ends before the case does".to_owned(),
            Self::Signal => "ended by a signal".to_owned(),
            Self::Lost(why) => format!("the other host is gone: {why}"),
        }
    }
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
