//! Fits the change that the blocks of an engine, or of each part of it, have in common: robust lines, one per part,
//! with one scale for all.
//!
//! Blocks are the evidence. The cases of a block share the windows of one reference, so any disturbance of those
//! windows moves all of them. The change is the value of the line where the reference did not move.

use std::collections::BTreeMap;

use super::difference::Difference;
use super::drift::Drift;
use super::scatter;
use crate::data::{BlockKey, Threads};

/// Result of one block for an engine, or for a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockMean {
    threads: Threads,
    log: f64,
    /// Variance of `log` from the rounds, as if all errors in the block had the same sign.
    variance: f64,
    /// Change of the reference, as a logarithm. Above 0 it is faster.
    reference: f64,
}

impl BlockMean {
    pub(super) fn of(block: &BlockKey, cases: &[Difference], drift: &Drift) -> Self {
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

/// Scatter of blocks around the middle of their engine, by thread count. Blocks of one thread agree many times better
/// than blocks in which threads share CPUs.
pub(super) struct Scatter(BTreeMap<Threads, f64>);

/// Share of a block's own variance that adds to the common scatter. Its standard deviations count outlying windows,
/// which medians ignore.
const PART_OF_OWN: f64 = 0.2;
/// Degrees of freedom of the blocks' scatter: some blocks are far off.
const TAILS: f64 = 3.0;
/// Smallest scale of the fit: the scale of such a distribution that fits normal values of standard deviation 1. By
/// chance, a few blocks may agree better than the blocks of all engines. The fit never relies on that.
const LEAST_SCALE: f64 = 0.73;
/// Share of a change of the reference that a ratio may show, as a standard deviation. A CPU whose neighbour is busy
/// slows a system call and a copy down by different shares.
const SLOPE: f64 = 0.1;

impl Scatter {
    /// Estimates the scatter from the blocks of each engine.
    pub(super) fn of<'a>(engines: impl Iterator<Item = &'a [BlockMean]>) -> Self {
        let mut residuals: BTreeMap<Threads, Vec<f64>> = BTreeMap::new();
        for blocks in engines {
            let mut by_threads: BTreeMap<Threads, Vec<(f64, f64)>> = BTreeMap::new();
            for block in blocks {
                let logs = by_threads.entry(block.threads).or_default();
                logs.push((block.log, 1.0));
            }
            for (threads, logs) in by_threads {
                let residuals = residuals.entry(threads).or_default();
                residuals.extend(scatter::residuals(&logs));
            }
        }
        let residuals = residuals.into_iter();
        let deviation = |(threads, residuals): (Threads, Vec<f64>)| {
            (!residuals.is_empty()).then(|| (threads, scatter::deviation(&residuals)))
        };
        Self(residuals.filter_map(deviation).collect())
    }

    /// Returns the standard deviation of a block, before the fit shows how well the blocks of its engine agree.
    fn of_block(&self, block: &BlockMean) -> f64 {
        let common = self.0.get(&block.threads).copied().unwrap_or_default();
        (common.powi(2) + PART_OF_OWN * block.variance).sqrt()
    }

    /// Fits a robust line through the blocks of each part, by Student's t with [`TAILS`] degrees of freedom. The most
    /// likely lines are found by iteration, which weighs each block by its distance (Lange, Little & Taylor, J. Am.
    /// Stat. Assoc. 84 (1989) 881-896). The slopes over the change of the reference are held near 0. All parts have
    /// one scale, because a single part has too few blocks to show it.
    pub(super) fn lines(&self, parts: &[Vec<BlockMean>]) -> Vec<FittedLine> {
        let parts: Vec<Vec<Weighed>> = parts
            .iter()
            .map(|blocks| blocks.iter().map(|&mean| self.weighed(mean)).collect())
            .collect();
        let mut lines = through(&parts, &vec![FittedLine::default(); parts.len()], |_| 1.0);
        let mut scale: f64 = 1.0;
        for _ in 0..MOST_STEPS {
            let weight = |off: f64| (TAILS + 1.0) / (TAILS + (off / scale).powi(2));
            let offs = offs(&parts, &lines);
            let squares: f64 = offs.iter().map(|&off| weight(off) * off.powi(2)).sum();
            let freedom = offs.len().saturating_sub(parts.len()).max(1) as f64;
            let next_scale = (squares / freedom).sqrt().max(LEAST_SCALE);
            let next = through(&parts, &lines, |off| weight(off) / scale.powi(2));
            let moved = next
                .iter()
                .zip(&lines)
                .map(|(next, line)| (next.log - line.log).abs());
            let moved = moved.sum::<f64>() + (next_scale - scale).abs();
            (lines, scale) = (next, next_scale);
            if moved < CLOSE_ENOUGH {
                break;
            }
        }
        let offs: Vec<f64> = offs(&parts, &lines).iter().map(|off| off / scale).collect();
        // At least the value for normal scatter.
        let deviation = (scale * inflation(&offs, parts.len())).max(1.0);
        let errors = through(&parts, &lines, |_| deviation.powi(-2));
        let with_error = |(line, error): (FittedLine, FittedLine)| FittedLine {
            error: error.error,
            ..line
        };
        lines.into_iter().zip(errors).map(with_error).collect()
    }

    fn weighed(&self, mean: BlockMean) -> Weighed {
        Weighed {
            mean,
            deviation: self.of_block(&mean),
        }
    }
}

const MOST_STEPS: usize = 300;
const CLOSE_ENOUGH: f64 = 1e-7;

/// Block with its standard deviation.
struct Weighed {
    mean: BlockMean,
    deviation: f64,
}

fn through(
    parts: &[Vec<Weighed>],
    lines: &[FittedLine],
    weight: impl Fn(f64) -> f64,
) -> Vec<FittedLine> {
    let parts = parts.iter().zip(lines);
    let line = |(blocks, line): (&Vec<Weighed>, &FittedLine)| {
        FittedLine::through(blocks, |block| weight(line.off(block)))
    };
    parts.map(line).collect()
}

/// Returns the distance of each block from its line, in its standard deviations.
fn offs(parts: &[Vec<Weighed>], lines: &[FittedLine]) -> Vec<f64> {
    let parts = parts.iter().zip(lines);
    parts
        .flat_map(|(blocks, line)| blocks.iter().map(|block| line.off(block)))
        .collect()
}

/// Returns the standard deviation that counts for the errors of robust lines, in the scale of the fit, from the
/// distances of the blocks (Huber, Ann. Stat. 1 (1973) 799-821, equation 4.3 with the correction of section 4).
fn inflation(offs: &[f64], lines: usize) -> f64 {
    let count = offs.len() as f64;
    let mean =
        |value: &dyn Fn(f64) -> f64| offs.iter().map(|off| value(off.powi(2))).sum::<f64>() / count;
    let slope = |square: f64| (TAILS + 1.0) * (TAILS - square) / (TAILS + square).powi(2);
    let influence = |square: f64| (TAILS + 1.0).powi(2) * square / (TAILS + square).powi(2);
    let mean_slope = mean(&slope);
    let spread = mean(&|square| (slope(square) - mean_slope).powi(2));
    let correction = 1.0 + lines as f64 / count * spread / mean_slope.powi(2);
    let freedom = (count - lines as f64).max(1.0);
    correction * (mean(&influence) * count / freedom).sqrt() / mean_slope.max(0.0)
}

/// Weighted line of least squares.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FittedLine {
    /// Value of the line where the reference did not move.
    pub(super) log: f64,
    slope: f64,
    /// Standard error of `log`.
    pub(super) error: f64,
}

