//! Status of a case, and why it is not `ok`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::host::tuning::Difference;
use crate::text::digits::counted;
use crate::text::sentences;

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

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        })
    }
}

/// Reason why no more rounds of a case were measured that was measured to the end.
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

/// Reason why a row is not `ok`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reason {
    /// The row is `ok`.
    #[default]
    None,
    /// The case was not to run, for this reason.
    Skipped(String),
    /// The case failed.
    Failed(Failure),
    /// The sweep ended before the case.
    Interrupted(Interruption),
}

impl Reason {
    /// Code of a reason that every skipped case has.
    pub const SKIPPED: &'static str = "cannot-run";

    /// Returns the code of the reason, which stays when its words change. `None`: the row is `ok`.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Skipped(_) => Some(Self::SKIPPED),
            Self::Failed(failure) => Some(failure.code()),
            Self::Interrupted(interruption) => Some(interruption.code()),
        }
    }

    /// Returns the status of a row with this reason.
    pub(super) fn status(&self) -> Status {
        match self {
            Self::None => Status::Ok,
            Self::Skipped(_) => Status::Skipped,
            Self::Failed(_) => Status::Failed,
            Self::Interrupted(_) => Status::Interrupted,
        }
    }
}

impl fmt::Display for Reason {
    /// Writes the sentence. Empty: the row is `ok`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Skipped(why) => f.write_str(why),
            Self::Failed(failure) => failure.fmt(f),
            Self::Interrupted(interruption) => interruption.fmt(f),
        }
    }
}

sentences! {
    /// Reason why a case failed. `hindrance`: what the kernel said to the calls of a case that moved nothing, after a
    /// colon.
    pub enum Failure {
        "counts-differ": CountsDiffer { windows: usize, datagrams: u64 } =>
            "packet counts do not add up in {}: {} unaccounted for",
            counted(*windows, "window"),
            counted(*datagrams, "datagram");
        "starved": Starved { why: String } => "starved and left datagrams unread: {why}";
        "nothing-due": NothingDue { hindrance: String } =>
            "nothing was sent: no burst was due in a window; use a longer --duration or a higher --rate{hindrance}";
        "nothing-sent": NothingSent { hindrance: String } => "nothing was sent{hindrance}";
        "nothing-in-windows": NothingInWindows { hindrance: String } =>
            "nothing sent in the windows was received{hindrance}";
        "nothing-received": NothingReceived { hindrance: String } => "nothing was received{hindrance}";
        "setting-changed": SettingChanged { now: Box<Difference> } => "{now}";
        "setting-failed": SettingFailed { why: String } => "{why}";
        "no-answer": NoAnswer { text: String } => "{text}";
        "told": Told { text: String } => "{text}";
    }
}

impl Failure {
    /// Returns a failure in the words of an agent, an engine or the kernel.
    pub fn told(text: impl Into<String>) -> Self {
        Self::Told { text: text.into() }
    }

    /// Returns whether a setting of the machine could not be changed, or did not stay changed.
    pub(crate) fn is_of_setting(&self) -> bool {
        matches!(
            self,
            Self::SettingChanged { .. } | Self::SettingFailed { .. }
        )
    }

    /// Returns whether threads that other programs kept from running may be why the case failed.
    pub(crate) fn may_be_starved(&self) -> bool {
        !self.is_of_setting() && !matches!(self, Self::CountsDiffer { .. } | Self::Told { .. })
    }
}

sentences! {
    /// Reason why a sweep ended before it was complete.
    #[derive(Default, Eq)]
    pub enum Interruption {
        // The program was killed, the power failed, or the sweep goes on.
        "unknown": #[default] Unknown => "the log ends before the case does";
        "signal": Signal => "ended by a signal";
        "other-host": Lost { why: String } => "the other host is gone: {why}";
    }
}
