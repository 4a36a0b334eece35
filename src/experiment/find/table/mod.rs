//! Results for people, in the width of the terminal.

use std::fmt::{Display, Write as _};

use super::header::Question;
use super::mlr::Found as Bounds;
use super::names::Names;
use super::repeats::Repeats;
use super::{Record, Search, Searched};
use crate::term::fold;
use crate::term::table::Table;
use crate::text::digits::counted;

mod axis;
mod burst;
mod lossless;
mod quality;

/// Results of a search: a table and its explanations.
#[derive(Clone, Debug)]
pub struct SearchReport {
    /// Table of the findings.
    pub table: Table,
    /// Other measurements, in sentences. May be empty.
    pub measured: String,
    /// Explanation of the columns.
    pub legend: String,
    /// Cases without a result, with the reason, and doubts.
    pub notes: String,
    /// Closing lines: the answer, its quality and the next step. May be empty.
    pub answer: String,
}

/// Returns the results of a search.
pub fn answers(record: &Record) -> SearchReport {
    let (header, names) = (record.header(), record.names());
    let (table, legend) = match header.question {
        Question::Lossless(asked) => (lossless::table(record), lossless::legend(record, asked)),
        Question::Axis(asked) => (axis::table(record, asked), axis::legend(asked)),
        Question::Burst(asked) => (burst::table(record), burst::legend(asked)),
    };
    SearchReport {
        table,
        measured: record
            .cases()
            .iter()
            .map(|case| curve_of(case, &names, header.question))
            .collect(),
        answer: match header.question {
            Question::Lossless(_) => lossless::answer(record),
            _ => quality::of_shared_cpus(record),
        },
        legend: shared(&names, record) + &legend,
        notes: notes(record),
    }
}

impl SearchReport {
    /// Draws the results for a terminal of `width` columns. `in_commands` completes the commands in a text.
    pub fn draw(&self, width: u16, in_commands: impl Fn(&str) -> String) -> String {
        let fold = |text: &str| fold::text(&in_commands(text), width.into());
        let mut text = self.table.draw(width.into());
        if !self.table.is_empty() {
            text += &fold(&self.measured);
            text += &fold(&self.legend);
        }
        text += &fold(&self.notes);
        if !self.answer.is_empty() {
            text += "\n";
            text += &fold(&self.answer);
        }
        text
    }
}

/// Returns a line with the settings that all cases share. Empty if there are none, or no case is searched.
fn shared(names: &Names, record: &Record) -> String {
    let shared = names.shared();
    if shared.is_empty() || searched(record).next().is_none() {
        return String::new();
    }
    format!("\nin all cases: {shared}\n")
}

fn curve_of(case: &Searched, names: &Names, question: Question) -> String {
    match (&case.search, question) {
        (Search::Axis(search), Question::Axis(asked)) => {
            axis::curve(&names.name(&case.case), search, asked)
        }
        _ => String::new(),
    }
}

/// Returns the cases that are searched.
fn searched(record: &Record) -> impl Iterator<Item = &Searched> {
    let cases = record.cases().iter();
    cases.filter(|case| case.refusal.is_none())
}

/// Adds lines, the first of which has the label.
fn labelled(text: &mut String, label: &str, lines: impl IntoIterator<Item = impl Display>) {
    for (n, line) in lines.into_iter().enumerate() {
        let label = if n == 0 { label } else { "" };
        let _ = writeln!(text, "{label:<8}  {line}");
    }
}

/// Groups names by what they have in common, in the order of the first ones: ` (std; mmsg)`, or nothing if it is the same
/// for all.
fn grouped<T: PartialEq>(named: impl Iterator<Item = (T, String)>) -> Vec<(T, String)> {
    let mut groups: Vec<(T, Vec<String>)> = Vec::new();
    for (common, name) in named {
        match groups.iter_mut().find(|(of, _)| *of == common) {
            Some((_, names)) => names.push(name),
            None => groups.push((common, vec![name])),
        }
    }
    let are_several = groups.len() > 1;
    let text = |names: Vec<String>| {
        let text = are_several.then(|| format!(" ({})", names.join("; ")));
        text.unwrap_or_default()
    };
    let groups = groups.into_iter();
    groups
        .map(|(common, names)| (common, text(names)))
        .collect()
}

/// Returns the value, or a dash if it is unknown.
fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Returns the mark of a result that the notes call unsure.
fn mark(case: &Searched) -> &'static str {
    if case.doubt().is_some() { "?" } else { "" }
}

fn notes(record: &Record) -> String {
    let (names, mut notes) = (record.names(), String::new());
    for case in record.cases() {
        if let Some(reason) = &case.refusal {
            let _ = writeln!(notes, "\n{}: {reason}", names.name(&case.case));
        } else if case.next().is_some() {
            let _ = writeln!(
                notes,
                "\n{}: not finished after {}{}",
                names.name(&case.case),
                counted(case.trials, "trial"),
                so_far(&case.search)
            );
        }
    }
    for case in record.cases() {
        if let Some(doubt) = case.doubt() {
            let _ = writeln!(
                notes,
                "\n?: unsure, {}: {doubt}. Stop what else runs (udpbench check), and search again.",
                names.name(&case.case)
            );
        }
    }
    notes += &lossless::notes(record);
    notes += &axis::notes(record);
    let repeats = record.cases().iter().map(|case| &case.repeats);
    if let Some(told) = Repeats::told(repeats) {
        let _ = writeln!(notes, "\n{told}");
    }
    notes
}

/// Returns the bounds of a search that is not finished, if it has any.
fn so_far(search: &Search) -> String {
    match search {
        Search::Lossless(search) => lossless::so_far(search),
        Search::Burst(search) => burst::so_far(search),
        Search::Axis(_) => String::new(),
    }
}

/// Returns the bounds of a search for a load that is not finished. `text` returns a load with its unit.
fn bounds_so_far(found: Bounds, text: impl Fn(u32) -> String) -> String {
    match (found.load, found.too_much) {
        (Some(low), Some(high)) if text(low) == text(high) => {
            format!("; so far, not confirmed: about {}", text(low))
        }
        (Some(low), Some(high)) => format!(
            "; so far, not confirmed: from {} to {}",
            text(low),
            text(high)
        ),
        (Some(low), None) => format!("; so far, not confirmed: at least {}", text(low)),
        (None, Some(high)) => format!("; so far, not confirmed: less than {}", text(high)),
        (None, None) => String::new(),
    }
}
