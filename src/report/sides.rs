//! Section of a `udpbench ab` comparison: the setups of A and B, and the changes from A to B.

use maud::{Markup, html};

use super::changes::{self, Row, what};
use super::comparison::legend_of;
use crate::experiment::ab::header::Setup;
use crate::experiment::ab::table::{counts, legend, notes, told};
use crate::experiment::ab::{Judgement, Question, Record, Side, judge};
use crate::verdict::compare::table::{Detail, value};
use crate::verdict::compare::{By, Threshold, place};

/// Returns the results, by speed and by CPU time.
pub(super) fn found(record: &Record) -> Markup {
    let judged = [By::Speed, By::Cpu].map(|by| {
        let threshold = Threshold::default();
        judge(record, Question { by, threshold })
    });
    html! {
        (setups(record))
        (summary(&judged))
        @for judgement in &judged {
            h3 { (what(judgement.question.by)) }
            (engines(judgement))
            (cases(judgement))
            (legend_of(&legend(record.header(), judgement)))
        }
        @for note in all_notes(record, &judged) { p .bad { (note) } }
    }
}

/// Returns a table of the setups of A and B.
fn setups(record: &Record) -> Markup {
    html! {
        .scroll tabindex="0" role="region" aria-label="Sides" {
            table .words {
                caption { "Sides" }
                thead {
                    tr { @for name in ["side", "program", "version", "options", "command before it"] { th scope="col" { (name) } } }
                }
                tbody { @for side in Side::BOTH { (setup(side, record.header().setup(side))) } }
            }
        }
    }
}

fn setup(side: Side, setup: &Setup) -> Markup {
    html! {
        tr {
            th scope="row" { (side) }
            td { (setup.name()) }
            td { (setup.version) }
            td { code { (setup.options.join(" ")) } }
            td { code { (setup.before.as_deref().unwrap_or_default()) } }
        }
    }
}

/// Returns the result in one sentence for speed and one for CPU time.
fn summary(judged: &[Judgement]) -> Markup {
    let is_worse = judged.iter().any(Judgement::is_worse);
    let rounds = judged.iter().map(|judgement| judgement.rounds).max();
    html! {
        p .advice .worse[is_worse] .plain[!is_worse] {
            b { "B against A, " (rounds.unwrap_or_default()) " rounds." }
            @for judgement in judged { " " (what(judgement.question.by)) ": " (counts(judgement)) "." }
        }
    }
}

/// Returns the changes of each engine and of its most informative parts, and a collapsed table of all parts.
fn engines(judgement: &Judgement) -> Markup {
    let by = judgement.question.by;
    let rows = |parts| -> Vec<Row> {
        let told = told(judgement, parts).map(|(label, part, answer)| Row {
            label: match part {
                None => label.to_owned(),
                Some(part) => format!("{label}, {}", place(&[part])),
            },
            change: answer.change,
            verdict: &answer.verdict,
            more: vec![answer.cases.to_string()],
        });
        told.collect()
    };
    let (telling, all) = (rows(Detail::Changes), rows(Detail::All));
    html! {
        (changes::engines(by, "each engine over all its cases", &["cases"], &telling))
        @if all.len() > telling.len() { (changes::parts(by, &["cases"], &all)) }
    }
}

fn cases(judgement: &Judgement) -> Markup {
    let rows = judgement.cases.iter().map(|case| Row {
        label: case.key.clone(),
        change: case.answer.change,
        verdict: &case.answer.verdict,
        more: [case.a, case.b].map(value).into(),
    });
    let rows: Vec<Row> = rows.collect();
    changes::cases(judgement.question.by, &["A", "B"], &rows)
}

/// Returns the distinct notes on the limits of the numbers.
fn all_notes(record: &Record, judged: &[Judgement]) -> Vec<String> {
    let notes = judged.iter().map(|judgement| notes(record, judgement));
    let mut lines: Vec<String> = Vec::new();
    for line in notes.collect::<String>().lines() {
        if !line.is_empty() && !lines.iter().any(|known| known == line) {
            lines.push(line.to_owned());
        }
    }
    lines
}
