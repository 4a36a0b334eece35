//! What others have published, beside the sweeps of a suite.

use maud::{Markup, html};

use crate::results::Results;
use crate::suite::{Beside, COLUMNS, Suite, Swept, beside, numbers, sources};

/// Its tables. `None`: nothing has been published.
pub(super) fn tables(suite: &Suite, files: &[Results]) -> Option<Markup> {
    let sweeps: Vec<Swept> = files.iter().map(|file| file.rows.as_slice()).collect();
    let tables = beside(suite, &sweeps);
    (!tables.is_empty()).then(|| html! { @for table in &tables { (of_one(table)) } })
}

fn of_one(beside: &Beside) -> Markup {
    let published = beside.published;
    html! {
        h4 { (published.title) }
        p { (sources(published)) "." }
        .scroll tabindex="0" role="region" aria-label=(published.title) {
            table {
                caption { (published.title) }
                thead {
                    tr {
                        @for column in COLUMNS { th scope="col" { (column) } }
                    }
                }
                tbody {
                    @for line in &beside.lines {
                        @for (n, (cell, column)) in line.cells.iter().zip(&published.columns).enumerate() {
                            tr {
                                th scope="row" { @if n == 0 { (line.name) } }
                                th scope="row" { (column) }
                                @for text in numbers(cell) { td { (text) } }
                            }
                        }
                    }
                }
            }
        }
        @if !published.note.is_empty() { p { (published.note) } }
    }
}
