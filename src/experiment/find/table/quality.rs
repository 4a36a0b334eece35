//! Grade of the results that a search has found, and the next step.

use std::fmt::Write as _;
use std::time::Duration;

use super::super::header::{FindHeader, SearchQuestion};
use super::super::lossless::Lossless;
use super::super::{Record, Search, SearchedCase};
use super::{labelled, searched};
use crate::is_debug;
use crate::results::command_line::CommandLine;
use crate::text::duration;

/// Half of an interval's width, in percent of the rate, up to which its quality is `good`.
const GOOD_PCT: f64 = 3.0;
/// Shortest time of rechecks that is advised.
const SHORT_RECHECK: Duration = Duration::from_secs(60);

/// A reason not to trust the rate of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    /// Both ends share this CPU.
    SharedCpu(usize),
    /// A debug build, or an emulated board.
    Slowed,
    /// Other programs spoiled many trials.
    Disturbed,
    /// Trials contradict each other.
    Contradicted,
    /// The machine was not equally fast throughout.
    Unsteady,
    /// The time limit was too short.
    Unfinished,
    /// The search is complete, but its interval is wide.
    Wide,
}

impl Flaw {
    fn in_words(self) -> String {
        let words = match self {
            Self::SharedCpu(cpu) => return format!("both ends share CPU {cpu}"),
            Self::Slowed => "not the speed of a board: emulated, or a debug build",
            Self::Disturbed => "other programs disturbed it",
            Self::Contradicted => "trials contradict each other",
            Self::Unsteady => "the machine was not equally fast throughout",
            Self::Unfinished => "not finished",
            Self::Wide => "the interval is wide or has no end",
        };
        words.to_owned()
    }
}

/// Trust in the result of a case: the reasons against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RateQuality(Vec<Flaw>);

impl RateQuality {
    /// Grades the result of a case. Of other searches than for rates, only a shared CPU is judged.
    pub(super) fn of(record: &Record, case: &SearchedCase) -> Self {
        let shared = record.header.shared_cpu(&case.case).map(Flaw::SharedCpu);
        let mut doubts: Vec<Flaw> = shared.into_iter().collect();
        let Search::Lossless(search) = &case.search else {
            return Self(doubts);
        };
        let is_finished = case.next().is_none();
        let is_disturbed = case.doubt().map(|doubt| doubt.is_disturbance);
        // Ends that share a CPU are reason enough for contradictions, unsteadiness and wide intervals.
        let is_apart = shared.is_none();
        let is_steady = search.load_search.is_steady();
        let is_judged = is_apart && is_finished;
        let others = [
            (Flaw::Slowed, is_slowed(&record.header)),
            (Flaw::Disturbed, is_disturbed == Some(true)),
            (Flaw::Contradicted, is_apart && is_disturbed == Some(false)),
            (Flaw::Unsteady, is_apart && !is_steady),
            (Flaw::Unfinished, !is_finished),
            (Flaw::Wide, is_judged && is_steady && is_wide(search)),
        ];
        let others = others.into_iter().filter(|(_, is_so)| *is_so);
        doubts.extend(others.map(|(doubt, _)| doubt));
        Self(doubts)
    }

    /// Returns the word for the grade.
    pub(super) fn name(&self) -> &'static str {
        let is_fair =
            |doubt: &Flaw| matches!(doubt, Flaw::SharedCpu(_) | Flaw::Unsteady | Flaw::Wide);
        match &self.0[..] {
            [] => "good",
            doubts if doubts.iter().all(is_fair) => "fair",
            _ => "poor",
        }
    }
}

