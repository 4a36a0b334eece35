//! What a comparison can say, by the cases alone, before anything is measured.

use std::collections::{BTreeMap, BTreeSet};

use super::engines::FEWEST_BLOCKS;
use crate::data::{BlockKey, Case};
use crate::results::row::{Row, Status};

/// What a comparison can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Nothing, as no case is in both.
    NoCase,
    /// Nothing, as only the reference is in both.
    OnlyReference,
    /// Nothing of any engine: each has so many of the blocks that are needed, or fewer.
    TooFewBlocks(usize),
    /// Something.
    Decides,
}

/// How many blocks an engine needs to be judged.
pub const BLOCKS_NEEDED: usize = FEWEST_BLOCKS;

/// What a comparison of `planned` cases with these rows can say. Where there is no reference, std is judged as well.
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
