//! Charts and tables of changes, with intervals and verdicts: between files, and between A and B.

mod forest;

use std::collections::BTreeSet;

use maud::{Markup, html};

use self::forest::forest;
use super::chart::key;
use super::number;
use crate::verdict::judge::percent::{estimate, interval};
use crate::verdict::judge::table::{Detail, largest_first, told, value};
use crate::verdict::judge::{Answer, By, Case, Judgement, Part, Verdict};

/// Returns the heading of this kind of changes.
pub(super) fn what(by: By) -> &'static str {
    match by {
        By::Speed => "Speed",
        By::Cpu => "CPU time",
    }
}

/// Engine or part of it, with what was found.
struct Row<'a> {
    engine: &'a str,
    part: Option<Part>,
    answer: &'a Answer,
}

/// Maximum number of cases in a table that is not folded.
const MOST_CASES: usize = 12;

/// Maximum number of lines of a chart with all parts. With more, only the parts that differ most are drawn.
const MOST_LINES: usize = 40;

/// Returns the engines, the largest change first, each followed by its parts.
fn rows(judgement: &Judgement, detail: Detail) -> Vec<Row<'_>> {
    let mut engines: Vec<Vec<Row>> = Vec::new();
    for (label, part, answer) in told(judgement, detail) {
        let row = Row {
            engine: label,
            part,
            answer,
        };
        match engines.last_mut().filter(|_| part.is_some()) {
            Some(engine) => engine.push(row),
            None => engines.push(vec![row]),
        }
    }
    let change = |engine: &[Row]| {
        let change = engine.first().and_then(|row| row.answer.change);
        change.map_or(f64::NEG_INFINITY, |change| change.estimate)
    };
    engines.sort_by(|one, other| change(other).total_cmp(&change(one)));
    engines.into_iter().flatten().collect()
}

/// Returns the rows of a chart.
fn drawn(judgement: &Judgement) -> Vec<Row<'_>> {
    let all = rows(judgement, Detail::All);
    if all.len() <= MOST_LINES {
        all
    } else {
        rows(judgement, Detail::Changes)
    }
}

/// Returns a forest plot of engines and their parts for each judgement, side by side, and the same in tables.
pub(super) fn engines(judgements: &[&Judgement]) -> Markup {
    let drawn: Vec<(&Judgement, Vec<Row>)> = judgements
        .iter()
        .map(|judgement| (*judgement, drawn(judgement)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    let Some((first, _)) = drawn.first() else {
        return html! { p { "No engine could be judged." } };
    };
    let margin = first.question.threshold.percent();
    html! {
        p .legend {
            "Each line is the interval of this change alone (95 %, or more where ab looks several times), cut off at the edge of the chart. "
            @for verdict in [Verdict::Better, Verdict::Worse, Verdict::Same, Verdict::Unclear] {
                @let words = judgements.iter().map(|it| verdict.word(it.question.by)).collect::<BTreeSet<_>>();
                (key(class(&verdict), sign(&verdict), &Vec::from_iter(words).join(" or ")))
            }
            (key("r", "┆", "no change"))
            (key("band", "▮", &format!("within ±{margin} %: does not matter")))
        }
        .facets { @for (judgement, rows) in &drawn { (forest(judgement.question, rows)) } }
        details {
            summary { "The same in tables, with all parts" }
            @for judgement in judgements {
                (of_engines(judgement.question.by, &rows(judgement, Detail::All)))
            }
        }
    }
}

fn of_engines(by: By, rows: &[Row]) -> Markup {
    let caption = format!(
        "{}: each engine over all its cases, and its parts",
        what(by)
    );
    let row = |row: &Row| {
        html! {
            th scope="row" { (row.engine) @if let Some(part) = row.part { ", " (part) } }
            (found(by, row.answer))
            td; (row.answer.cases)
        }
    };
    table(&caption, "engine", &["cases"], rows.iter().map(row))
}

/// Returns a table of the cases that are better, worse or broken, and a collapsed table of all cases. `sides`: their
/// names.
pub(super) fn cases(judgement: &Judgement, sides: [&str; 2]) -> Markup {
    let by = judgement.question.by;
    let [news, all] = [Detail::Changes, Detail::All].map(|detail| largest_first(judgement, detail));
    let [_, better, worse] = by.words();
    let kinds = format!("{better}, {worse} or broken");
    let table = |which: &str, cases: &[&Case]| {
        let caption = format!("{}: {which}, the largest change first", what(by));
        let row = |case: &&Case| {
            html! {
                th scope="row" { (case.key) }
                (found(by, &case.answer))
                @for side in case.values { td; (value(side)) }
            }
        };
        table(&caption, "case", &sides, cases.iter().map(row))
    };
    html! {
        @if news.is_empty() {
            p { "No case is " (kinds) "." }
        } @else if news.len() > MOST_CASES {
            details {
                summary { "Cases that are " (kinds) ": " (number::counted(news.len(), "case")) }
                (table(&format!("cases that are {kinds}"), &news))
            }
        } @else {
            (table(&format!("cases that are {kinds}"), &news))
        }
        details {
            summary { "All cases: " (number::counted(all.len(), "case")) }
            (table("all cases", &all))
        }
    }
}

fn table(caption: &str, first: &str, more: &[&str], rows: impl Iterator<Item = Markup>) -> Markup {
    let columns = [first, "verdict", "95 % interval", "change %"];
    html! {
        .scroll tabindex="0" role="region" aria-label=(caption) {
            table .named .rows {
                caption { (caption) }
                thead { tr { @for name in columns.iter().chain(more) { th scope="col" { (name) } } } }
                // HTML does not need the end tags of rows, and there may be thousands.
                tbody { @for row in rows { tr; (row) } }
            }
        }
    }
}

fn found(by: By, answer: &Answer) -> Markup {
    html! {
        td; (said(by, &answer.verdict))
        td; (interval(answer.change))
        td; (estimate(answer.change))
    }
}

/// Returns the verdict with its sign, which distinguishes verdicts without colours.
fn said(by: By, verdict: &Verdict) -> Markup {
    html! {
        span class=(class(verdict)) { span aria-hidden="true" { (sign(verdict)) } " " (verdict.word(by)) }
    }
}

fn sign(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "▲",
        Verdict::Worse => "▼",
        Verdict::Same => "●",
        Verdict::Unclear | Verdict::Undecided(_) => "○",
        Verdict::Broken(_) => "✖",
        Verdict::NotComparable(_) => "–",
    }
}

/// Returns the number of a verdict's colour.
fn class_number(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Better => 3,
        Verdict::Worse | Verdict::Broken(_) => 8,
        Verdict::Same | Verdict::Unclear | Verdict::Undecided(_) | Verdict::NotComparable(_) => 7,
    }
}

fn class(verdict: &Verdict) -> &'static str {
    match class_number(verdict) {
        3 => "c3",
        8 => "c8",
        _ => "c7",
    }
}

/// Returns the lines of a legend as one paragraph.
pub(super) fn legend_of(text: &str) -> Markup {
    html! { p .legend { @for line in text.lines() { (line) " " } } }
}
