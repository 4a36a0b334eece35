//! What all cases of an engine say together: a change too small for any of them alone.
//!
//! Blocks are the evidence: their cases share the windows of one reference, so that what happened to those moved
//! all of them. The change is what a line through the blocks has where the reference did not move.

use std::collections::BTreeMap;

use super::difference::{Difference, Measure};
use super::drift::Drift;
use super::scatter;
use super::{CaseChange, Change, EngineChange, Stratum, Verdict};
use crate::data::{BlockKey, Threads};

/// Fewer do not tell how much blocks differ.
const FEWEST_BLOCKS: usize = 4;

/// One entry per label. Speeds without a reference are left out: what slows the whole run down would make
/// all blocks agree.
pub(super) fn pooled(cases: &[(&CaseChange, Difference)], drift: &Drift) -> Vec<EngineChange> {
    let mut by_label: BTreeMap<&str, BTreeMap<BlockKey, Vec<Difference>>> = BTreeMap::new();
    let with_ratio = cases
        .iter()
        .filter(|(_, found)| found.measure == Measure::Ratio);
    for (case, difference) in with_ratio {
        let blocks = by_label.entry(&case.label).or_default();
        blocks.entry(case.block).or_default().push(*difference);
    }
    let means = |blocks: &BTreeMap<BlockKey, Vec<Difference>>| -> Vec<BlockMean> {
        let mean = |(block, cases): (&BlockKey, &Vec<_>)| BlockMean::of(block, cases, drift);
        blocks.iter().map(mean).collect()
    };
    let engines: Vec<_> = by_label
        .iter()
        .map(|(label, blocks)| (*label, blocks, means(blocks)))
        .collect();
    let scatter = Scatter::of(engines.iter().map(|(_, _, means)| &means[..]));
    let engine = |(label, blocks, means): &(&str, &BTreeMap<_, Vec<_>>, Vec<BlockMean>)| {
        let change = (means.len() >= FEWEST_BLOCKS).then(|| scatter.line(means));
        EngineChange {
            label: (*label).to_owned(),
            cases: blocks.values().map(Vec::len).sum(),
            blocks: means.len(),
            change,
            strata: scatter.strata(means),
            verdict: match change {
                Some(_) => Verdict::Unclear,
                None => Verdict::NotComparable(format!(
                    "{} of the {FEWEST_BLOCKS} blocks needed",
                    means.len()
                )),
            },
        }
    };
    engines.iter().map(engine).collect()
}

/// What one block says about an engine.
#[derive(Clone, Copy, Debug)]
struct BlockMean {
    threads: Threads,
    log: f64,
    /// Of `log`, by the rounds, as if all errors in the block pointed the same way.
    variance: f64,
    /// How much faster the reference is, as a logarithm.
    reference: f64,
}

impl BlockMean {
    fn of(block: &BlockKey, cases: &[Difference], drift: &Drift) -> Self {
        let mean = |value: fn(&Difference) -> f64| {
            cases.iter().map(value).sum::<f64>() / cases.len() as f64
        };
        Self {
            threads: block.threads,
            log: mean(|case| case.log),
            variance: mean(|case| case.error.powi(2)),
            reference: drift.change(block),
        }
    }
}

/// How much blocks of as many threads scatter around each engine's middle: those of one thread agree many times as
/// well as those in which threads share CPUs.
struct Scatter(BTreeMap<Threads, f64>);

/// No two runs agree better than that.
const LEAST_SCATTER: f64 = 0.003;
/// The part of what a block's own rounds let expect that is added: single windows are far off, which medians ignore
/// and standard deviations do not.
const PART_OF_OWN: f64 = 0.2;
/// Degrees of freedom of the blocks' scatter: some are far off.
const TAILS: f64 = 3.0;
/// The scale of such a distribution that fits normal values of standard deviation 1: no set of blocks is taken to
/// agree better than blocks do, as few of them may by chance.
const LEAST_SCALE: f64 = 0.73;
/// A CPU whose neighbour is busy slows a system call and a copy down by different parts: how much of a change of
/// the reference a ratio may show, as a standard deviation.
const SLOPE: f64 = 0.1;

