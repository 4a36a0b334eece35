//! Drift of the machine from one run to the other, by the speed of the reference of each block.
//!
//! Drift hits both windows of a pair and cancels in their ratio, but only nearly: a CPU that shares its core with a
//! busy neighbour slows a system call and a copy down by different shares. Measured on a virtual machine, between
//! sweeps of the same build: in single blocks whose reference had changed by 15 to 60 %, ratios were off by 6 to 13
//! %. That is a sixth to a half of the change of the reference. Their rounds predicted 1 %.

use std::collections::BTreeMap;

use crate::data::BlockKey;
use crate::results::files::Results;
use crate::results::row::{Row, Status};

/// Change of the reference, as a logarithm, below which it is noise of its own windows.
const NOISE: f64 = 0.05;
/// Share of the change above [`NOISE`] by which a ratio may be off.
const LEFT_OVER: f64 = 0.25;

/// Change of the reference in each block, as a logarithm.
#[derive(Debug, Default)]
pub(super) struct Drift(BTreeMap<BlockKey, f64>);

impl Drift {
    pub(super) fn between(base: &Results, new: &Results) -> Self {
        let (base, new) = (speeds(base), speeds(new));
        let of_block = |(block, speed): (BlockKey, f64)| {
            let change = (new.get(&block)? / speed).ln();
            change.is_finite().then_some((block, change))
        };
        Self(base.into_iter().filter_map(of_block).collect())
    }

    /// Returns the change of the reference of a block, as a logarithm. Above 0 it is faster.
    pub(super) fn change(&self, block: &BlockKey) -> f64 {
        self.0.get(block).copied().unwrap_or_default()
    }

    /// Returns the standard error that drift adds to a ratio in a block.
    pub(super) fn error(&self, block: &BlockKey) -> f64 {
        LEFT_OVER * (self.change(block).abs() - NOISE).max(0.0)
    }

    /// Returns the remark on drift, if there is any.
    pub(super) fn remark(&self) -> Option<String> {
        let (moved, all) = (
            self.0
                .values()
                .filter(|change| change.abs() > NOISE)
                .count(),
            self.0.len(),
        );
        (moved > 0).then(|| {
            format!(
                "in {moved} of {all} blocks the reference itself changed by more than 5 %: cases there \
                 count for less"
            )
        })
    }
}

/// Returns the datagrams per second of the reference in each block.
fn speeds(results: &Results) -> BTreeMap<BlockKey, f64> {
    let is_reference = |row: &&Row| row.is_reference() && row.status == Status::Ok;
    let rows = results.rows.iter().filter(is_reference);
    let speed = |row: &Row| Some((row.block(), row.received_pps.filter(|&pps| pps > 0.0)?));
    rows.filter_map(speed).collect()
}
