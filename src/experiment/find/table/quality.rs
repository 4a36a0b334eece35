//! Grade of the rate that a search has found.

use super::super::Searched;
use super::super::lossless::Lossless;

/// Half of an interval's width, in percent of the rate, up to which its quality is `good`.
const GOOD_PCT: f64 = 3.0;

/// Trust in the rate of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quality {
    /// The search is complete, nothing disturbed it, and its interval is narrow.
    Good,
    /// The search is complete and undisturbed, but its interval is wide.
    Wide,
    /// The machine was not equally fast throughout.
    Unsteady,
    /// The trials give a reason for doubt.
    Doubtful,
    /// The time limit was too short.
    Unfinished,
    /// The time limit was too short, and the machine was not equally fast throughout.
    UnfinishedAndUnsteady,
}

impl Quality {
    /// Grades the rate of a case.
    pub(super) fn of(case: &Searched, search: &Lossless) -> Self {
        let found = search.found();
        if case.search.doubt().is_some() {
            Self::Doubtful
        } else if case.next().is_some() {
            if search.is_steady() {
                Self::Unfinished
            } else {
                Self::UnfinishedAndUnsteady
            }
        } else if !search.is_steady() {
            Self::Unsteady
        } else {
            let ends = found.interval.0.zip(found.interval.1);
            let half_pct = ends.zip(found.load).map(|((low, high), load)| {
                50.0 * (f64::from(high) - f64::from(low)) / f64::from(load)
            });
            if half_pct.is_some_and(|half| half <= GOOD_PCT) {
                Self::Good
            } else {
                Self::Wide
            }
        }
    }

    /// Returns the word for the grade.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Wide | Self::Unsteady => "fair",
            Self::Doubtful | Self::Unfinished | Self::UnfinishedAndUnsteady => "poor",
        }
    }

    /// Returns the reason of the grade and the next step. `None`: the quality is good.
    pub(super) fn why(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Good => None,
            Self::Wide => Some((
                "the interval is wide or has no end",
                "search again with a longer --recheck",
            )),
            Self::Unsteady => Some((
                "the machine was not equally fast throughout",
                "fix the CPU clock and stop other programs (udpbench check), search again",
            )),
            Self::Doubtful => Some((
                "other programs disturbed it, or trials contradict each other",
                "stop what else runs (udpbench check), search again",
            )),
            Self::Unfinished => Some((
                "not finished",
                "continue with --resume, or give --max-case-time more",
            )),
            Self::UnfinishedAndUnsteady => Some((
                "not finished, and the machine was not equally fast throughout",
                "fix the CPU clock and stop other programs (udpbench check), then continue with --resume",
            )),
        }
    }
}
