//! Results for people, in the width of the terminal.

use std::fmt::{Display, Write as _};

use super::header::SearchQuestion;
use super::{Record, SearchedCase};
use crate::results::command_line::CommandLine;
use crate::term::fold;
use crate::term::table::Table;
use crate::text::digits::{counted, counted_with_verb};

mod axis;
mod loads;
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
    let mut legend = String::new();
    let shared = record.names().shared();
    if !shared.is_empty() && searched(record).next().is_some() {
        legend = format!("\nin all cases: {shared}\n");
    }
    let (mut measured, mut answer) = (String::new(), String::new());
    let table = match record.header.question {
        SearchQuestion::Lossless(asked) => {
            legend += &loads::legend(asked);
            answer = loads::answer(record);
            loads::table(record)
        }
        SearchQuestion::Axis(asked) => {
            legend += &axis::legend(asked);
            measured = axis::curves(record, asked);
            axis::table(record, asked)
        }
        SearchQuestion::Burst(asked) => {
            legend += &loads::legend_of_trains(asked);
            loads::table(record)
        }
    };
    SearchReport {
        table,
        measured,
        answer: answer + &quality::quality_and_next(record),
        legend,
        notes: notes(record),
    }
}

impl SearchReport {
    /// Draws the results for a terminal of `width` columns.
    pub fn draw(&self, width: u16) -> String {
        let fold = |text: &str| fold::text(text, width.into());
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

/// Returns the cases that are searched.
fn searched(record: &Record) -> impl Iterator<Item = &SearchedCase> {
    let cases = record.cases.iter();
    cases.filter(|case| case.refusal.is_none())
}

/// Adds lines, the first of which has the label.
fn labelled(text: &mut String, label: &str, lines: impl IntoIterator<Item = impl Display>) {
    for (n, line) in lines.into_iter().enumerate() {
        let label = if n == 0 { label } else { "" };
        let _ = writeln!(text, "{label:<8}  {line}");
    }
}

/// Returns the value, or a dash if it is unknown.
fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Returns the mark of a result that the notes call unsure.
fn mark(case: &SearchedCase) -> &'static str {
    if case.doubt().is_some() { "?" } else { "" }
}

fn notes(record: &Record) -> String {
    let (names, mut notes) = (record.names(), String::new());
    let checks = CommandLine(&record.header.run.command_line).checks();
    for case in &record.cases {
        let name = names.name(&case.case);
        if let Some(reason) = &case.refusal {
            let _ = writeln!(notes, "\n{name}: {reason}");
        } else if case.next().is_some() {
            let (trials, so_far) = (counted(case.trials, "trial"), loads::so_far(case));
            let _ = writeln!(notes, "\n{name}: not finished after {trials}{so_far}");
        }
        if let Some(doubt) = case.doubt() {
            let _ = writeln!(
                notes,
                "\n?: unsure, {name}: {}. Stop what else runs ({}), and search again.",
                doubt.why,
                checks.join(", ")
            );
        }
    }
    notes += &loads::notes(record);
    notes += &axis::notes(record);
    let repeats = record.repeats.iter();
    if let Some((reason, most)) = repeats.max_by_key(|(_, count)| **count) {
        let all = counted_with_verb(record.repeats.values().sum::<u64>(), "trial");
        let _ = writeln!(
            notes,
            "\n{all} made again, {most} of them: {reason}; the log has all reasons"
        );
    }
    notes
}