impl Scatter {
    fn of<'a>(engines: impl Iterator<Item = &'a [BlockMean]>) -> Self {
        let mut residuals: BTreeMap<Threads, Vec<f64>> = BTreeMap::new();
        for blocks in engines {
            let mut by_threads: BTreeMap<Threads, Vec<(f64, f64)>> = BTreeMap::new();
            for block in blocks {
                by_threads
                    .entry(block.threads)
                    .or_default()
                    .push((block.log, 1.0));
            }
            for (threads, logs) in by_threads {
                residuals
                    .entry(threads)
                    .or_default()
                    .extend(scatter::residuals(&logs));
            }
        }
        let residuals = residuals.into_iter();
        let deviation = |(threads, residuals): (Threads, Vec<f64>)| {
            (!residuals.is_empty()).then(|| (threads, scatter::deviation(&residuals)))
        };
        Self(residuals.filter_map(deviation).collect())
    }

    /// The standard deviation of a block, before it is known how well those of its engine agree.
    fn of_block(&self, block: &BlockMean) -> f64 {
        let common = self.0.get(&block.threads).copied().unwrap_or_default();
        (common.max(LEAST_SCATTER).powi(2) + PART_OF_OWN * block.variance).sqrt()
    }

    /// A line through the blocks of each thread count: the line through all of them follows those that agree best,
    /// which are those of one thread, and takes the others for wild where they all changed.
    fn strata(&self, blocks: &[BlockMean]) -> Vec<Stratum> {
        let mut by_threads: BTreeMap<Threads, Vec<BlockMean>> = BTreeMap::new();
        for block in blocks {
            by_threads.entry(block.threads).or_default().push(*block);
        }
        let stratum = |(threads, blocks): (Threads, Vec<BlockMean>)| Stratum {
            threads,
            change: (blocks.len() > 1).then(|| self.line(&blocks)),
        };
        by_threads.into_iter().map(stratum).collect()
    }

    /// A robust line through the blocks, by Student's t of [`TAILS`] degrees of freedom: the likeliest one, found by
    /// weighing each block by how far off it is, again and again (Lange, Little & Taylor, J. Am. Stat. Assoc. 84
    /// (1989) 881-896). Its slope over the reference's change is held near 0.
    fn line(&self, blocks: &[BlockMean]) -> Change {
        let scatter: Vec<f64> = blocks.iter().map(|block| self.of_block(block)).collect();
        let freedom = blocks.len() as f64 - 1.0;
        let mut line = Line::through(blocks, &scatter, |_| 1.0);
        let mut scale = 1.0;
        for _ in 0..MOST_STEPS {
            let squares = |n: usize| (line.residual(&blocks[n]) / scatter[n]).powi(2);
            let weight = |n: usize| (TAILS + 1.0) / (TAILS + squares(n) / f64::powi(scale, 2));
            let sum: f64 = (0..blocks.len()).map(|n| weight(n) * squares(n)).sum();
            let next = Line::through(blocks, &scatter, |n| weight(n) / f64::powi(scale, 2));
            let next_scale = (sum / freedom).sqrt().max(LEAST_SCALE);
            let moved = (next.log - line.log).abs() + (next_scale - scale).abs();
            (line, scale) = (next, next_scale);
            if moved < CLOSE_ENOUGH {
                break;
            }
        }
        let information = (TAILS + 1.0) / (TAILS + 3.0) / scale.powi(2);
        let error = Line::through(blocks, &scatter, |_| information).error;
        Change::new(line.log, error, freedom)
    }
}

const MOST_STEPS: usize = 300;
const CLOSE_ENOUGH: f64 = 1e-9;

