//! Verdicts in words.

use super::{By, Obstacle};

/// Verdict on a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Faster or cheaper: surely by more than the threshold.
    Better,
    /// Slower or dearer: surely by more than the threshold.
    Worse,
    /// Change surely below the threshold.
    Same,
    /// Possible change: the interval is too wide to tell.
    Unclear,
    /// Possible change that more of the same would not tell, with the reason: a busy machine, it may be another engine's,
    /// or nothing shows by how much results differ by chance.
    Undecided(Obstacle),
    /// Failure of a case that worked before, with the reason.
    Broken(Obstacle),
    /// Results that must not or cannot be compared, with the reason.
    NotComparable(Obstacle),
}

impl Verdict {
    /// Returns the word for the verdict.
    pub fn word(&self, by: By) -> &'static str {
        match (self, by) {
            (Self::Better, By::Speed) => "faster",
            (Self::Better, By::Cpu) => "cheaper",
            (Self::Worse, By::Speed) => "slower",
            (Self::Worse, By::Cpu) => "dearer",
            (Self::Same, _) => "same",
            (Self::Unclear | Self::Undecided(_), _) => "unclear",
            (Self::Broken(_), _) => "broken",
            (Self::NotComparable(_), _) => "not comparable",
        }
    }

    /// Returns the reason, if the verdict has one.
    pub fn reason(&self) -> Option<&Obstacle> {
        match self {
            Self::Broken(reason) | Self::Undecided(reason) | Self::NotComparable(reason) => {
                Some(reason)
            }
            _ => None,
        }
    }

    /// Returns whether the verdict is shown in a list of changes: better, worse or broken.
    pub fn is_news(&self) -> bool {
        matches!(self, Self::Better | Self::Worse | Self::Broken(_))
    }

    /// Returns whether the verdict is worse or broken.
    pub fn is_bad(&self) -> bool {
        matches!(self, Self::Worse | Self::Broken(_))
    }

    /// Returns whether the verdict is unclear, with a reason or without.
    pub fn is_unclear(&self) -> bool {
        matches!(self, Self::Unclear | Self::Undecided(_))
    }

    /// Returns whether there was something to judge: every verdict but `NotComparable`.
    pub fn was_judged(&self) -> bool {
        !matches!(self, Self::NotComparable(_))
    }
}
