//! Grouping of rows into charts, and the labels of rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::data::{BlockKey, Destination, Payload, Threads, Transport};
use crate::results::row::Row;
use crate::term::digits::counted;

/// Returns the block of a row with the payload, transport and address cleared.
pub(super) fn shared_block(row: &Row) -> BlockKey {
    BlockKey {
        payload: Payload::MIN,
        transport: None,
        address: None,
        ..row.block()
    }
}

/// Returns the number of threads with its unit, such as `2 threads`.
pub(super) fn threads_label(threads: Threads) -> String {
    counted(threads.count(), "thread")
}

/// Groups the rows by `key`. Rows without the value are omitted.
pub(super) fn grouped<K: Ord>(
    rows: &[Row],
    value: impl Fn(&Row) -> Option<f64>,
    key: impl Fn(&Row) -> K,
) -> BTreeMap<K, Vec<&Row>> {
    let mut groups: BTreeMap<K, Vec<&Row>> = BTreeMap::new();
    for row in rows
        .iter()
        .filter(|row| value(row).and_then(drawable).is_some())
    {
        groups.entry(key(row)).or_default().push(row);
    }
    groups
}

/// Returns the distinct labels of the rows, in the order of the file.
pub(super) fn labels(rows: &[&Row]) -> Vec<String> {
    once_each(rows.iter().map(|row| row.label()))
}

/// Returns the label of a row, with transport and address if these are not UDP over loopback.
pub(super) fn line_label(row: &Row) -> String {
    let mut label = row.label();
    if row.transport != Transport::default() {
        let _ = write!(label, ", {}", row.transport);
    }
    if row.address != Destination::default() {
        let _ = write!(label, ", {}", row.address);
    }
    label
}

fn once_each(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for text in all {
        if !once.contains(&text) {
            once.push(text);
        }
    }
    once
}

/// Returns the value if it can be drawn on an axis: 0 to 10^15. A file may contain any value; its table shows all of
/// them.
pub(super) fn drawable(value: f64) -> Option<f64> {
    (0.0..=1e15).contains(&value).then_some(value)
}
