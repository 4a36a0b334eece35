//! Grade of the rate that a search has found.

use std::time::Duration;

use super::super::header::{Header, Question};
use super::super::lossless::Lossless;
use super::super::{Record, Searched};
use crate::is_debug;
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
    pub(super) fn name(self, record: &Record) -> &'static str {
        match self {
            _ if is_slowed(record.header()) => "poor",
            Self::Good => "good",
            Self::Wide | Self::Unsteady => "fair",
            Self::Doubtful | Self::Unfinished | Self::UnfinishedAndUnsteady => "poor",
        }
    }

    /// Returns the reasons of the grade. Empty: the quality is good.
    pub(super) fn reasons(self, record: &Record) -> String {
        let slowed = "not the speed of a board: emulated, or a debug build";
        let slowed = is_slowed(record.header()).then_some(slowed);
        let reasons: Vec<&str> = slowed.into_iter().chain(self.why()).collect();
        reasons.join("; ")
    }

    /// Returns what happened in this search. `None`: nothing.
    fn why(self) -> Option<&'static str> {
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

    /// Returns the lines of the next step, the last of which is a command. Empty: the quality is good.
    pub(super) fn fix(self, record: &Record) -> Vec<String> {
        let quiet = "fix the CPU clock and stop other programs (udpbench check), and search again";
        match self {
            Self::Good => Vec::new(),
            Self::Wide => longer_recheck(record),
            Self::Unfinished => again(record, "search again for longer", Some(more_time(record))),
            Self::Unsteady | Self::Doubtful => again(record, quiet, None),
            Self::UnfinishedAndUnsteady => again(record, quiet, Some(more_time(record))),
        }
    }
}

/// Returns whether no rate is the speed of a board.
pub(super) fn is_slowed(header: &Header) -> bool {
    let is_board = !header.host.compatible.is_empty();
    let is_emulated = header.host.virtualization.is_some() && is_board;
    is_debug(&header.environment.version) || is_emulated
}

fn more_time(record: &Record) -> (&'static str, String) {
    let limit = duration::text(record.enough_time());
    ("--max-case-time", limit)
}

fn longer_recheck(record: &Record) -> Vec<String> {
    let Question::Lossless(asked) = record.header().question else {
        return Vec::new();
    };
    let longer = duration::text((asked.recheck * 4).max(SHORT_RECHECK));
    let changed = Some(("--recheck", longer));
    again(record, "search again for longer", changed)
}

/// Returns a step with the command that searches again, with an option that changes.
fn again(record: &Record, what: &str, changed: Option<(&str, String)>) -> Vec<String> {
    let typed = CommandLine(&record.header().command_line);
    if !typed.has("find") {
        let changed = changed.map(|(flag, value)| format!(" with {flag} {value}"));
        return vec![what.to_owned() + &changed.unwrap_or_default()];
    }
    vec![format!("{what}:"), typed.again(changed.as_slice())]
}
