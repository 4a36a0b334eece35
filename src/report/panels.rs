//! Panels of the main charts. A panel has the cases of one payload and one kind of sockets. Its facets, side by side,
//! differ in threads and other parameters. A facet has one line per engine, with the engine's row from each file.

use std::collections::{BTreeMap, BTreeSet};

use super::cases::{drawable, line_label, shared_block, threads_label};
use super::engines;
use crate::data::{BlockKey, Connection, Ip, Payload};
use crate::results::files::Results;
use crate::results::row::Row;

/// Panels of several files that are drawn over each other.
pub(super) struct Panels<'a> {
    pub(super) payloads: Vec<Payload>,
    pub(super) socket_kinds: Vec<SocketKind>,
    /// Facets by index of payload and kind of sockets. Missing combinations were not measured.
    pub(super) cells: BTreeMap<(usize, usize), Vec<Facet<'a>>>,
}

/// IP version and connection: with the payload, what the reader chooses in the report.
pub(super) type SocketKind = (Ip, Connection);

/// Cases that differ only in their engines.
pub(super) struct Facet<'a> {
    /// Name, from the parameters that the cases share: threads, and unusual values.
    pub(super) name: String,
    pub(super) lines: Vec<FacetLine<'a>>,
}

/// Line of a facet: an engine, or a pair of engines, over one transport.
pub(super) struct FacetLine<'a> {
    pub(super) label: String,
    pub(super) colour: u8,
    /// The line's row from each file.
    pub(super) rows_by_file: Vec<Option<&'a Row>>,
}

impl<'a> FacetLine<'a> {
    /// Returns the values that can be drawn, with the index of their file and their row.
    pub(super) fn values(
        &self,
        value: impl Fn(&Row) -> Option<f64>,
    ) -> impl Iterator<Item = (usize, &'a Row, f64)> {
        let rows = self.rows_by_file.iter().enumerate();
        rows.filter_map(move |(file, row)| {
            let row = (*row)?;
            Some((file, row, value(row).and_then(drawable)?))
        })
    }

    fn is_measured(&self) -> bool {
        self.rows_by_file
            .iter()
            .flatten()
            .any(|row| is_measured(row))
    }
}

impl<'a> Panels<'a> {
    pub(super) fn of(files: &'a [Results]) -> Self {
        let mut panels: BTreeMap<(Payload, SocketKind), Vec<(usize, &Row)>> = BTreeMap::new();
        for (file, row) in drawn_rows(files) {
            let panel = panels.entry((row.payload_bytes, socket_kind(row)));
            panel.or_default().push((file, row));
        }
        let payloads: BTreeSet<Payload> = panels.keys().map(|(payload, _)| *payload).collect();
        let socket_kinds: BTreeSet<SocketKind> = panels.keys().map(|(_, kind)| *kind).collect();
        let (payloads, socket_kinds) = (Vec::from_iter(payloads), Vec::from_iter(socket_kinds));
        let mut cells = BTreeMap::new();
        for (payload_index, payload) in payloads.iter().enumerate() {
            for (kind_index, kind) in socket_kinds.iter().enumerate() {
                if let Some(rows) = panels.remove(&(*payload, *kind)) {
                    cells.insert((payload_index, kind_index), facets(rows, files.len()));
                }
            }
        }
        Self {
            payloads,
            socket_kinds,
            cells,
        }
    }

    /// Returns the panel to show first: the one with the most measured cases, and of equals the first.
    pub(super) fn first(&self) -> (usize, usize) {
        let measured = |facets: &[Facet]| {
            let lines = facets.iter().flat_map(|facet| &facet.lines);
            lines.filter(|line| line.is_measured()).count()
        };
        // Of equals, max_by_key returns the last.
        let panels = self.cells.iter().rev();
        let most = panels.max_by_key(|(_, facets)| measured(facets));
        most.map(|(cell, _)| *cell).unwrap_or_default()
    }

    /// Returns the number of lines in the panels of one kind of sockets.
    pub(super) fn line_count(&self, socket_kind: usize) -> usize {
        let panels = self.cells.iter().filter(|((_, of), _)| *of == socket_kind);
        let facets = panels.flat_map(|(_, facets)| facets);
        facets.map(|facet| facet.lines.len()).sum()
    }

    /// Returns the name of a panel, from the parameters that distinguish it.
    pub(super) fn name(&self, (payload, socket_kind): (usize, usize)) -> String {
        let payload = self
            .payloads
            .get(payload)
            .map(|payload| format!("{payload} B"));
        let kind = self.socket_kinds.get(socket_kind);
        let kind = kind.filter(|_| self.socket_kinds.len() > 1);
        let kind = kind.map(|(ip, connection)| format!("{ip}, {connection}"));
        let parts: Vec<String> = payload.into_iter().chain(kind).collect();
        parts.join(", ")
    }
}

fn socket_kind(row: &Row) -> SocketKind {
    (row.ip, row.connection)
}

/// Returns the rows to draw, with the index of their file. The rate of rows with a target rate was prescribed: they are
/// returned only if no other row was measured.
fn drawn_rows(files: &[Results]) -> Vec<(usize, &Row)> {
    let all = files.iter().enumerate();
    let all = all.flat_map(|(n, file)| file.rows.iter().map(move |row| (n, row)));
    let (unpaced, paced): (Vec<_>, Vec<_>) = all.partition(|(_, row)| row.target_pps.is_none());
    if unpaced.iter().any(|(_, row)| is_measured(row)) {
        unpaced
    } else {
        paced
    }
}

fn is_measured(row: &Row) -> bool {
    row.received_pps.and_then(drawable).is_some()
}

/// Returns the facets of a panel.
fn facets<'a>(rows: Vec<(usize, &'a Row)>, files: usize) -> Vec<Facet<'a>> {
    let mut facets: BTreeMap<BlockKey, Lines<'a>> = BTreeMap::new();
    for (file, row) in rows {
        let block = BlockKey {
            ip: Ip::V4,
            ..shared_block(row)
        };
        add(facets.entry(block).or_default(), file, row, files);
    }
    let facets = facets.into_iter().map(|(block, lines)| Facet {
        name: name(&block),
        lines: lines.into_values().collect(),
    });
    facets.collect()
}

/// Lines by the order of their engines, their label, and their number among lines of the same label, from 1.
type Lines<'a> = BTreeMap<((usize, usize, String), String, usize), FacetLine<'a>>;

/// Adds a row to the first line of its label that has no row of this file. Merged runs may contain a case twice.
fn add<'a>(lines: &mut Lines<'a>, file: usize, row: &'a Row, files: usize) {
    let label = line_label(row);
    let mut nth = 1;
    loop {
        let key = (engines::order(row), label.clone(), nth);
        let line = lines.entry(key).or_insert_with(|| FacetLine {
            label: match nth {
                1 => label.clone(),
                _ => format!("{label} ({nth})"),
            },
            colour: engines::colour(engines::group(row)),
            rows_by_file: vec![None; files],
        });
        if line.rows_by_file[file].is_none() {
            line.rows_by_file[file] = Some(row);
            return;
        }
        nth += 1;
    }
}

fn name(block: &BlockKey) -> String {
    let unusual = block.unusual().map(|value| format!(", {value}"));
    threads_label(block.threads) + &unusual.collect::<String>()
}
