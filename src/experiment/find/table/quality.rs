//! Grade of the rate that a search has found.

use std::time::Duration;

use super::super::header::Question;
use super::super::lossless::Lossless;
use super::super::{Record, Searched};
use crate::results::command_line::CommandLine;
use crate::term::duration;

/// Half of an interval's width, in percent of the rate, up to which its quality is `good`.
const GOOD_PCT: f64 = 3.0;
/// Shortest time of rechecks that is advised.
const SHORT_RECHECK: Duration = Duration::from_secs(60);

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

    /// Returns the reason of the grade. `None`: the quality is good.
    pub(super) fn why(self) -> Option<&'static str> {
        Some(match self {
            Self::Good => return None,
            Self::Wide => "the interval is wide or has no end",
            Self::Unsteady => "the machine was not equally fast throughout",
            Self::Doubtful => "other programs disturbed it, or trials contradict each other",
            Self::Unfinished => "not finished",
            Self::UnfinishedAndUnsteady => {
                "not finished, and the machine was not equally fast throughout"
            }
        })
    }

    /// Returns the next step. `None`: the quality is good.
    pub(super) fn fix(self, record: &Record) -> Option<String> {
        let fixed = match self {
            Self::Good => return None,
            Self::Wide => return Some(longer_recheck(record)),
            Self::Unfinished => return Some(more_time(record)),
            Self::Unsteady => {
                "fix the CPU clock and stop other programs (udpbench check), search again"
            }
            Self::Doubtful => "stop what else runs (udpbench check), search again",
            Self::UnfinishedAndUnsteady => {
                "fix the CPU clock and stop other programs (udpbench check), then continue with --resume"
            }
        };
        Some(fixed.to_owned())
    }
}

fn more_time(record: &Record) -> String {
    let limit = duration::text(record.enough_time());
    again(
        record,
        "continue with --resume, or search again",
        ("--max-case-time", limit),
    )
}

fn longer_recheck(record: &Record) -> String {
    let Question::Lossless(asked) = record.header().question else {
        return String::new();
    };
    let longer = duration::text((asked.recheck * 4).max(SHORT_RECHECK));
    again(record, "search again for longer", ("--recheck", longer))
}

/// Returns a step with the command that searches again with an option.
fn again(record: &Record, what: &str, (flag, value): (&str, String)) -> String {
    let typed = CommandLine(&record.header().command_line);
    if !typed.has("find") {
        return format!("{what} with {flag} {value}");
    }
    format!("{what}: {}", typed.again(&[(flag, value)]))
}
