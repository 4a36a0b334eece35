//! Facts about the machines that the rows of a file share.

use crate::results::row::Row;

/// Display name of a fact, and the column that holds it.
type Fact = (&'static str, fn(&Row) -> &str);

const FACTS: [Fact; 15] = [
    ("board", |row| &row.board),
    ("model", |row| &row.model),
    ("SoC", |row| &row.soc),
    ("CPU", |row| &row.cpu_model),
    ("architecture", |row| &row.machine),
    ("emulated or virtualised by", |row| &row.virtualization),
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
    let facts = FACTS.map(
        |(name, column)| match distinct(rows, column).join(" and ") {
            unknown if unknown.is_empty() => unknown,
            known => format!("{name} {known}"),
        },
    );
    let known = facts.into_iter().filter(|fact| !fact.is_empty());
    known.collect::<Vec<String>>().join(", ")
}

/// Returns the distinct values of a column in these rows, in order of appearance, without empty ones.
pub(super) fn distinct(rows: &[Row], column: fn(&Row) -> &str) -> Vec<&str> {
    let known = rows.iter().map(column).filter(|text| !text.is_empty());
    once_each(known)
}

/// Returns each value once, in order of appearance.
pub(crate) fn once_each<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}