/// Returns the closing lines: the quality, and the next step. Empty: no case is searched, or it was for no rate, and no
/// ends share a CPU.
pub(super) fn quality_and_next(record: &Record) -> String {
    let names = record.names();
    // Grades, in the order of the first cases that have them.
    let mut grades: Vec<(RateQuality, Vec<String>)> = Vec::new();
    for case in searched(record) {
        let (quality, name) = (RateQuality::of(record, case), names.name(&case.case));
        match grades.iter_mut().find(|(other, _)| *other == quality) {
            Some((_, names)) => names.push(name),
            None => grades.push((quality, vec![name])),
        }
    }
    let are_several = grades.len() > 1;
    if !matches!(record.header.question, SearchQuestion::Lossless(_)) {
        grades.retain(|(quality, _)| !quality.0.is_empty());
    }
    let graded = grades.iter().map(|(quality, names)| {
        let mut line = quality.name().to_owned();
        if are_several {
            let _ = write!(line, " ({})", names.join("; "));
        }
        let reasons = quality.0.iter().map(|doubt| doubt.in_words());
        let reasons = reasons.collect::<Vec<String>>().join("; ");
        let gap = if reasons.is_empty() { "" } else { ": " };
        line + gap + &reasons
    });
    let mut text = String::new();
    labelled(&mut text, "quality", graded);
    // The command that resumes an interrupted search follows, and is its only next step.
    if !record.is_interrupted {
        let doubts: Vec<Flaw> = grades.iter().flat_map(|it| it.0.0.clone()).collect();
        labelled(&mut text, "next", next(record, &doubts));
    }
    text
}

/// Returns the lines of the next step of searches with these doubts, in which a command has a line of its own. Empty:
/// there is no doubt.
fn next(record: &Record, doubts: &[Flaw]) -> Vec<String> {
    let is_any = |wanted: &[Flaw]| doubts.iter().any(|doubt| wanted.contains(doubt));
    let header = &record.header;
    let typed = CommandLine(&header.run.command_line);
    let (mut lines, mut changes) = (Vec::new(), Vec::new());
    let mut again = None;
    if is_any(&[Flaw::Slowed]) {
        lines.push("run a release build on the board itself (cargo build --release)".to_owned());
    }
    if is_any(&[Flaw::Unfinished, Flaw::Wide]) {
        again = Some("search again for longer");
    }
    if is_any(&[Flaw::Disturbed, Flaw::Contradicted, Flaw::Unsteady]) {
        lines.push("stop what else runs, and mend what this names:".to_owned());
        lines.extend(typed.checks());
        again = Some("then search again");
    }
    if doubts.iter().any(|it| matches!(it, Flaw::SharedCpu(_))) {
        match header.plan.pin_apart(&header.environment.host.cpus) {
            Ok(pin) => {
                changes.push(("--pin", pin.to_string()));
                again = Some("search again with a CPU for each end");
            }
            Err(instead) => lines.push(instead.to_owned()),
        }
    }
    let Some(again) = again else {
        return lines;
    };
    let mut rechecks = Duration::ZERO;
    if let (true, SearchQuestion::Lossless(asked)) = (is_any(&[Flaw::Wide]), header.question) {
        let recheck = (asked.recheck * 4).max(SHORT_RECHECK);
        changes.push(("--recheck", duration::text(recheck)));
        // Each of the two bounds is tried again for that long.
        rechecks = 3 * recheck;
    }
    if is_any(&[Flaw::Unfinished]) || rechecks > header.max_time {
        let limit = header.enough_time().max(rechecks);
        changes.push(("--max-case-time", duration::text(limit)));
    }
    if typed.has("find") {
        lines.extend([format!("{again}:"), typed.again(&changes)]);
    } else {
        let changes = changes.iter();
        let changes = changes.map(|(flag, value)| format!(" {flag} {value}"));
        lines.push(again.to_owned() + &changes.collect::<String>());
    }
    lines
}

/// Returns whether no rate is the speed of a board.
fn is_slowed(header: &FindHeader) -> bool {
    let is_board = !header.environment.host.compatible.is_empty();
    let is_emulated = header.environment.host.virtualization.is_some() && is_board;
    is_debug(&header.environment.host.build.version) || is_emulated
}

fn is_wide(search: &Lossless) -> bool {
    let found = search.found();
    let (low, high) = found.interval;
    let ends = low.zip(high).zip(found.load);
    ends.is_none_or(|((low, high), load)| {
        50.0 * (f64::from(high) - f64::from(low)) > GOOD_PCT * f64::from(load)
    })
}
