//! Facts that the rows of a file share: program version, machine, and start time.

use super::distinct;
use crate::results::row::Row;

/// Display name of a fact, and the column that holds it.
type Fact = (&'static str, fn(&Row) -> &str);

const FACTS: [Fact; 12] = [
    ("udpbench", |row| &row.version),
    ("board", |row| &row.board),
    ("model", |row| &row.model),
    ("CPU", |row| &row.cpu_model),
    ("virtualised by", |row| &row.virtualization),
    ("kernel", |row| &row.kernel),
    ("governor", |row| &row.governor),
    ("other host's board", |row| &row.remote_board),
    ("other host's model", |row| &row.remote_model),
    ("other host's CPU", |row| &row.remote_cpu_model),
    ("other host's kernel", |row| &row.remote_kernel),
    ("other host's governor", |row| &row.remote_governor),
];

/// Returns the known facts by name. Where rows differ, a fact lists each of their values.
pub(super) fn circumstances(rows: &[Row]) -> Vec<(&'static str, String)> {
    let facts = FACTS.into_iter().map(|(name, column)| {
        let values = distinct(rows, column);
        (name, values.join(" and "))
    });
    // RFC 3339 times in UTC sort in time order.
    let first_start = distinct(rows, |row| &row.started_at).into_iter().min();
    let started = first_start.map(|time| ("started at", time.to_owned()));
    let mut known: Vec<_> = facts.chain(started).collect();
    known.retain(|(_, value)| !value.is_empty());
    known
}
