//! Panels of the main charts. A panel has the cases of one payload and one kind of sockets. Its facets, side by side,
//! differ in threads and other parameters. A facet has one line per engine, with the engine's row from each file.

use std::collections::{BTreeMap, BTreeSet};

use super::cases::{drawable, line_label};
use super::engines;
use crate::data::{BlockKey, Connection, Ip, Payload};
use crate::results::files::Results;
use crate::results::row::Row;

/// Panels of several files that are drawn over each other.
pub(super) struct Panels<'a> {
    pub(super) payloads: Vec<Payload>,
    pub(super) sockets: Vec<Sockets>,
    /// Facets by index of payload and sockets. Missing combinations were not measured.
    pub(super) all: BTreeMap<(usize, usize), Vec<Facet<'a>>>,
}

/// The second choice of the reader, besides the payload.
pub(super) type Sockets = (Ip, Connection);

/// Cases that differ only in their engines.
pub(super) struct Facet<'a> {
    /// Name, from the parameters that the cases share: threads, and unusual values.
    pub(super) name: String,
    pub(super) engines: Vec<Engine<'a>>,
}

/// An engine, or a pair of engines, over one transport.
pub(super) struct Engine<'a> {
    pub(super) label: String,
    pub(super) colour: u8,
    /// The engine's row from each file.
    pub(super) runs: Vec<Option<&'a Row>>,
}

impl<'a> Engine<'a> {
    /// Returns the values that can be drawn, with the index of their file and their row.
    pub(super) fn values(
        &self,
        value: impl Fn(&Row) -> Option<f64>,
    ) -> impl Iterator<Item = (usize, &'a Row, f64)> {
        let runs = self.runs.iter().enumerate();
        runs.filter_map(move |(n, row)| {
            let row = (*row)?;
            Some((n, row, value(row).and_then(drawable)?))
        })
    }
}

impl<'a> Panels<'a> {
    pub(super) fn of(files: &'a [Results]) -> Self {
        let rows = rows(files);
        let payloads: BTreeSet<Payload> = rows.iter().map(|(_, row)| row.payload_bytes).collect();
        let sockets: BTreeSet<Sockets> = rows.iter().map(|(_, row)| of_row(row)).collect();
        let (payloads, sockets) = (Vec::from_iter(payloads), Vec::from_iter(sockets));
        let mut cells: BTreeMap<(usize, usize), Vec<(usize, &Row)>> = BTreeMap::new();
        for (file, row) in rows {
            let place = (
                payloads.binary_search(&row.payload_bytes).unwrap_or(0),
                sockets.binary_search(&of_row(row)).unwrap_or(0),
            );
            cells.entry(place).or_default().push((file, row));
        }
        let all = cells
            .into_iter()
            .map(|(place, rows)| (place, facets(rows, files.len())));
        let all = all.collect();
        Self {
            payloads,
            sockets,
            all,
        }
    }

    /// Returns the panel to show first: the one with the most measured cases, and of equals the first.
    pub(super) fn first(&self) -> (usize, usize) {
        let size = |facets: &Vec<Facet>| {
            let engines = facets.iter().flat_map(|facet| &facet.engines);
            engines
                .filter(|engine| engine.runs.iter().flatten().any(|row| is_measured(row)))
                .count()
        };
        let mut panels = self
            .all
            .iter()
            .map(|(place, facets)| (size(facets), *place));
        let first = panels.next().unwrap_or_default();
        panels
            .fold(
                first,
                |most, other| if other.0 > most.0 { other } else { most },
            )
            .1
    }

    /// Returns the number of lines in the panels of one kind of sockets.
    pub(super) fn lines(&self, sockets: usize) -> usize {
        let panels = self.all.iter().filter(|((_, of), _)| *of == sockets);
        let facets = panels.flat_map(|(_, facets)| facets);
        facets.map(|facet| facet.engines.len()).sum()
    }

    /// Returns the name of a panel, from the parameters that distinguish it.
    pub(super) fn name(&self, (payload, sockets): (usize, usize)) -> String {
        let payload = self
            .payloads
            .get(payload)
            .map(|payload| format!("{payload} B"));
        let sockets = self.sockets.get(sockets).filter(|_| self.sockets.len() > 1);
        let sockets = sockets.map(|(ip, connection)| format!("{ip}, {connection}"));
        let parts: Vec<String> = payload.into_iter().chain(sockets).collect();
        parts.join(", ")
    }
}

fn of_row(row: &Row) -> Sockets {
    (row.ip, row.connection)
}

/// Returns the rows to draw, with the index of their file. Rows with a target rate have no speed of their own: they
/// are returned only if no other row was measured.
fn rows(files: &[Results]) -> Vec<(usize, &Row)> {
    let all = files.iter().enumerate();
    let all = all.flat_map(|(n, file)| file.rows.iter().map(move |row| (n, row)));
    let (unasked, asked): (Vec<_>, Vec<_>) = all.partition(|(_, row)| row.target_pps.is_none());
    if unasked.iter().any(|(_, row)| is_measured(row)) {
        unasked
    } else {
        asked
    }
}

fn is_measured(row: &Row) -> bool {
    row.received_pps.and_then(drawable).is_some()
}

fn facets<'a>(rows: Vec<(usize, &'a Row)>, files: usize) -> Vec<Facet<'a>> {
    let mut facets: BTreeMap<BlockKey, BTreeMap<_, Engine<'a>>> = BTreeMap::new();
    for (file, row) in rows {
        let block = BlockKey {
            payload: Payload::MIN,
            ip: Ip::V4,
            transport: None,
            address: None,
            ..row.block()
        };
        let label = line_label(row);
        let engines = facets.entry(block).or_default();
        // Merged runs may contain a case twice.
        let mut nth = 1;
        let engine = loop {
            let key = (engines::order(row), label.clone(), nth);
            let engine = engines.entry(key).or_insert_with(|| Engine {
                label: match nth {
                    1 => label.clone(),
                    _ => format!("{label} ({nth})"),
                },
                colour: engines::colour(engines::group(row)),
                runs: vec![None; files],
            });
            if engine.runs[file].is_none() {
                break engine;
            }
            nth += 1;
        };
        engine.runs[file] = Some(row);
    }
    let facets = facets.into_iter().map(|(block, engines)| Facet {
        name: name(&block),
        engines: engines.into_values().collect(),
    });
    facets.collect()
}

fn name(block: &BlockKey) -> String {
    let plural = if block.threads.is_alone() { "" } else { "s" };
    let unusual = block.unusual().map(|value| format!(", {value}"));
    format!(
        "{} thread{plural}{}",
        block.threads,
        unusual.collect::<String>()
    )
}
