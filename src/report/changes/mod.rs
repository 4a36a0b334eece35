//! Tables and a chart of changes, with intervals and verdicts: between files, and between A and B.

mod picture;

use maud::{Markup, html};

use self::picture::picture;
use super::chart::key;
use super::number;
use crate::verdict::judge::percent::{estimate, interval};
use crate::verdict::judge::table::{Detail, largest_first, told, value};
use crate::verdict::judge::{Answer, By, Case, Judgement, Verdict};

/// Returns the heading of this kind of changes.
pub(super) fn what(by: By) -> &'static str {
    match by {
        By::Speed => "Speed",
        By::Cpu => "CPU time",
    }
}

/// Engine, part or case, with what was found.
type Row<'a> = (String, &'a Answer);

/// Returns a chart and a table of engines and their most telling parts, and a collapsed table of all parts.
pub(super) fn engines(judgement: &Judgement) -> Markup {
    let by = judgement.question.by;
    let [telling, all] = [Detail::Changes, Detail::All].map(|detail| -> Vec<Row> {
        let told = told(judgement, detail).map(|(label, part, answer)| match part {
            None => (label.to_owned(), answer),
            Some(part) => (format!("{label}, {part}"), answer),
        });
        told.collect()
    });
    if telling.is_empty() {
        return html! { p { "No engine could be judged." } };
    }
    html! {
        p .legend {
            "Each line is the interval of this change alone (95 %, or more where ab looks several times), cut off at the edge of the chart. "
            @for verdict in [Verdict::Better, Verdict::Worse, Verdict::Same, Verdict::Unclear] {
                (key(class(&verdict), sign(&verdict), verdict.word(by)))
            }
            (key("r", "┆", "no change"))
        }
        .pair {
            (picture(by, &telling))
            (of_engines(by, "each engine over all its cases", &telling))
        }
        @if all.len() > telling.len() {
            details {
                summary { "All parts" }
                (of_engines(by, "each engine and all its parts", &all))
            }
        }
    }
}

fn of_engines(by: By, caption: &str, rows: &[Row]) -> Markup {
    let caption = format!("{}: {caption}", what(by));
    let row = |(label, answer): &Row| {
        html! {
            th scope="row" { (label) }
            (found(by, answer))
            td; (answer.cases)
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
        Verdict::Unclear => "○",
        Verdict::Broken(_) => "✖",
        Verdict::NotComparable(_) => "–",
    }
}

fn class(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "c3",
        Verdict::Worse | Verdict::Broken(_) => "c8",
        Verdict::Same | Verdict::Unclear => "c7",
        Verdict::NotComparable(_) => "r",
    }
}

/// Returns the lines of a legend as one paragraph.
pub(super) fn legend_of(text: &str) -> Markup {
    html! { p .legend { @for line in text.lines() { (line) " " } } }
}
