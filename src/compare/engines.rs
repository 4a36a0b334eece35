//! What all cases of an engine say together: a change too small for any of them alone.

use std::collections::BTreeMap;

use super::difference::{Difference, Measure};
use super::scatter::Scales;
use super::{CaseChange, Change, EngineChange, Verdict};
use crate::case::BlockKey;

/// Fewer do not tell how much blocks differ.
const FEWEST_BLOCKS: usize = 4;
/// Ratios have four decimals: no mean of them is surer.
const LEAST_ERROR: f64 = 3e-5;

/// One entry per label. Speeds without a reference are left out: what slows the whole run down would make
/// all blocks agree.
pub(super) fn pooled(cases: &[(&CaseChange, Difference)], scales: &Scales) -> Vec<EngineChange> {
    let mut by_label: BTreeMap<&str, BTreeMap<BlockKey, Vec<Difference>>> = BTreeMap::new();
    let with_ratio = cases
        .iter()
        .filter(|(_, found)| found.measure == Measure::Ratio);
    for (case, difference) in with_ratio {
        let blocks = by_label.entry(&case.label).or_default();
        blocks.entry(case.block).or_default().push(*difference);
    }
    let engines = by_label.into_iter();
    engines
        .map(|(label, blocks)| engine(label, &blocks, scales.for_label(label)))
        .collect()
}

fn engine(label: &str, blocks: &BTreeMap<BlockKey, Vec<Difference>>, scale: f64) -> EngineChange {
    let means = blocks.values().map(|cases| BlockMean::of(cases, scale));
    let means: Vec<BlockMean> = means.collect();
    let change = (means.len() >= FEWEST_BLOCKS).then(|| pool(&means));
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

/// Cases of a block share the windows of one reference, so that what happened to those moved all of them:
/// only blocks are independent.
struct BlockMean {
    log: f64,
    /// Of `log`, as if all errors in the block pointed the same way.
    variance: f64,
}

impl BlockMean {
    fn of(cases: &[Difference], scale: f64) -> Self {
        let mean = |value: fn(&Difference) -> f64| {
            cases.iter().map(value).sum::<f64>() / cases.len() as f64
        };
        let variance = scale.powi(2) * mean(|case| case.error.powi(2));
        Self {
            log: mean(|case| case.log),
            variance: variance.max(LEAST_ERROR.powi(2)),
        }
    }
}

/// The mean of a meta-analysis, blocks being its studies: each weighs as much as it is sure, and as blocks differ
/// beyond that (DerSimonian & Laird, Controlled Clinical Trials 7 (1986) 177-188). Its error is what the blocks
/// really scatter by (Hartung & Knapp, Statistics in Medicine 20 (2001) 3875-3889), and never less than they say
/// themselves, as few of them may agree by chance (Roever, Knapp & Friede, BMC Med. Res. Methodol. 15 (2015) 99).
fn pool(blocks: &[BlockMean]) -> Change {
    let freedom = blocks.len() as f64 - 1.0;
    let fixed = Weighted::new(blocks, 0.0);
    let squares = fixed.sum(|weight, log| weight * (log - fixed.mean).powi(2));
    let surplus = fixed.weights - fixed.sum(|weight, _| weight.powi(2)) / fixed.weights;
    let between = ((squares - freedom) / surplus).max(0.0);
    let random = Weighted::new(blocks, between);
    let squares = random.sum(|weight, log| weight * (log - random.mean).powi(2));
    let error = ((squares / freedom).max(1.0) / random.weights).sqrt();
    Change::new(random.mean, error, freedom)
}

/// Blocks, each with the inverse of its variance as its weight.
struct Weighted<'a> {
    blocks: &'a [BlockMean],
    between: f64,
    weights: f64,
    mean: f64,
}

impl<'a> Weighted<'a> {
    /// With what blocks differ by beside their own variance.
    fn new(blocks: &'a [BlockMean], between: f64) -> Self {
        let mut weighted = Self {
            blocks,
            between,
            weights: 0.0,
            mean: 0.0,
        };
        weighted.weights = weighted.sum(|weight, _| weight);
        weighted.mean = weighted.sum(|weight, log| weight * log) / weighted.weights;
        weighted
    }

    fn sum(&self, value: impl Fn(f64, f64) -> f64) -> f64 {
        let of_block = |block: &BlockMean| value(1.0 / (block.variance + self.between), block.log);
        self.blocks.iter().map(of_block).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(of: &[(f64, f64)]) -> Vec<BlockMean> {
        let block = |&(log, error): &(f64, f64)| BlockMean {
            log,
            variance: error * error,
        };
        of.iter().map(block).collect()
    }

    /// Mean 0.02, standard deviation 0.0158, of five: Student's t for four degrees of freedom is 2.776.
    #[test]
    fn blocks_that_are_equally_sure_have_the_plain_mean_and_its_error() {
        let logs = [0.0, 0.01, 0.02, 0.03, 0.04].map(|log| (log, 0.005));
        let found = pool(&blocks(&logs));
        assert!((found.estimate.ln_1p() - 0.02).abs() < 1e-12);
        let half = found.high.ln_1p() - 0.02;
        assert!(
            (half - 2.776 * 0.015_811 / 5_f64.sqrt()).abs() < 1e-5,
            "{half}"
        );
    }

    /// Five agree to a thousandth, where each is sure to a hundredth.
    #[test]
    fn blocks_that_agree_by_chance_are_no_surer_than_they_say() {
        let logs = [0.0, 0.001, 0.0, 0.001, 0.0].map(|log| (log, 0.01));
        let found = pool(&blocks(&logs));
        let half = (found.high.ln_1p() - found.low.ln_1p()) / 2.0;
        assert!((half - 2.776 * 0.01 / 5_f64.sqrt()).abs() < 1e-5, "{half}");
    }

    #[test]
    fn a_wild_block_neither_moves_the_mean_nor_hides_what_the_others_say() {
        let mut of = [-0.031, -0.030, -0.029, -0.030, -0.032]
            .map(|log| (log, 0.01))
            .to_vec();
        of.push((0.5, 1.0));
        let found = pool(&blocks(&of));
        assert!((found.estimate.ln_1p() + 0.030).abs() < 0.002, "{found:?}");
        assert!(found.p_value < 0.01, "{found:?}");
    }
}
