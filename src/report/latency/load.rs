//! Charts of round-trip times under load.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{QUANTILES, Quantile, mark, name};
use crate::data::{BlockKey, Workload};
use crate::report::chart::{LOOKS, Line, Lines, Look, Over, figure, legend};
use crate::report::engines;
use crate::results::row::Row;

/// Charts of cases that differ only in engine and rate.
pub(super) struct LoadChart<'a> {
    caption: String,
    /// Labels of the loads, in ascending order: all in % of the closed-loop rates, or all rates.
    loads: Vec<String>,
    engines: Vec<EngineRows<'a>>,
}

const LOAD_AXIS: Over = Over {
    name: "load",
    axis: "load",
    unit: "",
    is_log: true,
};

/// Label of an engine, and its rows with the index of their load.
type EngineRows<'a> = (String, Vec<(usize, &'a Row)>);

impl LoadChart<'_> {
    /// Draws the charts. A chart has at most [`LOOKS`] engines.
    pub(super) fn draw(&self) -> Markup {
        let [half, _, rare, ..] = &QUANTILES;
        let picture = |axis| Lines {
            axis,
            over: LOAD_AXIS,
            steps: &self.loads,
            caption: &self.caption,
        };
        html! {
            @for engines in self.engines.chunks(LOOKS) {
                @let (half, rare) = (Self::lines(engines, half), Self::lines(engines, rare));
                (figure(&self.caption, &html! {
                    p .legend { (legend(&half)) }
                    (picture("µs, 50 %").draw(&half)) (picture("µs, 99 %").draw(&rare))
                }))
            }
        }
    }

    fn lines(engines: &[EngineRows], quantile: &Quantile) -> Vec<Line> {
        let line = |((label, rows), look): (&EngineRows, Look)| {
            let marks = rows
                .iter()
                .filter_map(|(load, row)| Some((*load, mark(quantile, row, look)?)));
            Line {
                label: label.clone(),
                look,
                marks: marks.collect(),
            }
        };
        let firsts = engines.iter().filter_map(|(_, rows)| Some(rows.first()?.1));
        let looks = engines::looks(&firsts.collect::<Vec<_>>());
        engines.iter().zip(looks).map(line).collect()
    }
}

/// Returns the charts of the rows with a target rate. Cases with fewer than two loads have none.
pub(super) fn load_charts(rows: &[Row]) -> Vec<LoadChart<'_>> {
    let mut groups: BTreeMap<BlockKey, Vec<&Row>> = BTreeMap::new();
    let is_loaded = |row: &&Row| row.target_pps.is_some() && row.workload == Workload::Rr;
    for row in rows.iter().filter(is_loaded) {
        let block = BlockKey {
            rate: None,
            ..row.block()
        };
        groups.entry(block).or_default().push(row);
    }
    let charts = groups.into_iter();
    charts
        .filter_map(|(block, loaded)| load_chart(block, &loaded, rows))
        .collect()
}

/// Returns the charts of the rows `loaded`, which differ only in engine and rate.
fn load_chart<'a>(block: BlockKey, loaded: &[&'a Row], all: &[Row]) -> Option<LoadChart<'a>> {
    let closed_loop = loaded.iter().map(|row| closed_loop_pps(row, block, all));
    // One axis has one kind of loads: rates, if the closed-loop rate of any row is unknown.
    let closed_loop: Option<Vec<f64>> = closed_loop.collect();
    let keys: Vec<u64> = match &closed_loop {
        Some(rates) => loaded.iter().zip(rates).map(share_in_tenths).collect(),
        None => loaded.iter().map(|row| target_pps(row)).collect(),
    };
    let mut loads = keys.clone();
    loads.sort_unstable();
    loads.dedup();
    if loads.len() < 2 {
        return None;
    }
    let mut engines: Vec<EngineRows> = Vec::new();
    for (key, row) in keys.iter().zip(loaded) {
        let load = loads.partition_point(|load| load < key);
        match engines.iter_mut().find(|(label, _)| *label == name(row)) {
            Some((_, rows)) => rows.push((load, row)),
            None => engines.push((name(row), vec![(load, row)])),
        }
    }
    for (_, rows) in &mut engines {
        rows.sort_by_key(|(load, _)| *load);
    }
    engines.sort_by_cached_key(|(_, rows)| rows.first().map(|(_, row)| engines::order(row)));
    let label = |load: u64| match closed_loop {
        Some(_) => format!("{} %", 10 * load),
        None => format!("{load}/s"),
    };
    Some(LoadChart {
        caption: block.to_string(),
        loads: loads.into_iter().map(label).collect(),
        engines,
    })
}

/// Returns the rate that the engine of a row reaches in a closed loop, if that was measured. `block` has no rate.
fn closed_loop_pps(row: &Row, block: BlockKey, all: &[Row]) -> Option<f64> {
    let block = BlockKey {
        arrivals: None,
        ..block
    };
    let mut others = all.iter().filter(|other| other.target_pps.is_none());
    let found = others.find(|other| name(other) == name(row) && other.block() == block)?;
    found.received_pps.filter(|pps| *pps > 0.0)
}

/// Returns the target rate of a row in tenths of its closed-loop rate, rounded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates"
)]
fn share_in_tenths((row, closed_loop_pps): (&&Row, &f64)) -> u64 {
    (10.0 * target_pps(row) as f64 / closed_loop_pps).round() as u64
}

fn target_pps(row: &Row) -> u64 {
    row.target_pps.map_or(0, |pps| u32::from(pps).into())
}
