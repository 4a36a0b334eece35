//! Tables: those of the terminal as HTML and what went wrong.

use std::cmp::Reverse;

use maud::{Markup, html};

use crate::results::files::Results;
use crate::results::row::Status;
use crate::term::escape;
use crate::term::table::{Columns, Table};
use crate::verdict::grouped;

/// Cases named for a reason, at most. The rows have all.
const MOST_NAMED: usize = 3;

/// Returns a table.
pub(super) fn table(caption: &str, table: &Table) -> Markup {
    let headings: Vec<(String, bool)> = table.headings().collect();
    let class = |n: usize| {
        let (_, is_number) = headings.get(n)?;
        (!is_number).then_some("text")
    };
    html! {
        .scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead {
                    tr {
                        @for (n, (name, _)) in headings.iter().enumerate() {
                            th class=[class(n)] scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for row in table.rows() {
                        tr {
                            @for (n, cell) in row.iter().enumerate() {
                                @if n == 0 { th scope="row" { (cell) } } @else { td class=[class(n)] { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns each distinct reason with its cases. `None`: every case was measured.
pub(super) fn reasons(file: &Results) -> Option<Markup> {
    let rows = file.rows.iter().filter(|row| row.status != Status::Ok);
    let reasons = grouped(rows.map(|row| {
        let reason = escape::line(&row.reason.to_string()).into_owned();
        ((row.status.to_string(), reason), row.case.key())
    }));
    let columns = Columns::<((String, String), Vec<String>)>::default()
        .word("status", |((status, _), _)| status.clone())
        .number("cases", |(_, cases)| cases.len().to_string())
        .word("reason", |((_, reason), _)| reason.clone())
        .text("such as", |(_, cases)| {
            cases[..cases.len().min(MOST_NAMED)].join(", ")
        });
    let found = columns.table(reasons);
    (!found.is_empty()).then(|| table("Cases that were not measured", &found))
}

/// Returns each distinct warning with the number of its cases, the most frequent first. `None`: no case has one.
pub(super) fn warnings(file: &Results) -> Option<Markup> {
    let warnings = file.rows.iter().flat_map(|row| &row.warnings);
    let warnings = warnings.map(|it| (escape::line(&it.to_string()).into_owned(), ()));
    let mut warnings = Vec::from_iter(grouped(warnings));
    warnings.sort_by_key(|(_, cases)| Reverse(cases.len()));
    let columns = Columns::<(String, Vec<()>)>::default()
        .number("cases", |(_, cases)| cases.len().to_string())
        .text("warning", |(warning, _)| warning.clone());
    let found = columns.table(warnings);
    (!found.is_empty()).then(|| table("Warnings, and in how many cases", &found))
}