/// The weighted line of least squares.
struct Line {
    /// Where the reference did not move.
    log: f64,
    slope: f64,
    /// Of `log`.
    error: f64,
}

impl Line {
    fn through(blocks: &[BlockMean], scatter: &[f64], weight: impl Fn(usize) -> f64) -> Self {
        let weights = scatter.iter().enumerate();
        let weights: Vec<f64> = weights
            .map(|(n, scatter)| weight(n) / scatter.powi(2))
            .collect();
        let sum = |value: fn(&BlockMean) -> f64| -> f64 {
            let both = weights.iter().zip(blocks);
            both.map(|(weight, block)| weight * value(block)).sum()
        };
        let all: f64 = weights.iter().sum();
        let moved = sum(|block| block.reference);
        let squares = sum(|block| block.reference.powi(2)) + SLOPE.powi(-2);
        let logs = sum(|block| block.log);
        let products = sum(|block| block.reference * block.log);
        let determinant = all * squares - moved * moved;
        Self {
            log: (logs * squares - moved * products) / determinant,
            slope: (all * products - moved * logs) / determinant,
            error: (squares / determinant).sqrt(),
        }
    }

    fn residual(&self, block: &BlockMean) -> f64 {
        block.log - self.log - self.slope * block.reference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(of: &[(f64, f64)]) -> Vec<BlockMean> {
        let block = |&(log, reference): &(f64, f64)| BlockMean {
            threads: 1.try_into().expect("in range"),
            log,
            variance: 0.0,
            reference,
        };
        of.iter().map(block).collect()
    }

    fn change(of: &[(f64, f64)]) -> Change {
        let blocks = blocks(of);
        Scatter::of([&blocks[..]].into_iter()).line(&blocks)
    }

    fn half(change: Change) -> f64 {
        (change.high.ln_1p() - change.low.ln_1p()) / 2.0
    }

    #[test]
    fn what_blocks_agree_on_is_the_change() {
        let found = change(&[0.02, 0.01, 0.03, 0.0, 0.04, 0.02].map(|log| (log, 0.0)));
        assert!((found.estimate.ln_1p() - 0.02).abs() < 1e-3, "{found:?}");
        // Normal values of this scatter: 2.571 x 0.0141 / sqrt(6) by the textbook.
        assert!((0.012..0.022).contains(&half(found)), "{found:?}");
    }

    #[test]
    fn blocks_that_agree_by_chance_are_no_surer_than_blocks_are() {
        let found = change(&[-0.03; 6].map(|log| (log, 0.0)));
        let least = 2.571 * LEAST_SCALE * LEAST_SCATTER * (1.5_f64 / 6.0).sqrt();
        assert!((half(found) - least).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn a_wild_block_neither_moves_the_change_nor_hides_what_the_others_say() {
        let mut of = [-0.031, -0.030, -0.029, -0.030, -0.032, -0.028]
            .map(|log| (log, 0.0))
            .to_vec();
        of.push((0.5, 0.0));
        let found = change(&of);
        assert!((found.estimate.ln_1p() + 0.030).abs() < 0.002, "{found:?}");
        assert!(found.p_value < 0.01, "{found:?}");
    }

    /// A tenth of what the reference moved by shows in each ratio: where it did not move, nothing changed.
    #[test]
    fn what_follows_the_reference_is_no_change_of_the_engine() {
        let moved = [0.3, 0.25, -0.1, 0.2, 0.05, 0.15, -0.05, 0.1];
        let of = moved.map(|moved| (0.1 * moved, moved));
        let plain: f64 = of.iter().map(|(log, _)| log).sum::<f64>() / 8.0;
        let found = change(&of);
        assert!(plain > 0.01 && found.estimate.abs() < 0.003, "{found:?}");
        // That all of them moved alike may be due to the engine, or not: unclear.
        let alike = change(&[0.2; 8].map(|moved| (0.1 * moved, moved)));
        assert!(alike.low < 0.0, "{alike:?}");
    }
}
