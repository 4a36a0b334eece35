//! What a terminal shows, for an issue or a README on GitHub; and the facts about the machines that the rows of a file
//! share.

use anstream::adapter::strip_str;

use super::table::WIDTH;
use super::{Conclusion, table};
use crate::plan::once_each;
use crate::results::row::Row;
use crate::term::{escape, fold};

/// Returns the conclusion, what was measured by, and the table with its legend.
pub fn encode(rows: &[Row], conclusion: &Conclusion) -> String {
    let quality = conclusion.quality.as_ref();
    let quality = quality.map(|it| format!("Quality: {}: {}", it.grade, it.because));
    let mut lines: Vec<String> = conclusion.answer.iter().cloned().chain(quality).collect();
    lines.push(measured_by(rows));
    let lines = fold::text(&escape::text(&lines.join("\n")), WIDTH.into());
    let (table, legend) = (table::draw(rows, WIDTH), table::explained(rows, WIDTH));
    fenced(&format!("{lines}\n\n{table}{legend}"))
}

/// Returns the results of a search or a comparison: the verdict, and what a terminal shows.
pub fn answers(conclusion: &Conclusion, text: &str) -> String {
    let verdict = conclusion.verdict;
    let verdict = verdict.map(|verdict| format!("**{verdict}**\n\n"));
    verdict.unwrap_or_default() + &fenced(text)
}

/// Returns a block whose lines stay as they are, and mention nobody.
fn fenced(text: &str) -> String {
    let text = strip_str(text).to_string();
    format!("```text\n{}\n```\n", text.trim_end())
}

fn measured_by(rows: &[Row]) -> String {
    let version = distinct(rows, |row| &row.version).join(" and ");
    // RFC 3339 times in UTC sort in time order.
    let started = distinct(rows, |row| &row.started_at).into_iter().min();
    let started = started.map_or_else(String::new, |time| format!(", started at {time}"));
    format!(
        "Measured by udpbench {version}, {}{started}",
        circumstances(rows)
    )
}

/// Display name of a fact, and the column that holds it.
type Fact = (&'static str, fn(&Row) -> &str);

const FACTS: [Fact; 15] = [
    ("board", |row| &row.board),
    ("model", |row| &row.model),
    ("SoC", |row| &row.soc),
    ("CPU", |row| &row.cpu_model),
    ("architecture", |row| &row.machine),
    ("virtualised by", |row| &row.virtualization),
    ("kernel", |row| &row.kernel),
    ("preemption", |row| &row.preemption),
    ("governor", |row| &row.governor),
    ("other host's board", |row| &row.remote_board),
    ("other host's model", |row| &row.remote_model),
    ("other host's CPU", |row| &row.remote_cpu_model),
    ("other host's architecture", |row| &row.remote_machine),
    ("other host's kernel", |row| &row.remote_kernel),
    ("other host's governor", |row| &row.remote_governor),
];

/// Returns the known facts with their names. Where rows differ, a fact lists each of their values.
pub(crate) fn circumstances(rows: &[Row]) -> String {
    let facts = FACTS.map(|(name, column)| (name, distinct(rows, column)));
    let known = facts.iter().filter(|(_, values)| !values.is_empty());
    let known = known.map(|(name, values)| format!("{name} {}", values.join(" and ")));
    known.collect::<Vec<String>>().join(", ")
}

/// Returns the distinct values of a column in these rows, in order of appearance, without empty ones.
fn distinct(rows: &[Row], column: fn(&Row) -> &str) -> Vec<&str> {
    let known = rows.iter().map(column).filter(|text| !text.is_empty());
    once_each(known)
}
