//! Markdown tables in the style of GitHub, for an issue or a README.

use std::fmt::Write as _;

use anstream::adapter::strip_str;

use super::circumstances::{circumstances, distinct};
use super::{Conclusion, table};
use crate::results::row::Row;
use crate::term::escape;
use crate::term::table::Table;

/// Returns the conclusion, the measurement conditions in one line, a table per block, and the remarks on skips, failures
/// and warnings.
pub fn encode(rows: &[Row], conclusion: &Conclusion) -> String {
    let quality = conclusion.quality.as_ref();
    let quality = quality.map(|it| format!("Quality: {}: {}", it.grade, it.because));
    let lines = conclusion.answer.iter().chain(&quality);
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "- {}", escaped(line));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text + &of_machine(rows)
}

/// Returns the results of a search or a comparison: the verdict, and what a terminal shows.
pub fn answers(conclusion: &Conclusion, text: &str) -> String {
    let verdict = conclusion
        .verdict
        .map(|verdict| format!("**{verdict}**\n\n"));
    let text = strip_str(text).to_string();
    format!(
        "{}```text\n{}\n```\n",
        verdict.unwrap_or_default(),
        text.trim_end()
    )
}

fn line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {} |\n", cells.join(" | "))
}

fn of_machine(rows: &[Row]) -> String {
    let mut text = measured_by(rows);
    let measured = table::measured(&rows.iter().collect::<Vec<_>>());
    for block in measured.chunk_by(|one, other| one.block() == other.block()) {
        let heading = table::block_in_words(block[0]);
        let _ = writeln!(text, "\n### {}\n", escaped(&heading));
        cells(
            &mut text,
            &table::columns(block).table(block.iter().copied()),
        );
    }
    for rows in measured.chunk_by(|one, other| one.workload == other.workload) {
        // GitHub keeps line breaks in the text of an issue, so the legend is put on one line.
        let legend = table::legend(rows[0]).trim().replace('\n', " ");
        let _ = writeln!(text, "\n{legend}");
    }
    remarks(&mut text, rows);
    text
}

fn measured_by(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "No rows.\n".to_owned();
    }
    let version = distinct(rows, |row| &row.version).join(" and ");
    // RFC 3339 times in UTC sort in time order.
    let started = distinct(rows, |row| &row.started_at).into_iter().min();
    let started = started.map_or_else(String::new, |time| format!(", started at {time}"));
    let facts = format!(
        "udpbench {version}, {}{started}",
        circumstances(rows, false)
    );
    format!("Measured by {}.\n", escaped(&facts))
}

fn cells(text: &mut String, table: &Table) {
    let (headings, are_numbers): (Vec<String>, Vec<bool>) = table.headings().unzip();
    let rules = are_numbers
        .iter()
        .map(|it| if *it { "---:" } else { "---" });
    *text += &line(headings.into_iter());
    *text += &line(rules.map(str::to_owned));
    for row in table.rows() {
        *text += &line(row.iter().map(|cell| escaped(cell)));
    }
}

fn remarks(text: &mut String, rows: &[Row]) {
    let remarks = table::remarks(rows);
    if !remarks.is_empty() {
        text.push('\n');
    }
    for ((kind, what), count) in remarks {
        let _ = writeln!(text, "- {}, {count} x: {}", escaped(kind), escaped(&what));
    }
}

/// Escapes the characters that have a meaning in Markdown within a line, and control characters of terminals. Line
/// breaks become blanks, because they would end a table cell.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let text = text.replace(['\n', '\r'], " ");
    for letter in escape::line(&text).chars() {
        match letter {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '~' | '&' => {
                safe.extend(['\\', letter]);
            }
            // A zero-width space keeps GitHub from mentioning a user or linking to an issue; a backslash does not.
            '@' | '#' => safe.extend([letter, '\u{200b}']),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;
    use crate::results::row::{Failure, Reason};

    #[test]
    fn what_markdown_would_take_for_more_stays_text() {
        let row = Row {
            reason: Reason::Failed(Failure::told("a|b\n*c* `d` <e>")),
            ..ordinary_row()
        };
        let text = encode(&[row], &Conclusion::default());
        assert!(text.contains(r"a\|b \*c\* \`d\` \<e>"), "{text}");
    }

    #[test]
    fn every_line_of_a_table_has_the_same_number_of_cells() {
        let mut rows = [ordinary_row(), ordinary_row(), ordinary_row()];
        rows[1].sender = "mmsg".to_owned();
        let text = encode(&rows, &Conclusion::default());
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(lines.len(), 5);
        for line in lines {
            assert_eq!(
                line.matches(" |").count(),
                table::columns(&[&rows[0]]).cells(&rows[0]).len(),
                "{line}"
            );
        }
    }

    #[test]
    fn without_rows_it_says_so() {
        assert_eq!(encode(&[], &Conclusion::default()), "No rows.\n");
    }
}
