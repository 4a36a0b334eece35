//! Rows with round trips, by engine and load.

use std::collections::BTreeMap;

use super::name;
use crate::data::{BlockKey, Workload};
use crate::report::cases::drawable;
use crate::report::engines::order;
use crate::results::row::{Load, Row};

/// Cases that differ only in engine and load.
pub(super) struct Loads<'a> {
    /// Parameters that the cases share.
    pub(super) caption: String,
    /// Labels of the loads, in ascending order: `alone`, then all in % of the closed-loop rates, or all rates.
    pub(super) steps: Vec<String>,
    pub(super) engines: Vec<EngineRows<'a>>,
}

/// Label of an engine, and its rows with the index of their load.
pub(super) type EngineRows<'a> = (String, Vec<(usize, &'a Row)>);

impl<'a> Loads<'a> {
    /// Returns the rows at a load with their engines, the shortest median first.
    pub(super) fn sorted_at(&self, load: usize) -> Vec<(&str, &'a Row)> {
        let us = |row: &Row| row.rtt_p50_us.and_then(drawable).unwrap_or(f64::INFINITY);
        let mut rows = self.at(load);
        rows.sort_by(|one, other| us(one.1).total_cmp(&us(other.1)));
        rows
    }

    /// Returns the rows at a load with their engines, in the order of the engines.
    pub(super) fn at(&self, load: usize) -> Vec<(&str, &'a Row)> {
        let rows = self.engines.iter().filter_map(|(label, rows)| {
            let (_, row) = rows.iter().find(|(at, _)| *at == load)?;
            Some((label.as_str(), *row))
        });
        rows.collect()
    }
}

/// Groups the rows that answer requests. Groups without any round trip are left out.
pub(super) fn loads(rows: &[Row]) -> Vec<Loads<'_>> {
    let mut groups: BTreeMap<BlockKey, Vec<&Row>> = BTreeMap::new();
    let (loaded, alone): (Vec<&Row>, Vec<&Row>) = rows
        .iter()
        .filter(|row| row.workload == Workload::Rr)
        .partition(|row| row.target_pps.is_some());
    for row in loaded {
        let block = BlockKey {
            rate: None,
            ..row.block()
        };
        groups.entry(block).or_default().push(row);
    }
    // Clients that are alone have no arrivals: they belong to the loads of any.
    let with_arrivals: Vec<BlockKey> = groups.keys().copied().collect();
    for row in alone {
        let block = row.block();
        let related = with_arrivals
            .iter()
            .filter(|key| without_arrivals(**key) == block);
        let related: Vec<BlockKey> = related.copied().collect();
        for key in if related.is_empty() {
            vec![block]
        } else {
            related
        } {
            groups.entry(key).or_default().push(row);
        }
    }
    let has_round_trips = |rows: &Vec<&Row>| {
        let mut medians = rows.iter().filter_map(|row| row.rtt_p50_us);
        medians.any(|us| drawable(us).is_some())
    };
    groups.retain(|_, rows| has_round_trips(rows));
    groups
        .into_iter()
        .map(|(block, rows)| of_group(block, &rows))
        .collect()
}

fn without_arrivals(block: BlockKey) -> BlockKey {
    BlockKey {
        arrivals: None,
        ..block
    }
}

fn of_group<'a>(block: BlockKey, rows: &[&'a Row]) -> Loads<'a> {
    // One axis has one kind of loads: rates, if a row has no share and the closed-loop rate of its engine is unknown.
    let shares: Vec<Option<u64>> = rows
        .iter()
        .zip(Load::of_rows(rows))
        .map(|(row, load)| match load {
            Some(Load::Share(pct)) => Some(pct.into()),
            _ => share_of_closed_loop(row, rows),
        })
        .collect();
    let are_shares = rows
        .iter()
        .zip(&shares)
        .all(|(row, share)| row.target_pps.is_none() || share.is_some());
    let keys: Vec<Option<u64>> = rows
        .iter()
        .zip(shares)
        .map(|(row, share)| {
            let rate = u64::from(u32::from(row.target_pps?));
            Some(share.filter(|_| are_shares).unwrap_or(rate))
        })
        .collect();
    let mut loads = keys.clone();
    loads.sort_unstable();
    loads.dedup();
    let mut engines: Vec<EngineRows> = Vec::new();
    for (row, key) in rows.iter().zip(keys) {
        let load = (loads.partition_point(|load| *load < key), *row);
        match engines.iter_mut().find(|(label, _)| *label == name(row)) {
            Some((_, rows)) => rows.push(load),
            None => engines.push((name(row), vec![load])),
        }
    }
    for (_, rows) in &mut engines {
        rows.sort_by_key(|(load, _)| *load);
    }
    engines.sort_by_cached_key(|(_, rows)| rows.first().map(|(_, row)| order(row)));
    let label = |load: Option<u64>| match load {
        None => "alone".to_owned(),
        Some(pct) if are_shares => format!("{pct} %"),
        Some(rate) => format!("{rate}/s"),
    };
    Loads {
        caption: block.to_string(),
        steps: loads.into_iter().map(label).collect(),
        engines,
    }
}

/// Returns the target rate of a row in percent of what its engine reaches in a closed loop, rounded to tens. `None`: not
/// both are known.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates"
)]
fn share_of_closed_loop(row: &Row, all: &[&Row]) -> Option<u64> {
    let rate = f64::from(u32::from(row.target_pps?));
    let mut others = all.iter().filter(|other| other.target_pps.is_none());
    let found = others.find(|other| name(other) == name(row))?;
    let closed_loop = found.received_pps.filter(|pps| *pps > 0.0)?;
    Some(((10.0 * rate / closed_loop).round() as u64).saturating_mul(10))
}
