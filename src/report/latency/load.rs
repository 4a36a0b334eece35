//! Charts of round-trip times under load.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{QUANTILES, Quantile, mark, name};
use crate::data::{BlockKey, Workload};
use crate::report::chart::{LOOKS, Line, Lines, Look, Over, figure, legend};
use crate::report::engines;
use crate::results::row::Row;

/// Cases that differ only in engine and rate.
pub(super) struct Loads<'a> {
    caption: String,
    steps: Vec<String>,
    engines: Vec<Loaded<'a>>,
}

const LOAD: Over = Over {
    name: "load",
    axis: "load",
    unit: "",
    is_log: true,
};

/// An engine, with its rows by step.
type Loaded<'a> = (String, Vec<(usize, &'a Row)>);

impl Loads<'_> {
    /// Draws the charts. A chart has at most [`LOOKS`] engines.
    pub(super) fn draw(&self) -> Markup {
        let [half, _, rare, ..] = &QUANTILES;
        let picture = |axis| Lines {
            axis,
            over: LOAD,
            steps: &self.steps,
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

    fn lines(engines: &[Loaded], quantile: &Quantile) -> Vec<Line> {
        let line = |((label, rows), look): (&Loaded, Look)| {
            let marks = rows
                .iter()
                .filter_map(|(step, row)| Some((*step, mark(quantile, row, look)?)));
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

/// Groups the rows with a target rate into charts. A group with fewer than two loads has no chart.
pub(super) fn by_load(rows: &[Row]) -> Vec<Loads<'_>> {
    let without_rate = |row: &Row| BlockKey {
        rate: None,
        ..row.block()
    };
    let waiting = |block: BlockKey| BlockKey {
        arrivals: None,
        ..block
    };
    let mut groups: BTreeMap<BlockKey, Vec<&Row>> = BTreeMap::new();
    let is_load = |row: &&Row| row.target_pps.is_some() && row.workload == Workload::Rr;
    for row in rows.iter().filter(is_load) {
        groups.entry(without_rate(row)).or_default().push(row);
    }
    let loads = groups.into_iter().filter_map(|(block, loaded)| {
        let alone = |row: &Row| {
            let mut others = rows.iter().filter(|other| other.target_pps.is_none());
            let found =
                others.find(|other| name(other) == name(row) && other.block() == waiting(block));
            found.and_then(|other| other.received_pps)
        };
        let loads = loaded.iter().filter_map(|row| load(row, alone(row)));
        let mut loads: Vec<(u64, String, &Row)> = loads.collect();
        loads.sort_by_key(|(order, ..)| *order);
        let mut steps: Vec<String> = loads.iter().map(|(_, step, _)| step.clone()).collect();
        steps.dedup();
        (steps.len() > 1).then(|| {
            let mut found: Vec<Loaded> = Vec::new();
            for (_, step, row) in &loads {
                let at = steps.iter().position(|one| one == step).unwrap_or_default();
                match found.iter_mut().find(|(label, _)| *label == name(row)) {
                    Some((_, rows)) => rows.push((at, row)),
                    None => found.push((name(row), vec![(at, row)])),
                }
            }
            found.sort_by_cached_key(|(_, rows)| rows.first().map(|(_, row)| engines::order(row)));
            Loads {
                caption: block.to_string(),
                steps,
                engines: found,
            }
        })
    });
    loads.collect()
}

/// Returns the load of a row, with its sort key and text: in % of the closed-loop rate `alone`, to the nearest 10 %,
/// if that is known, else as a rate.
fn load(row: &Row, alone: Option<f64>) -> Option<(u64, String, &Row)> {
    let rate = u32::from(row.target_pps?);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates"
    )]
    let tenths = |alone: f64| (10.0 * f64::from(rate) / alone).round() as u64;
    match alone.filter(|alone| *alone > 0.0).map(tenths) {
        Some(tenths) => Some((tenths, format!("{} %", 10 * tenths), row)),
        None => Some((rate.into(), format!("{rate}/s"), row)),
    }
}
