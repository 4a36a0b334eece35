//! Facts about the machines that the rows of a file share.

use crate::results::row::Row;

/// Display name of a fact, whether it is one of the few of a Markdown line, and the column that holds it.
type Fact = (&'static str, bool, fn(&Row) -> &str);

const FACTS: [Fact; 15] = [
    ("board", true, |row| &row.board),
    ("model", true, |row| &row.model),
    ("SoC", false, |row| &row.soc),
    ("CPU", true, |row| &row.cpu_model),
    ("architecture", false, |row| &row.machine),
    ("virtualised by", true, |row| &row.virtualization),
    ("kernel", true, |row| &row.kernel),
    ("preemption", false, |row| &row.preemption),
    ("governor", true, |row| &row.governor),
    ("other host's board", true, |row| &row.remote_board),
    ("other host's model", true, |row| &row.remote_model),
    ("other host's CPU", true, |row| &row.remote_cpu_model),
    ("other host's architecture", false, |row| {
        &row.remote_machine
    }),
    ("other host's kernel", true, |row| &row.remote_kernel),
    ("other host's governor", true, |row| &row.remote_governor),
];

/// Returns the known facts with their names: all, or a few. Where rows differ, a fact lists each of their values.
pub(crate) fn circumstances(rows: &[Row], all: bool) -> String {
    let facts = FACTS
        .into_iter()
        .filter(|(_, is_of_few, _)| all || *is_of_few);
    let facts = facts.map(|(name, _, column)| (name, distinct(rows, column)));
    let known = facts.filter(|(_, values)| !values.is_empty());
    let known = known.map(|(name, values)| format!("{name} {}", values.join(" and ")));
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
