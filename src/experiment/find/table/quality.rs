//! Grade of the results that a search has found, and the next step.

use std::borrow::Cow;
use std::time::Duration;

use super::super::header::{Header, Question};
use super::super::load_search::Doubt as TrialDoubt;
use super::super::lossless::Lossless;
use super::super::{Record, Searched};
use super::{grouped, labelled, searched};
use crate::is_debug;
use crate::results::command_line::CommandLine;
use crate::text::duration;

/// Half of an interval's width, in percent of the rate, up to which its quality is `good`.
const GOOD_PCT: f64 = 3.0;
/// Shortest time of rechecks that is advised.
const SHORT_RECHECK: Duration = Duration::from_secs(60);
/// Next step where both ends share a CPU.
const PINNED: &str = "search again with a CPU for each end";

/// A reason not to trust the rate of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
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

impl Doubt {
    fn in_words(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::SharedCpu(cpu) => return format!("both ends share CPU {cpu}").into(),
            Self::Slowed => "not the speed of a board: emulated, or a debug build",
            Self::Disturbed => "other programs disturbed it",
            Self::Contradicted => "trials contradict each other",
            Self::Unsteady => "the machine was not equally fast throughout",
            Self::Unfinished => "not finished",
            Self::Wide => "the interval is wide or has no end",
        })
    }
}

/// Trust in the rate of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quality(Vec<Doubt>);

impl Quality {
    /// Grades the rate of a case.
    pub(super) fn of(record: &Record, case: &Searched, search: &Lossless) -> Self {
        let is_finished = case.next().is_none();
        let (is_steady, is_wide) = (search.load_search.is_steady(), is_wide(search));
        let shared = record.shared_cpu(&case.case).map(Doubt::SharedCpu);
        let is_disturbed = case.doubt().map(TrialDoubt::is_disturbance);
        let doubts = [
            (Doubt::Slowed, is_slowed(record.header())),
            (Doubt::Disturbed, is_disturbed == Some(true)),
            (Doubt::Contradicted, is_disturbed == Some(false)),
            (Doubt::Unsteady, !is_steady),
            (Doubt::Unfinished, !is_finished),
            (Doubt::Wide, is_finished && is_steady && is_wide),
        ];
        let doubts = doubts.into_iter().filter(|(_, is_so)| *is_so);
        let doubts = doubts.map(|(doubt, _)| doubt);
        Self(shared.into_iter().chain(doubts).collect())
    }

    /// Returns the word for the grade.
    pub(super) fn name(&self) -> &'static str {
        let is_fair =
            |doubt: &Doubt| matches!(doubt, Doubt::SharedCpu(_) | Doubt::Unsteady | Doubt::Wide);
        match &self.0[..] {
            [] => "good",
            doubts if doubts.iter().all(is_fair) => "fair",
            _ => "poor",
        }
    }

    /// Returns the reasons of the grade. Empty: the quality is good.
    pub(super) fn reasons(&self) -> String {
        let reasons: Vec<_> = self.0.iter().map(|doubt| doubt.in_words()).collect();
        reasons.join("; ")
    }

    fn is_shared(&self) -> bool {
        matches!(self.0.first(), Some(Doubt::SharedCpu(_)))
    }
}

