//! Makes the page about the columns from their table.

use std::fmt::Write as _;
use std::fs;

use super::document;
use crate::common::pages::root;
use udpbench::results::row::Column;

/// `INSTA_UPDATE=always` writes the page anew.
#[test]
fn the_page_about_the_columns_is_made_from_their_table() {
    let mut page = COLUMNS.to_owned();
    let mut section = "";
    let mut columns = Column::ALL.iter().peekable();
    while let Some(column) = columns.next() {
        if column.section != section {
            section = column.section;
            let _ = writeln!(
                page,
                "\n## {section}\n\ncolumn | over | meaning | empty | short"
            );
            page += "---|---|---|---|---\n";
        }
        let mut names = format!("`{}`", column.name);
        let mut doc = column.doc.trim().trim_end_matches('.').to_owned();
        let mut empty = column.empty;
        // One row is enough for an estimate with its bounds, and for equal facts of the other host.
        while let Some(next) =
            columns.next_if(|next| is_bound(column, next) || are_remote(column, next))
        {
            let _ = write!(names, ", `{}`", next.name);
            if are_remote(column, next) {
                "The same of the other host".clone_into(&mut doc);
            }
        }
        if let Some(upper) = columns.next_if(|next| are_bounds(column, next)) {
            let _ = write!(names, ", `{}`", upper.name);
            doc = doc.replacen("Lower bound", "Bounds", 1);
            empty = upper.empty;
        }
        if empty == "never" {
            empty = "";
        }
        let doc = doc.replace("WIRE.md", "[WIRE.md](WIRE.md#fixed-rates)");
        let mut over = column.over.to_lowercase();
        if !column.unit.is_empty() {
            over = format!("{over}, {}", column.unit);
        }
        let line = format!(
            "{names} | {over} | {doc} | {empty} | {}",
            column.short.words
        );
        let line = line.trim_end_matches([' ', '|']);
        let _ = writeln!(page, "{line}");
    }
    let path = root().join("docs/COLUMNS.md");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&path, &page).expect("written");
    }
    assert!(
        document("docs/COLUMNS.md") == page,
        "INSTA_UPDATE=always makes docs/COLUMNS.md"
    );
}

/// Returns whether two columns are the bounds of one interval, so that one row of the page is enough for both.
fn are_bounds(lower: &Column, upper: &Column) -> bool {
    lower.doc.trim().replacen("Lower", "Upper", 1) == upper.doc.trim()
        && upper.empty.starts_with(lower.empty)
        && (lower.short.words, lower.over) == (upper.short.words, upper.over)
}

/// Returns whether a column is a bound of the interval of an estimate, in the same runs and windows.
fn is_bound(estimate: &Column, column: &Column) -> bool {
    let doc = column.doc.trim();
    let name = ["Lower", "Upper"].into_iter().find_map(|side| {
        doc.strip_prefix(side)?
            .strip_prefix(" bound of the interval of `")?
            .strip_suffix("`.")
    });
    name == Some(estimate.name)
        && (column.short.words, column.over) == (estimate.short.words, estimate.over)
}

/// Returns whether both columns say of the other host what columns of this host say.
fn are_remote(first: &Column, second: &Column) -> bool {
    let is_remote = |column: &Column| column.doc.trim().ends_with("` of the other host.");
    is_remote(first)
        && is_remote(second)
        && first.empty == second.empty
        && (first.short.words, first.over) == (second.short.words, second.over)
}

const COLUMNS: &str = "\
# The columns

Every column of a row, made from `src/results/row/columns.rs`. Quantiles of times are right to within 0.4 %. Several
names in one field are joined with `+`.

`_low` and `_high` beside an estimate are the bounds of its interval. They are also empty with one window or pair
(`ratio_to_half`: too few rounds), the upper one of a round trip if that may be unanswered.

*short*: the runs whose CSV has the column; `--columns all` and JSON have all. *varied*: a case has another value than
the usual one.

*over*: what a column covers, and its unit:

- *plan*: what was asked for, mostly by the option of that name.
- *start*: host and program at the start.
- *window*: from the opening to the closing of each window.
- *drain*: datagrams sent from the opening of each window on, until receivers had emptied their queues. Between two
  hosts: those of the whole run.
- *run*: each window with its warm-up and drain.
- *verify*: the windows of `--verify`, which count in no other column.
- *case*: all windows of the case.

*empty*: when a column has no value; where nothing is said, it always has one:

- *no window*: none was measured: the case was skipped, failed, or was interrupted before the first was over.
- *no speed*: the same, or `status` is `failed`.
- *unchecked*: no `--verify`, payload below 12 B, engine `null`, or skipped.
";
