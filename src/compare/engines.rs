//! What all cases of an engine say together: a change too small for any of them alone.

use std::collections::BTreeMap;

use statrs::statistics::{Data, OrderStatistics};

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
        .map(|(label, blocks)| engine(label, &blocks))
        .collect()
}

fn engine(label: &str, blocks: &BTreeMap<BlockKey, Vec<Difference>>) -> EngineChange {
    let means: Vec<BlockMean> = blocks.values().map(|cases| BlockMean::of(cases)).collect();
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
    /// How much its cases scatter, for the weight that it gets; the scale does not matter.
    variance: f64,
}

impl BlockMean {
    fn of(cases: &[Difference]) -> Self {
        let mean = |value: fn(&Difference) -> f64| {
            cases.iter().map(value).sum::<f64>() / cases.len() as f64
        };
        Self {
            log: mean(|case| case.log),
            variance: mean(|case| case.error.powi(2)),
        }
    }
}

/// The weighted mean, with the error that the blocks themselves show, whatever their rounds say.
///
/// Noisy blocks weigh less, as in a meta-analysis (DerSimonian & Laird, Controlled Clinical Trials 7 (1986)
/// 177-188). The median of all variances is what blocks are taken to differ by beside their own: it keeps a
/// block that happens to look quiet from speaking for all. So many blocks of these weights count as fewer
/// of equal ones (Kish, *Survey Sampling*, 1965, section 11.7).
fn pool(blocks: &[BlockMean]) -> Change {
    let variances: Vec<f64> = blocks.iter().map(|block| block.variance).collect();
    let beside = Data::new(variances).median();
    let weighted = blocks
        .iter()
        .map(|block| (1.0 / (block.variance + beside), block.log));
    let sum =
        |value: fn(f64, f64) -> f64| weighted.clone().map(|(w, log)| value(w, log)).sum::<f64>();
    let weights = sum(|weight, _| weight);
    let mean = sum(|weight, log| weight * log) / weights;
    let count = weights.powi(2) / sum(|weight, _| weight.powi(2));
    let squares: f64 = weighted
        .clone()
        .map(|(weight, log)| (weight * (log - mean)).powi(2))
        .sum();
    let error = (squares / weights.powi(2) * count / (count - 1.0)).sqrt();
    Change::new(mean, error.max(LEAST_ERROR), count - 1.0)
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
    fn blocks_that_scatter_alike_have_the_plain_mean_and_its_error() {
        let logs = [0.0, 0.01, 0.02, 0.03, 0.04].map(|log| (log, 0.05));
        let found = pool(&blocks(&logs));
        assert!((found.estimate.ln_1p() - 0.02).abs() < 1e-12);
        let half = found.high.ln_1p() - 0.02;
        assert!(
            (half - 2.776 * 0.015_811 / 5_f64.sqrt()).abs() < 1e-5,
            "{half}"
        );
    }

    #[test]
    fn a_wild_block_neither_moves_the_mean_nor_hides_what_the_others_say() {
        let mut of = [-0.031, -0.030, -0.029, -0.030, -0.032]
            .map(|log| (log, 0.01))
            .to_vec();
        of.push((0.5, 1.0));
        let found = pool(&blocks(&of));
        assert!((found.estimate.ln_1p() + 0.030).abs() < 0.001, "{found:?}");
        assert!(found.p_value < 1e-3, "{found:?}");
    }
}