impl FittedLine {
    fn through(blocks: &[Weighed], weight: impl Fn(&Weighed) -> f64) -> Self {
        let weights: Vec<f64> = blocks
            .iter()
            .map(|block| weight(block) / block.deviation.powi(2))
            .collect();
        let sum = |value: fn(&BlockMean) -> f64| -> f64 {
            let both = weights.iter().zip(blocks);
            both.map(|(weight, block)| weight * value(&block.mean))
                .sum()
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

    /// Returns the distance of a block from the line, in its standard deviations.
    fn off(&self, block: &Weighed) -> f64 {
        let BlockMean { log, reference, .. } = block.mean;
        (log - self.log - self.slope * reference) / block.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::compare::Change;

    /// Standard deviation that the rounds of a block predict.
    const OWN: f64 = 0.003;

    fn blocks(of: &[(f64, f64)]) -> Vec<BlockMean> {
        let block = |&(log, reference): &(f64, f64)| BlockMean {
            threads: 1.try_into().expect("in range"),
            log,
            variance: OWN * OWN,
            reference,
        };
        of.iter().map(block).collect()
    }

    fn change(of: &[(f64, f64)]) -> Change {
        let blocks = blocks(of);
        let freedom = blocks.len() as f64 - 1.0;
        let line = Scatter::of([&blocks[..]].into_iter()).lines(&[blocks])[0];
        Change::new(line.log, line.error, freedom)
    }

    fn half(change: Change) -> f64 {
        (change.high.ln_1p() - change.low.ln_1p()) / 2.0
    }

    #[test]
    fn what_blocks_agree_on_is_the_change() {
        let found = change(&[0.02, 0.01, 0.03, 0.0, 0.04, 0.02].map(|log| (log, 0.0)));
        assert!((found.estimate.ln_1p() - 0.02).abs() < 1e-3, "{found:?}");
        // For normal values of this scatter, the textbook has 2.571 x 0.0141 / sqrt(6).
        assert!((0.012..0.022).contains(&half(found)), "{found:?}");
    }

    #[test]
    fn blocks_that_agree_by_chance_are_no_surer_than_blocks_are() {
        let found = change(&[-0.03; 6].map(|log| (log, 0.0)));
        let least = 2.571 * OWN * (PART_OF_OWN / 6.0).sqrt();
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

    /// A tenth of the change of the reference shows in each ratio. Without that change, nothing changed.
    #[test]
    fn what_follows_the_reference_is_no_change_of_the_engine() {
        let moved = [0.3, 0.25, -0.1, 0.2, 0.05, 0.15, -0.05, 0.1];
        let of = moved.map(|moved| (0.1 * moved, moved));
        let plain: f64 = of.iter().map(|(log, _)| log).sum::<f64>() / 8.0;
        let found = change(&of);
        assert!(plain > 0.01 && found.estimate.abs() < 0.003, "{found:?}");
        // If all blocks moved alike, the engine may be the reason, or not: unclear.
        let alike = change(&[0.2; 8].map(|moved| (0.1 * moved, moved)));
        assert!(alike.low < 0.0, "{alike:?}");
    }
}