/// Returns the lines of the next step of searches with these grades, in which a command has a line of its own. Empty:
/// all are good.
pub(super) fn next<'q>(record: &Record, grades: impl Iterator<Item = &'q Quality>) -> Vec<String> {
    let grades: Vec<&Quality> = grades.collect();
    let is_any = |doubt| grades.iter().any(|it| it.0.contains(&doubt));
    // Ends that share a CPU are reason enough for contradictions, unsteadiness and wide intervals.
    let is_apart = |doubt| {
        grades
            .iter()
            .any(|it| !it.is_shared() && it.0.contains(&doubt))
    };
    let is_odd = is_apart(Doubt::Contradicted) || is_apart(Doubt::Unsteady);
    let is_disturbed = is_any(Doubt::Disturbed) || is_odd;
    let (is_wide, is_unfinished) = (is_apart(Doubt::Wide), is_any(Doubt::Unfinished));
    let mut lines = Vec::new();
    if is_any(Doubt::Slowed) {
        lines.push("run a release build on the board itself (cargo build --release)".to_owned());
    }
    let is_shared = grades.iter().any(|it| it.is_shared());
    let pin = is_shared.then(|| pin_apart(record));
    let pin = pin.and_then(|pin| pin.map_err(|instead| lines.push(instead)).ok());
    if is_disturbed {
        lines.push("stop what else runs, and mend what this names:".to_owned());
        lines.push("udpbench check".to_owned());
    }
    let search_again = match (is_disturbed, &pin) {
        (true, None) => "then search again",
        (true, Some(_)) => "then search again with a CPU for each end",
        (false, Some(_)) => PINNED,
        (false, None) if is_unfinished || is_wide => "search again for longer",
        (false, None) => return lines,
    };
    let recheck = match record.header().question {
        Question::Lossless(asked) if is_wide => Some((asked.recheck * 4).max(SHORT_RECHECK)),
        _ => None,
    };
    // Each of the two bounds is tried again for that long.
    let rechecks = 3 * recheck.unwrap_or_default();
    let is_too_short = is_unfinished || rechecks > record.header().max_time;
    let limit = is_too_short.then(|| record.enough_time().max(rechecks));
    let limit = limit.map(|limit| ("--max-case-time", duration::text(limit)));
    let recheck = recheck.map(|recheck| ("--recheck", duration::text(recheck)));
    let changes = [pin, limit, recheck].into_iter().flatten();
    lines.extend(again(record, search_again, &changes.collect::<Vec<_>>()));
    lines
}

/// Returns the closing lines of a search without grades: the CPUs that both ends share, and the next step. Empty: there
/// are none.
pub(super) fn of_shared_cpus(record: &Record) -> String {
    let names = record.names();
    let cases = searched(record).map(|case| (record.shared_cpu(&case.case), &case.case));
    let named = cases.map(|(cpu, case)| (cpu.map(Doubt::SharedCpu), names.name(case)));
    let doubts = grouped(named).into_iter();
    let doubts = doubts.filter_map(|(doubt, of)| Some(doubt?.in_words().into_owned() + &of));
    let doubts: Vec<String> = doubts.collect();
    let mut text = String::new();
    if doubts.is_empty() {
        return text;
    }
    labelled(&mut text, "quality", doubts);
    // The command that resumes an interrupted search follows, and is its only next step.
    if !record.is_interrupted() {
        let next = match pin_apart(record) {
            Ok(pin) => again(record, PINNED, &[pin]),
            Err(instead) => vec![instead],
        };
        labelled(&mut text, "next", next);
    }
    text
}

/// Returns the option that gives each end CPUs of its own, or what to do on a machine that has too few.
fn pin_apart(record: &Record) -> Result<(&'static str, String), String> {
    let header = record.header();
    let pin = header.plan.pin_apart(&header.environment.host.cpus)?;
    Ok(("--pin", pin.to_string()))
}

/// Returns the lines with the command that searches again with these options.
fn again(record: &Record, what: &str, changes: &[(&str, String)]) -> Vec<String> {
    let typed = CommandLine(&record.header().run.command_line);
    if typed.has("find") {
        return vec![format!("{what}:"), typed.again(changes)];
    }
    let changes = changes
        .iter()
        .map(|(flag, value)| format!(" {flag} {value}"));
    vec![what.to_owned() + &changes.collect::<String>()]
}

/// Returns whether no rate is the speed of a board.
fn is_slowed(header: &Header) -> bool {
    let is_board = !header.environment.host.compatible.is_empty();
    let is_emulated = header.environment.host.virtualization.is_some() && is_board;
    is_debug(&header.environment.host.build.version) || is_emulated
}

fn is_wide(search: &Lossless) -> bool {
    let found = search.found();
    let ends = found.interval.0.zip(found.interval.1);
    let half_pct = ends
        .zip(found.load)
        .map(|((low, high), load)| 50.0 * (f64::from(high) - f64::from(low)) / f64::from(load));
    half_pct.is_none_or(|half| half > GOOD_PCT)
}
