//! Section of published results of others, next to the sweeps of a suite.

use maud::{Markup, html};

use super::table::table;
use crate::experiment::suite::{PublishedComparison, Suite, Swept, beside, sources};
use crate::results::files::Results;

/// Returns the tables of a suite. `None`: nothing has been published.
pub(super) fn tables(suite: &Suite, files: &[Results]) -> Option<Markup> {
    let sweeps: Vec<Swept> = files.iter().map(|file| file.rows.as_slice()).collect();
    let tables = beside(suite, &sweeps);
    (!tables.is_empty()).then(|| html! { @for table in &tables { (of_one(table)) } })
}

fn of_one(beside: &PublishedComparison) -> Markup {
    let published = beside.published;
    html! {
        h3 { (published.title) }
        p { (sources(published)) "." }
        (table(&published.title, &beside.table))
        @if !published.note.is_empty() { p { (published.note) } }
    }
}
