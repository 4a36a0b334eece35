//! Tables and a chart of changes, with intervals and verdicts: between files, and between A and B.

mod picture;

use maud::{Markup, html};

use self::picture::picture;
use super::chart::key;
use super::number;
use crate::verdict::compare::table::{self, Detail, change, interval};
use crate::verdict::compare::{By, Change, Verdict};

/// A line of a table.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    /// An engine, a part of one, or a case.
    pub(super) label: String,
    /// Change. `None`: it could not be computed.
    pub(super) change: Option<Change>,
    pub(super) verdict: &'a Verdict,
    /// Texts of the additional columns.
    pub(super) more: Vec<String>,
}

/// Returns the heading of this kind of changes.
pub(super) fn what(by: By) -> &'static str {
    match by {
        By::Speed => "Speed",
        By::Cpu => "CPU time",
    }
}

/// Returns a chart and a table of engines and their parts. `more`: names of the additional columns.
pub(super) fn engines(by: By, caption: &str, more: &[&str], rows: &[Row]) -> Markup {
    let all: Vec<&Row> = rows.iter().collect();
    html! {
        p .legend {
            "Each line is a 95 % interval, cut off at the edge of the chart. "
            @for verdict in [Verdict::Better, Verdict::Worse, Verdict::Same, Verdict::Unclear] {
                (key(class(&verdict), sign(&verdict), verdict.word(by)))
            }
            (key("r", "┆", "no change"))
        }
        .pair {
            (picture(by, rows))
            (table_of(by, &format!("{}: {caption}", what(by)), "engine", more, &all))
        }
    }
}

/// Returns a collapsed table of the engines and all their parts.
pub(super) fn parts(by: By, more: &[&str], rows: &[Row]) -> Markup {
    let all: Vec<&Row> = rows.iter().collect();
    let caption = format!("{}: each engine and all its parts", what(by));
    html! {
        details {
            summary { "All parts" }
            (table_of(by, &caption, "engine", more, &all))
        }
    }
}

/// Returns a table of the cases that are better, worse or broken, and a collapsed table of all cases.
pub(super) fn cases(by: By, more: &[&str], rows: &[Row]) -> Markup {
    let [news, all] = [Detail::Changes, Detail::All]
        .map(|detail| table::largest_first(rows, detail, |row| (row.change, row.verdict)));
    let words = [Verdict::Better, Verdict::Worse].map(|verdict| verdict.word(by));
    let kinds = format!("{}, {} or broken", words[0], words[1]);
    let table = |which: &str, rows: &[&Row]| {
        let caption = format!("{}: {which}, the largest change first", what(by));
        table_of(by, &caption, "case", more, rows)
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

fn table_of(by: By, caption: &str, first: &str, more: &[&str], rows: &[&Row]) -> Markup {
    let columns = [first, "verdict", "change %", "95 % interval"];
    html! {
        .scroll tabindex="0" role="region" aria-label=(caption) {
            table .named .rows {
                caption { (caption) }
                thead { tr { @for name in columns.iter().chain(more) { th scope="col" { (name) } } } }
                tbody {
                    @for row in rows {
                        // HTML does not need these end tags, and there may be thousands.
                        tr;
                        th scope="row" { (row.label) }
                        td; (said(by, row.verdict))
                        td; (change(row.change))
                        td; (interval(row.change))
                        @for text in &row.more { td; (text) }
                    }
                }
            }
        }
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
        Verdict::Reference | Verdict::NotComparable(_) => "–",
    }
}

fn class(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "c3",
        Verdict::Worse | Verdict::Broken(_) => "c8",
        Verdict::Same | Verdict::Unclear => "c7",
        Verdict::Reference | Verdict::NotComparable(_) => "r",
    }
}
