//! Rows with round trips, by engine and load.

use std::collections::{BTreeMap, BTreeSet};

use super::name;
use crate::data::{BlockKey, Workload};
use crate::plan::LOADS_PCT;
use crate::report::cases::drawable;
use crate::report::engines::order;
use crate::results::row::Row;

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
    let loaded = || rows.iter().filter(|row| row.target_pps.is_some());
    // One axis has one kind of loads: rates, if the closed-loop rate of any row is unknown.
    let are_planned = loaded().all(|row| planned_pps(row, rows).is_some());
    let of_row = if are_planned {
        planned_pps
    } else {
        closed_loop_pps
    };
    let are_shares = loaded().all(|row| of_row(row, rows).is_some());
    let key = |row: &Row| -> Option<u64> {
        let rate = u32::from(row.target_pps?).into();
        let closed_loop = of_row(row, rows).filter(|_| are_shares);
        Some(closed_loop.map_or(rate, |closed_loop| in_tenths(rate as f64 / closed_loop)))
    };
    let mut loads: Vec<Option<u64>> = rows.iter().map(|row| key(row)).collect();
    loads.sort_unstable();
    loads.dedup();
    let mut engines: Vec<EngineRows> = Vec::new();
    for row in rows {
        let load = (loads.partition_point(|load| *load < key(row)), *row);
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
        Some(tenths) if are_shares => format!("{} %", 10 * tenths),
        Some(rate) => format!("{rate}/s"),
    };
    Loads {
        caption: block.to_string(),
        steps: loads.into_iter().map(label).collect(),
        engines,
    }
}

/// Returns the rate of which the engine's target rates are the shares that `udpbench latency` plans. `None`: they are not,
/// or another engine has the same rates, so that somebody gave them.
fn planned_pps(row: &Row, all: &[&Row]) -> Option<f64> {
    let rates = |label: &str| -> BTreeSet<u32> {
        let own = all.iter().filter(|other| name(other) == label);
        own.filter_map(|row| row.target_pps.map(u32::from))
            .collect()
    };
    let own = rates(&name(row));
    let lowest = f64::from(*own.first()?);
    let is_share = |(rate, pct): (&u32, &f64)| {
        let times = pct / LOADS_PCT[0];
        // Both rates were rounded.
        (f64::from(*rate) - times * lowest).abs() <= f64::midpoint(times, 1.0)
    };
    let are_shares = own.len() == LOADS_PCT.len() && own.iter().zip(&LOADS_PCT).all(is_share);
    let mut others = all.iter().filter(|other| name(other) != name(row));
    let are_given = others.any(|other| rates(&name(other)) == own);
    (are_shares && !are_given).then(|| 100.0 * lowest / LOADS_PCT[0])
}

/// Returns the rate that the engine of a row reaches in a closed loop, if that was measured.
fn closed_loop_pps(row: &Row, all: &[&Row]) -> Option<f64> {
    let mut others = all.iter().filter(|other| other.target_pps.is_none());
    let found = others.find(|other| name(other) == name(row))?;
    found.received_pps.filter(|pps| *pps > 0.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates"
)]
fn in_tenths(share: f64) -> u64 {
    (10.0 * share).round() as u64
}
