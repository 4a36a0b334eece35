//! Reason of the status of a row.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::refusals::Refusals;
use super::warning::calls_failed;
use crate::host::tuning::Difference;
use crate::term::escape;
use crate::text::digits::counted;
use crate::text::sentences;

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
    /// Returns the code of a reason that every skipped case has.
    const SKIPPED: &'static str = "cannot-run";

    /// Returns the codes of all reasons.
    pub fn codes() -> Vec<&'static str> {
        [&[Self::SKIPPED], Failure::CODES, Interruption::CODES].concat()
    }

    /// Returns the code of the reason, which stays when its words change. `None`: the row is `ok`.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Skipped(_) => Some(Self::SKIPPED),
            Self::Failed(failure) => Some(failure.code()),
            Self::Interrupted(interruption) => Some(interruption.code()),
        }
    }

    /// Returns the sentence as one line, with control characters escaped.
    pub fn line(&self) -> String {
        escape::line(&self.to_string()).into_owned()
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
    /// Reason why a case failed.
    pub enum Failure {
        "counts-differ": CountsDiffer { windows: usize, datagrams: u64 } =>
            "packet counts do not add up in {}: {} unaccounted for",
            counted(*windows, "window"),
            counted(*datagrams, "datagram");
        "starved": Starved { why: String } => "starved and left datagrams unread: {why}";
        "nothing-due": NothingDue { hindrance: Hindrance } =>
            "nothing was sent: no burst was due in a window; use a longer --duration or a higher --rate{hindrance}";
        "nothing-sent": NothingSent { hindrance: Hindrance } => "nothing was sent{hindrance}";
        "nothing-in-windows": NothingInWindows { hindrance: Hindrance } =>
            "nothing sent in the windows was received{hindrance}";
        "nothing-received": NothingReceived { hindrance: Hindrance } => "nothing was received{hindrance}";
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

/// What the kernel said to the calls of a case that moved nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hindrance {
    pub(super) refusals: Option<Refusals>,
    pub(super) failed_calls: u64,
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.refusals, self.failed_calls) {
            (Some(refusals), _) => write!(f, ": {refusals}"),
            (None, 0) => Ok(()),
            (None, calls) => write!(f, ": {}", calls_failed(calls)),
        }
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
