//! Predicts from the cases alone what a comparison can judge, before anything is measured.

use std::collections::{BTreeMap, BTreeSet};

use super::engines::FEWEST_BLOCKS;
use crate::data::{BlockKey, Case};
use crate::results::row::{Row, Status};

/// Prediction of what a comparison can judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Nothing: no case is in both.
    NoCase,
    /// Nothing: only the reference is in both.
    OnlyReference,
    /// No engine: none has enough blocks. The field is the highest number of blocks of an engine.
    TooFewBlocks(usize),
    /// At least one engine.
    Decides,
}

/// Number of blocks that an engine needs to be judged.
pub const BLOCKS_NEEDED: usize = FEWEST_BLOCKS;

/// Predicts what a comparison of the planned cases with these rows can judge. Without a reference, std is judged like
/// any other engine.
pub fn outlook<'a>(base: &[Row], planned: impl Iterator<Item = &'a Case>) -> Outlook {
    let planned: Vec<&Case> = planned.collect();
    let rows = base.iter().filter(|row| row.status == Status::Ok);
    let keys: BTreeSet<&str> = rows.map(|row| row.case.as_str()).collect();
    let in_both = planned
        .iter()
        .filter(|case| keys.contains(case.key().as_str()));
    let in_both: Vec<&&Case> = in_both.collect();
    let mut blocks: BTreeMap<String, BTreeSet<BlockKey>> = BTreeMap::new();
    for case in &in_both {
        let has_reference = planned.contains(&&case.reference());
        if !(has_reference && case.is_reference()) {
            let blocks = blocks.entry(case.label()).or_default();
            blocks.extend(has_reference.then(|| case.block()));
        }
    }
    match blocks.values().map(BTreeSet::len).max() {
        None if in_both.is_empty() => Outlook::NoCase,
        None => Outlook::OnlyReference,
        Some(most) if most < BLOCKS_NEEDED => Outlook::TooFewBlocks(most),
        Some(_) => Outlook::Decides,
    }
}
