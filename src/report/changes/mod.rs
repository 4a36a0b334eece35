//! Charts of changes and tables of changed cases, with intervals and verdicts: between files, and between A and B.

mod forest;

use std::collections::BTreeSet;

use maud::{Markup, html};

use self::forest::forest;
use super::chart::{Look, key};
use super::number::grouped;
use super::table::table;
use crate::term::table::Columns;
use crate::text::digits::counted;
use crate::verdict::judge::table::{Detail, largest_first, told, value};
use crate::verdict::judge::table::{estimate, interval};
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

/// Cases in the table, at most. `udpbench compare --details` prints all.
const MOST_CASES: usize = 12;

/// Returns the engines, the largest change first, each followed by its parts that changed unlike.
fn rows(judgement: &Judgement) -> Vec<Row<'_>> {
    let mut engines: Vec<Vec<Row>> = Vec::new();
    for (label, part, answer) in told(judgement, Detail::Changes) {
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

/// Returns a forest plot of engines and their parts for each judgement, side by side.
pub(super) fn engines(judgements: &[&Judgement]) -> Markup {
    let drawn = judgements
        .iter()
        .map(|judgement| (*judgement, rows(judgement)));
    let drawn: Vec<_> = drawn.filter(|(_, rows)| !rows.is_empty()).collect();
    let Some((first, _)) = drawn.first() else {
        return html! { p { "No engine could be judged." } };
    };
    let margin = first.question.threshold.percent();
    html! {
        p .legend {
            "Each line is the interval of this change alone (95 %, or more where ab looks several times), cut off at the edge of the chart. "
            @for verdict in [Verdict::Better, Verdict::Worse, Verdict::Same, Verdict::Unclear] {
                @let words = judgements.iter().map(|it| verdict.word(it.question.by)).collect::<BTreeSet<_>>();
                (key(&look(&verdict).colour(), look(&verdict).sign, &Vec::from_iter(words).join(" or ")))
            }
            (key("r", "┆", "no change"))
            (key("band", "▮", &format!("within ±{margin} %: does not matter")))
        }
        .facets { @for (judgement, rows) in &drawn { (forest(judgement.question, rows)) } }
    }
}

/// Returns a table of the cases that are better, worse or broken. `sides`: their names.
pub(super) fn cases(judgement: &Judgement, sides: [&'static str; 2]) -> Markup {
    let by = judgement.question.by;
    let news = largest_first(judgement, Detail::Changes);
    let columns = Columns::<&Case>::default()
        .word("case", |case| case.key.clone())
        .word("verdict", |case| case.answer.verdict.word(by).to_owned())
        .number("95 % interval", |case| interval(case.answer.change))
        .number("change %", |case| estimate(case.answer.change))
        .number(sides[0], |case| value(case.values[0]))
        .number(sides[1], |case| value(case.values[1]));
    let [_, better, worse] = by.words();
    let kinds = format!("{better}, {worse} or broken");
    let caption = format!(
        "{}: cases that are {kinds}, the largest change first",
        what(by)
    );
    let more = news.len().saturating_sub(MOST_CASES);
    html! {
        @if news.is_empty() {
            p { "No case is " (kinds) "." }
        } @else {
            (table(&caption, &columns.table(&news[..news.len() - more])))
            @if more > 0 { p { "And " (counted(grouped(more as i128), "more case")) "." } }
        }
    }
}

/// Returns the look of a verdict. Its sign distinguishes verdicts without colours.
fn look(verdict: &Verdict) -> Look {
    Look {
        colour: match verdict {
            Verdict::Better => 3,
            Verdict::Worse | Verdict::Broken(_) => 8,
            _ => 7,
        },
        sign: match verdict {
            Verdict::Better => "▲",
            Verdict::Worse => "▼",
            unclear if unclear.is_unclear() => "○",
            _ => "●",
        },
    }
}

/// Returns the lines of a legend as one paragraph.
pub(super) fn legend_of(text: &str) -> Markup {
    html! { p .legend { @for line in text.lines() { (line) " " } } }
}
