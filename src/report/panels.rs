//! Panels of the charts of throughput and CPU time. A panel has the cases of one run and one kind of sockets. Its
//! facets, side by side, differ in payload, threads and other parameters. A facet has a line for each engine.

use std::collections::BTreeMap;

use super::cases::{drawable, line_label, shared_block, threads_label};
use super::engines;
use crate::data::{BlockKey, Connection, Ip, Payload};
use crate::results::files::Results;
use crate::results::row::Row;

/// Panels of several files.
pub(super) struct Panels<'a> {
    pub(super) socket_kinds: Vec<SocketKind>,
    /// Facets by index of file and kind of sockets. Missing combinations were not measured.
    pub(super) cells: BTreeMap<(usize, usize), Vec<Facet<'a>>>,
}

/// IP version and connection.
pub(super) type SocketKind = (Ip, Connection);

/// Cases that differ only in their engines.
pub(super) struct Facet<'a> {
    /// Name, from the parameters that the cases share: payload, threads, and unusual values.
    pub(super) name: String,
    pub(super) lines: Vec<FacetLine<'a>>,
}

/// Line of a facet: an engine, or a pair of engines, over one transport.
pub(super) struct FacetLine<'a> {
    pub(super) label: String,
    pub(super) row: &'a Row,
}

impl<'a> Panels<'a> {
    pub(super) fn of(files: &'a [Results]) -> Self {
        let mut panels: BTreeMap<(usize, SocketKind), Vec<&Row>> = BTreeMap::new();
        for (n, file) in files.iter().enumerate() {
            for row in drawn_rows(&file.rows) {
                let panel = panels.entry((n, (row.ip, row.connection)));
                panel.or_default().push(row);
            }
        }
        let mut socket_kinds: Vec<SocketKind> = panels.keys().map(|(_, kind)| *kind).collect();
        socket_kinds.sort_unstable();
        socket_kinds.dedup();
        let cell = |((file, kind), rows): ((usize, SocketKind), Vec<&'a Row>)| {
            let kind = socket_kinds.partition_point(|known| *known < kind);
            ((file, kind), facets(rows))
        };
        let cells = panels.into_iter().map(cell).collect();
        Self {
            socket_kinds,
            cells,
        }
    }

    /// Returns the panel to show first: of the last file, the one with the most measured cases, and of equals the
    /// first.
    pub(super) fn first(&self) -> (usize, usize) {
        let measured = |facets: &[Facet]| {
            let lines = facets.iter().flat_map(|facet| &facet.lines);
            lines.filter(|line| is_measured(line.row)).count()
        };
        // Of equals, max_by_key returns the last.
        let panels = self.cells.iter().rev();
        let most = panels.max_by_key(|((file, _), facets)| (*file, measured(facets)));
        most.map(|(cell, _)| *cell).unwrap_or_default()
    }
}

/// Returns the rows to draw. The rate of rows with a target rate was prescribed: they are returned only if no other row
/// was measured.
fn drawn_rows(rows: &[Row]) -> Vec<&Row> {
    let (unpaced, paced): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.target_pps.is_none());
    if unpaced.iter().any(|row| is_measured(row)) {
        unpaced
    } else {
        paced
    }
}

fn is_measured(row: &Row) -> bool {
    row.received_pps.and_then(drawable).is_some()
}

/// Returns the facets of a panel: by threads and other parameters, then by payload.
fn facets(rows: Vec<&Row>) -> Vec<Facet<'_>> {
    let mut facets: BTreeMap<(BlockKey, Payload), Lines> = BTreeMap::new();
    for row in rows {
        let block = BlockKey {
            ip: Ip::V4,
            ..shared_block(row)
        };
        add(facets.entry((block, row.payload_bytes)).or_default(), row);
    }
    let facets = facets.into_iter().map(|((block, payload), lines)| Facet {
        name: name(&block, payload),
        lines: lines.into_values().collect(),
    });
    facets.collect()
}

/// Lines by the order of their engines, their label, and their number among lines of the same label, from 1.
type Lines<'a> = BTreeMap<((usize, usize, String), String, usize), FacetLine<'a>>;

/// Adds a row. Merged runs may contain a case twice.
fn add<'a>(lines: &mut Lines<'a>, row: &'a Row) {
    let label = line_label(row);
    let mut key = (engines::order(row), label.clone(), 1);
    while lines.contains_key(&key) {
        key.2 += 1;
    }
    let label = match key.2 {
        1 => label,
        nth => format!("{label} ({nth})"),
    };
    lines.insert(key, FacetLine { label, row });
}

fn name(block: &BlockKey, payload: Payload) -> String {
    let unusual = block.unusual().map(|value| format!(", {value}"));
    format!(
        "{payload} B, {}{}",
        threads_label(block.threads),
        unusual.collect::<String>()
    )
}
