//! Grade of the rates that a search has found, and the next step.

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

/// A reason not to trust the rate of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    /// A debug build, or an emulated board.
    Slowed,
    /// The trials give a reason for doubt.
    Disturbed,
    /// The machine was not equally fast throughout.
    Unsteady,
    /// The time limit was too short.
    Unfinished,
    /// The search is complete, but its interval is wide.
    Wide,
}

impl Doubt {
    fn in_words(self) -> &'static str {
        match self {
            Self::Slowed => "not the speed of a board: emulated, or a debug build",
            Self::Disturbed => "other programs disturbed it, or trials contradict each other",
            Self::Unsteady => "the machine was not equally fast throughout",
            Self::Unfinished => "not finished",
            Self::Wide => "the interval is wide or has no end",
        }
    }
}

/// Trust in the rate of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quality(Vec<Doubt>);

impl Quality {
    /// Grades the rate of a case.
    pub(super) fn of(record: &Record, case: &Searched, search: &Lossless) -> Self {
        let is_finished = case.next().is_none();
        let (is_steady, is_wide) = (search.is_steady(), is_wide(search));
        let doubts = [
            (Doubt::Slowed, is_slowed(record.header())),
            (Doubt::Disturbed, case.search.doubt().is_some()),
            (Doubt::Unsteady, !is_steady),
            (Doubt::Unfinished, !is_finished),
            (Doubt::Wide, is_finished && is_steady && is_wide),
        ];
        let doubts = doubts.into_iter().filter(|(_, is_so)| *is_so);
        Self(doubts.map(|(doubt, _)| doubt).collect())
    }

    /// Returns the word for the grade.
    pub(super) fn name(&self) -> &'static str {
        let is_fair = |doubt: &Doubt| [Doubt::Unsteady, Doubt::Wide].contains(doubt);
        match &self.0[..] {
            [] => "good",
            doubts if doubts.iter().all(is_fair) => "fair",
            _ => "poor",
        }
    }

    /// Returns the reasons of the grade. Empty: the quality is good.
    pub(super) fn reasons(&self) -> String {
        let reasons: Vec<&str> = self.0.iter().map(|doubt| doubt.in_words()).collect();
        reasons.join("; ")
    }
}

/// Returns the lines of the next step of searches with these grades, in which a command has a line of its own. Empty:
/// all are good.
pub(super) fn next<'q>(record: &Record, grades: impl Iterator<Item = &'q Quality>) -> Vec<String> {
    let doubts: Vec<Doubt> = grades
        .flat_map(|quality| quality.0.iter().copied())
        .collect();
    let is_any = |doubt: Doubt| doubts.contains(&doubt);
    if doubts.is_empty() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if is_any(Doubt::Slowed) {
        lines.push("run a release build on the board itself (cargo build --release)".to_owned());
    }
    let search_again = if is_any(Doubt::Disturbed) || is_any(Doubt::Unsteady) {
        lines.push("stop what else runs, and mend what this names:".to_owned());
        lines.push("udpbench check".to_owned());
        "then search again"
    } else if is_any(Doubt::Unfinished) || is_any(Doubt::Wide) {
        "search again for longer"
    } else {
        return lines;
    };
    let recheck = match record.header().question {
        Question::Lossless(asked) if is_any(Doubt::Wide) => {
            Some((asked.recheck * 4).max(SHORT_RECHECK))
        }
        _ => None,
    };
    // Each of the two bounds is tried again for that long.
    let rechecks = 3 * recheck.unwrap_or_default();
    let is_too_short = is_any(Doubt::Unfinished) || rechecks > record.header().max_time;
    let limit = is_too_short.then(|| record.enough_time().max(rechecks));
    let limit = limit.map(|limit| ("--max-case-time", duration::text(limit)));
    let recheck = recheck.map(|recheck| ("--recheck", duration::text(recheck)));
    let changes: Vec<(&str, String)> = limit.into_iter().chain(recheck).collect();
    let typed = CommandLine(&record.header().command_line);
    if typed.has("find") {
        lines.push(format!("{search_again}:"));
        lines.push(typed.again(&changes));
    } else {
        let changes = changes
            .iter()
            .map(|(flag, value)| format!(" {flag} {value}"));
        lines.push(search_again.to_owned() + &changes.collect::<String>());
    }
    lines
}

/// Returns whether no rate is the speed of a board.
fn is_slowed(header: &Header) -> bool {
    let is_board = !header.host.compatible.is_empty();
    let is_emulated = header.host.virtualization.is_some() && is_board;
    is_debug(&header.environment.version) || is_emulated
}

fn is_wide(search: &Lossless) -> bool {
    let found = search.found();
    let ends = found.interval.0.zip(found.interval.1);
    let half_pct = ends
        .zip(found.load)
        .map(|((low, high), load)| 50.0 * (f64::from(high) - f64::from(low)) / f64::from(load));
    half_pct.is_none_or(|half| half > GOOD_PCT)
}
