//! What all cases of an engine say together: a change too small for any of them alone.

use std::collections::BTreeMap;

use statrs::statistics::{Data, Distribution};

use super::difference::{Difference, Measure};
use super::{CaseChange, Change, EngineChange, Verdict};
use crate::case::BlockKey;

/// Fewer do not tell how much blocks differ.
const FEWEST_BLOCKS: usize = 4;
/// Ratios have four decimals: no mean of them is surer.
const LEAST_ERROR: f64 = 3e-5;

/// One entry per label. Speeds without a reference are left out: what slows the whole run down would make
/// all blocks agree.
pub(super) fn pooled(cases: &[(&CaseChange, Difference)]) -> Vec<EngineChange> {
    let mut by_label: BTreeMap<&str, BTreeMap<BlockKey, Vec<f64>>> = BTreeMap::new();
    let with_ratio = cases
        .iter()
        .filter(|(_, found)| found.measure == Measure::Ratio);
    for (case, difference) in with_ratio {
        let blocks = by_label.entry(&case.label).or_default();
        blocks.entry(case.block).or_default().push(difference.log);
    }
    let engines = by_label.into_iter();
    engines
        .map(|(label, blocks)| engine(label, &blocks))
        .collect()
}

/// Cases of a block share the windows of one reference, so that what happened to those moved all of them:
/// only blocks are independent.
fn engine(label: &str, blocks: &BTreeMap<BlockKey, Vec<f64>>) -> EngineChange {
    let mean = |logs: &Vec<f64>| logs.iter().sum::<f64>() / logs.len() as f64;
    let means: Vec<f64> = blocks.values().map(mean).collect();
    let change = change(&means);
    let verdict = match change {
        Some(_) => Verdict::Unclear,
        None => Verdict::NotComparable(format!(
            "{} of the {FEWEST_BLOCKS} blocks that it takes",
            means.len()
        )),
    };
    EngineChange {
        label: label.to_owned(),
        cases: blocks.values().map(Vec::len).sum(),
        blocks: means.len(),
        change,
        verdict,
    }
}

fn change(means: &[f64]) -> Option<Change> {
    if means.len() < FEWEST_BLOCKS {
        return None;
    }
    let count = means.len() as f64;
    let data = Data::new(means.to_vec());
    let error = (data.std_dev()? / count.sqrt()).max(LEAST_ERROR);
    Some(Change::new(data.mean()?, error, count - 1.0))
}
