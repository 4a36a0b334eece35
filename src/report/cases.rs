//! Which rows go into one picture.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use crate::data::{Address, BlockKey, Connection, Payload, Transport};
use crate::results::row::Row;

/// What all points of a picture have in common: all but payload, engine and what the messages go over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setting {
    /// Its payload is that of any point.
    block: BlockKey,
    connection: Connection,
}

impl Setting {
    fn of(row: &Row) -> Self {
        let block = BlockKey {
            payload: Payload::MIN,
            transport: None,
            address: None,
            ..row.block()
        };
        Self {
            block,
            connection: row.connection,
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BlockKey { threads, ip, .. } = self.block;
        let plural = if threads.is_alone() { "" } else { "s" };
        write!(f, "{threads} thread{plural}, {ip}, {}", self.connection)?;
        self.block
            .unusual()
            .try_for_each(|value| write!(f, ", {value}"))
    }
}

/// The rows by block, those without the value left out.
pub(super) fn by_block(
    rows: &[Row],
    value: impl Fn(&Row) -> Option<f64>,
) -> BTreeMap<BlockKey, Vec<&Row>> {
    grouped(rows, value, Row::block)
}

/// The rows by setting, those without the value left out.
pub(super) fn by_setting(
    rows: &[Row],
    value: impl Fn(&Row) -> Option<f64>,
) -> BTreeMap<Setting, Vec<&Row>> {
    grouped(rows, value, Setting::of)
}

/// The rows by whatever `key` says, those without the value left out.
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

/// The labels of the rows, each once, in the order of the file.
pub(super) fn labels(rows: &[&Row]) -> Vec<String> {
    once_each(rows.iter().map(|row| row.label()))
}

/// The labels with what the messages go over, if it is not UDP over loopback: `std, tcp, local`.
pub(super) fn line_labels(rows: &[&Row]) -> Vec<String> {
    once_each(rows.iter().map(|row| line_label(row)))
}

/// That of a row.
pub(super) fn line_label(row: &Row) -> String {
    let mut label = row.label();
    if row.transport != Transport::default() {
        let _ = write!(label, ", {}", row.transport);
    }
    if row.address != Address::default() {
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

/// What has a place on an axis. A file may say anything; its table has it all.
pub(super) fn drawable(value: f64) -> Option<f64> {
    (0.0..=1e15).contains(&value).then_some(value)
}
