//! Tables of the terminal as HTML.

use maud::{Markup, html};

use crate::term::table::Table;

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
