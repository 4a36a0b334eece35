//! Pools all cases of an engine, and of each part of it. This finds changes that are too small for a single case.

use std::collections::BTreeMap;

use super::difference::{Difference, Measure};
use super::drift::Drift;
use super::fitted_line::{BlockMean, Scatter};
use super::parts::{Cut, PARAMETERS, Part, Value};
use super::{CaseChange, Change, EngineChange, Verdict};
use crate::data::BlockKey;

/// Smallest number of blocks that shows how much blocks differ.
pub(super) const FEWEST_BLOCKS: usize = 4;

type Case<'a> = (&'a CaseChange, Difference);

/// Returns one entry per label. Speeds without a reference are left out: if the whole run is slower, all blocks would
/// agree on a change.
pub(super) fn pooled(cases: &[Case], drift: &Drift) -> Vec<EngineChange> {
    let mut by_label: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for case in cases
        .iter()
        .filter(|(_, found)| found.measure == Measure::Ratio)
    {
        by_label.entry(&case.0.label).or_default().push(*case);
    }
    let whole = |cases: &Vec<Case>| means(cases, drift, |_| ()).remove(&()).unwrap_or_default();
    let engines: Vec<(&str, &Vec<Case>, Vec<BlockMean>)> = by_label
        .iter()
        .map(|(label, cases)| (*label, cases, whole(cases)))
        .collect();
    let scatter = Scatter::of(engines.iter().map(|(_, _, blocks)| &blocks[..]));
    let engine = |(label, cases, blocks): (&str, &Vec<Case>, Vec<BlockMean>)| {
        let count = blocks.len();
        let mut engine = EngineChange {
            label: label.to_owned(),
            cases: cases.len(),
            blocks: count,
            change: None,
            cuts: Vec::new(),
            parts: Vec::new(),
            verdict: Verdict::NotComparable(format!(
                "{count} of the {FEWEST_BLOCKS} blocks needed"
            )),
        };
        if count >= FEWEST_BLOCKS {
            let freedom = count as f64 - 1.0;
            let line = scatter.lines(&[blocks])[0];
            engine.change = Some(Change::new(line.log, line.error, freedom));
            let cut = |of| cut(means(cases, drift, of), count, &scatter);
            engine.cuts = PARAMETERS.into_iter().filter_map(cut).collect();
            engine.verdict = Verdict::Unclear;
        }
        engine
    };
    engines.into_iter().map(engine).collect()
}

/// Returns the blocks of each part.
fn means<P: Ord>(
    cases: &[Case],
    drift: &Drift,
    part: impl Fn(&CaseChange) -> P,
) -> BTreeMap<P, Vec<BlockMean>> {
    let mut parts: BTreeMap<P, BTreeMap<BlockKey, Vec<Difference>>> = BTreeMap::new();
    for (case, difference) in cases {
        let blocks = parts.entry(part(case)).or_default();
        blocks.entry(case.block).or_default().push(*difference);
    }
    let mean = |(block, cases): (BlockKey, Vec<_>)| BlockMean::of(&block, &cases, drift);
    let means =
        |(part, blocks): (P, BTreeMap<_, _>)| (part, blocks.into_iter().map(mean).collect());
    parts.into_iter().map(means).collect()
}

/// Returns the cut into these parts. `None`: there is only one part.
fn cut(parts: BTreeMap<Part, Vec<BlockMean>>, blocks: usize, scatter: &Scatter) -> Option<Cut> {
    let freedom = blocks.saturating_sub(parts.len()).max(1) as f64;
    let (parts, blocks): (Vec<Part>, Vec<Vec<BlockMean>>) = parts.into_iter().unzip();
    let lines = scatter.lines(&blocks);
    let values = parts.into_iter().zip(blocks).zip(lines);
    let value = |((part, blocks), line): ((_, Vec<_>), _)| Value {
        part,
        blocks: blocks.len(),
        line,
    };
    let values: Vec<Value> = values.map(value).collect();
    (values.len() > 1).then(|| Cut::of(values, freedom))
}
