//! Charts of throughput and CPU time: a panel has the cases of one kind of sockets. Its facets, side by side, differ in
//! payload, threads and other parameters. A facet has a line for each engine.

use std::collections::BTreeMap;

use super::cases::{drawable, name};
use crate::data::{BlockKey, Connection, Ip, Payload};
use crate::results::row::Row;

/// Cases that differ only in their engines.
pub(super) struct Facet<'a> {
    /// Name, from the parameters that the cases share: payload, threads, and unusual values.
    pub(super) name: String,
    /// A row for each engine, or pair of engines, over each transport.
    pub(super) rows: Vec<&'a Row>,
}

/// Returns the facets of each kind of sockets, with its name.
pub(super) fn panels(rows: &[Row]) -> Vec<(String, Vec<Facet<'_>>)> {
    let mut panels: BTreeMap<(Ip, Connection), Vec<&Row>> = BTreeMap::new();
    for row in drawn_rows(rows) {
        let panel = panels.entry((row.ip, row.connection));
        panel.or_default().push(row);
    }
    let panels = panels.into_iter();
    panels
        .map(|((ip, connection), rows)| (format!("{ip}, {connection}"), facets(rows)))
        .collect()
}

/// Returns the rows to draw. The rate of rows with a target rate was prescribed: they are returned only if no other row
/// was measured.
fn drawn_rows(rows: &[Row]) -> Vec<&Row> {
    let (unpaced, paced): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.target_pps.is_none());
    let is_measured = |row: &&Row| row.received_pps.and_then(drawable).is_some();
    if unpaced.iter().any(is_measured) {
        unpaced
    } else {
        paced
    }
}

/// Returns the facets of a panel: by threads and other parameters, then by payload.
fn facets(rows: Vec<&Row>) -> Vec<Facet<'_>> {
    let mut facets: BTreeMap<(BlockKey, Payload), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let block = BlockKey {
            payload: Payload::MIN,
            transport: None,
            address: None,
            ip: Ip::V4,
            ..row.block()
        };
        let facet = facets.entry((block, row.payload_bytes));
        facet.or_default().push(row);
    }
    let facets = facets.into_iter().map(|((block, payload), rows)| Facet {
        name: name(&block, payload),
        rows,
    });
    facets.collect()
}
