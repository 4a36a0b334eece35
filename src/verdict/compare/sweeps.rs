//! How much an engine changed between a few sweeps on each side.
//!
//! Sweeps are few, and two sweeps of one program differ more than their windows show: memory lies elsewhere, and the
//! machine does other work. So the sweeps themselves, or the cases of one sweep, must show by how much cases differ by
//! chance.
//!
//! - **Machine**: in each block of each sweep, the middle of the other engines (Hodges & Lehmann) is subtracted. A
//!   change of the machine hits all of them, and a change of one engine hardly moves it.
//! - **Scatter**, by thread count, as threads that share CPUs scatter many times more: with two sweeps or more on each
//!   side, that of the sweeps of a side around their mean. Otherwise, also that of the cases of an engine around their
//!   common change, where the change may depend on each parameter that has enough blocks.
//! - **Who changed** is asked by `rivals`.
//! - **States** of a virtual machine outlast a run, so that none shows them: a change that may be one is nobody's.
//! - **Errors** of cases of one block are correlated as they were found to be, and average out between blocks. A tenth
//!   of the machine's change is added, as it does not meet all engines alike.

mod rivals;

use std::collections::{BTreeMap, BTreeSet};

use crate::data::{BlockKey, Threads};
use crate::stats;
use crate::verdict::grouped;
use crate::verdict::judge::{Change, Parts, Threshold};

/// Logarithms of a case in all sweeps.
#[derive(Clone, Debug)]
pub(super) struct MeasuredCase {
    pub(super) label: String,
    pub(super) block: BlockKey,
    pub(super) parts: Parts,
    /// Logarithm of the value in each sweep of each side.
    pub(super) logs: [Vec<f64>; 2],
    /// Variance of a logarithm by the windows of one sweep, in the mean over the sweeps.
    pub(super) within: f64,
    /// Change that a state of a virtual machine may be, as a fraction. 0: it is none.
    pub(super) state: f64,
}

/// Cases of all sweeps. Each case is in each sweep.
pub(super) struct Sweeps {
    cases: Vec<MeasuredCase>,
    /// Numbers of the cases of each engine in each block.
    blocks: BTreeMap<BlockKey, BTreeMap<String, Vec<usize>>>,
    /// Number of sweeps on each side.
    counts: [usize; 2],
    threshold: Threshold,
}

/// Share of a change of the machine that an engine shows more or less than the others, as a standard deviation. A CPU
/// whose neighbour is busy slows a system call and a copy down by different shares: on two VMs, ratios were off by 6 to
/// 13 % where the reference had changed by 15 to 60 %.
const UNEVEN: f64 = 0.1;
/// Smallest variance of a logarithm: rows are rounded.
const LEAST_VARIANCE: f64 = 1e-10;
/// Smallest number of blocks with each value of a parameter on which the change of an engine may depend.
const FEWEST_BLOCKS: usize = 3;
/// Highest number of degrees of freedom for a single block, if one side has a single sweep. By chance, single cases are
/// far off in a sweep more often than in a normal distribution, and nothing in the sweep shows it. Student's
/// distribution with 4 degrees of freedom has such tails.
const MOST_FREEDOM_OF_ONE: f64 = 4.0;

impl Sweeps {
    pub(super) fn new(cases: Vec<MeasuredCase>, counts: [usize; 2], threshold: Threshold) -> Self {
        let mut blocks: BTreeMap<BlockKey, BTreeMap<String, Vec<usize>>> = BTreeMap::new();
        for (number, case) in cases.iter().enumerate() {
            let engines = blocks.entry(case.block).or_default();
            engines.entry(case.label.clone()).or_default().push(number);
        }
        Self {
            cases,
            blocks,
            counts,
            threshold,
        }
    }

    /// Returns the change of the machine in each block without engines with these labels, as a logarithm.
    pub(super) fn machine_without(&self, changed: &BTreeSet<&str>) -> Vec<f64> {
        let is_changed = |number: &usize| changed.contains(self.cases[*number].label.as_str());
        let changed = (0..self.cases.len()).filter(is_changed).collect();
        self.machine(&changed).into_values().collect()
    }

    /// Returns the change of the machine in each block: the median change of the cases that have not changed
    /// themselves, by engine, as a logarithm. Blocks without such cases are left out.
    fn machine(&self, changed: &BTreeSet<usize>) -> BTreeMap<BlockKey, f64> {
        let of_block = |engines: &BTreeMap<String, Vec<usize>>| {
            let others = others(engines, "", changed).into_iter();
            let changes = others.map(|cases| self.moved(&cases));
            stats::median(changes.collect())
        };
        let blocks = self.blocks.iter();
        let blocks = blocks.filter_map(|(block, engines)| Some((*block, of_block(engines)?)));
        blocks.collect()
    }

    /// Returns the mean change of cases with the machine, as a logarithm.
    fn moved(&self, cases: &[usize]) -> f64 {
        mean(cases.iter().map(|&number| change(&self.cases[number].logs)))
    }

    /// Returns the logarithms of each case without the machine, on both sides, around the middle of the case. `None`:
    /// its block has no other engine.
    fn without_machine(&self, changed: &BTreeSet<usize>) -> Vec<Option<[Vec<f64>; 2]>> {
        let mut all = vec![None; self.cases.len()];
        for engines in self.blocks.values() {
            for (label, cases) in engines {
                let others = others(engines, label, changed);
                if others.is_empty() {
                    continue;
                }
                let side = |side: usize| {
                    let sweep = |sweep: usize| {
                        common(others.iter().map(|cases| {
                            mean(cases.iter().map(|&other| self.centred(other, side, sweep)))
                        }))
                    };
                    (0..self.counts[side]).map(sweep).collect::<Vec<f64>>()
                };
                let machine = [side(0), side(1)];
                for &number in cases {
                    let without = |side: usize| {
                        let machine = machine[side].iter().enumerate();
                        machine
                            .map(|(sweep, machine)| self.centred(number, side, sweep) - machine)
                            .collect()
                    };
                    all[number] = Some([without(0), without(1)]);
                }
            }
        }
        all
    }

    fn centred(&self, case: usize, side: usize, sweep: usize) -> f64 {
        let logs = &self.cases[case].logs;
        let [before, after] = logs.each_ref().map(|logs| mean(logs.iter().copied()));
        logs[side][sweep] - f64::midpoint(before, after)
    }

    fn is_repeated(&self) -> bool {
        self.counts.iter().all(|&count| count > 1)
    }

    /// Returns the variance of the change of a case from one sweep to another, as a share of that of one sweep.
    fn of_a_difference(&self) -> f64 {
        self.counts.iter().map(|&count| 1.0 / count as f64).sum()
    }
}

/// Returns the cases of the other engines in a block that have not changed. If all have, returns those of all others
/// for an engine that has changed itself, and none for one that has not: nothing measures it.
fn others(
    engines: &BTreeMap<String, Vec<usize>>,
    label: &str,
    changed: &BTreeSet<usize>,
) -> Vec<Vec<usize>> {
    let is_unchanged = |case: &usize| !changed.contains(case);
    let others = engines.iter().filter(|(other, _)| *other != label);
    let unchanged = others.clone().map(|(_, cases)| {
        let cases = cases.iter().copied();
        cases.filter(is_unchanged).collect::<Vec<usize>>()
    });
    let unchanged: Vec<Vec<usize>> = unchanged.filter(|cases| !cases.is_empty()).collect();
    let own = engines.get(label);
    if unchanged.is_empty() && own.is_some_and(|own| !own.iter().all(is_unchanged)) {
        return others.map(|(_, cases)| cases.clone()).collect();
    }
    unchanged
}

/// Scatter of cases with one thread count from sweep to sweep.
#[derive(Clone, Copy, Debug, Default)]
struct Scatter {
    /// Sum of the squares of what no change explains.
    squares: f64,
    /// Expected number of variances in that sum.
    variances: f64,
    /// Sum of the products of what no change explains, of two cases of an engine in a block.
    products: f64,
    /// Expected number of covariances in that sum.
    covariances: f64,
    /// Degrees of freedom. Fewer than the variances: the engines of a block share what is subtracted from them, and the
    /// cases of an engine in a block share disturbances.
    freedom: f64,
    /// Mean variance by the windows of the sweeps.
    within: f64,
    /// True if nothing shows the scatter but the engines of one block, as if none of them had changed.
    is_guess: bool,
}

impl Scatter {
    /// Adds what no change explains of the cases of an engine in a block. `free`: share of the variance that is
    /// expected to be left.
    fn add(&mut self, left: &[f64], free: f64) {
        let squares: f64 = left.iter().map(|left| left.powi(2)).sum();
        let count = left.len() as f64;
        self.squares += squares;
        self.variances += count * free;
        self.products += left.iter().sum::<f64>().powi(2) - squares;
        self.covariances += count * (count - 1.0) * free;
    }

    /// Returns the variance of a case whose windows predict `within`.
    fn variance(&self, within: f64) -> f64 {
        let variance = within + (self.squares / self.variances - self.within).max(0.0);
        variance.max(LEAST_VARIANCE)
    }

    /// Returns the correlation of two cases of an engine in a block.
    fn correlation(&self) -> f64 {
        let correlation = (self.products / self.covariances) / (self.squares / self.variances);
        if correlation.is_finite() {
            correlation.clamp(0.0, 1.0)
        } else {
            1.0
        }
    }
}

/// What the sweeps show without the machine.
struct Fit<'a> {
    sweeps: &'a Sweeps,
    /// Logarithms of each case on both sides. `None`: its block has no other engine.
    logs: Vec<Option<[Vec<f64>; 2]>>,
    scatter: BTreeMap<Threads, Scatter>,
    machine: BTreeMap<BlockKey, f64>,
}

impl Fit<'_> {
    /// Returns those of some cases that something measures.
    fn measured(&self, cases: &[usize]) -> Vec<usize> {
        let is_measured = |number: &usize| self.logs[*number].is_some();
        cases.iter().copied().filter(is_measured).collect()
    }

    /// Returns the mean change of those cases that something measures.
    fn change(&self, cases: &[usize]) -> Option<Change> {
        let (sweeps, scatter) = (self.sweeps, &self.scatter);
        let cases = self.measured(cases);
        let logs = cases.iter().filter_map(|&it| self.logs[it].as_ref());
        let logs: Vec<&[Vec<f64>; 2]> = logs.collect();
        let sides = [0, 1].map(|side| {
            let sweep = |sweep: usize| mean(logs.iter().map(|logs| logs[side][sweep]));
            (0..sweeps.counts[side]).map(sweep).collect::<Vec<f64>>()
        });
        let log = change(&sides);
        let mut blocks: BTreeMap<BlockKey, Vec<f64>> = BTreeMap::new();
        for &number in &cases {
            let case = &sweeps.cases[number];
            let variance = scatter.get(&case.block.threads)?.variance(case.within);
            blocks.entry(case.block).or_default().push(variance);
        }
        // Degrees of freedom by Welch, Biometrika 34 (1947) 28-35.
        let mut by_threads: BTreeMap<Threads, f64> = BTreeMap::new();
        for (block, variances) in &blocks {
            let sum: f64 = variances.iter().sum();
            let deviations: f64 = variances.iter().map(|variance| variance.sqrt()).sum();
            let shared = scatter[&block.threads].correlation() * (deviations.powi(2) - sum);
            *by_threads.entry(block.threads).or_default() += sum + shared;
        }
        let variance: f64 = by_threads.values().sum();
        let parts = by_threads.iter();
        let spread = parts.map(|(threads, part)| part.powi(2) / scatter[threads].freedom);
        let spread: f64 = spread.sum();
        let mut variance_of_one = variance / (cases.len() as f64).powi(2);
        let mut freedom = variance.powi(2) / spread;
        if blocks.len() == 1 && sweeps.is_repeated() {
            // By chance, single cases are far off in a sweep more often than in a normal distribution.
            let squares = sides.iter().map(|side| squares_around_mean(side));
            let own = squares.sum::<f64>() / (sweeps.counts.iter().sum::<usize>() - 2) as f64;
            variance_of_one = variance_of_one.max(own);
        } else if blocks.len() == 1 {
            freedom = freedom.min(MOST_FREEDOM_OF_ONE);
        }
        let variance = variance_of_one * sweeps.of_a_difference();
        let moved = blocks.keys().filter_map(|block| self.machine.get(block));
        let moved = UNEVEN * mean(moved.copied());
        let moved = if moved.is_finite() { moved } else { 0.0 };
        let error = variance.sqrt().hypot(moved);
        let states = cases.iter().map(|&number| sweeps.cases[number].state);
        let found = Change::by_student(log, error, freedom, sweeps.threshold)?
            .beside_states(states.fold(0.0, f64::max));
        let is_guess = blocks.keys().any(|block| scatter[&block.threads].is_guess);
        Some(if is_guess { found.untestable() } else { found })
    }
}

impl Sweeps {
    fn fit(&self, changed: &BTreeSet<usize>) -> Fit<'_> {
        let logs = self.without_machine(changed);
        Fit {
            sweeps: self,
            scatter: self.scatter(&logs),
            logs,
            machine: self.machine(changed),
        }
    }

    /// Returns the fit in which no case of an engine measures others.
    fn without(&self, label: &str, changed: &BTreeSet<usize>) -> Fit<'_> {
        let its = (0..self.cases.len()).filter(|&number| self.cases[number].label == label);
        self.fit(&changed.iter().copied().chain(its).collect())
    }

    /// Returns the scatter from sweep to sweep, by thread count. Thread counts without a degree of freedom are left
    /// out.
    fn scatter(&self, logs: &[Option<[Vec<f64>; 2]>]) -> BTreeMap<Threads, Scatter> {
        let mut scatter: BTreeMap<Threads, Scatter> = BTreeMap::new();
        let measured = (0..self.cases.len()).filter(|&number| logs[number].is_some());
        let by_label = grouped(measured.map(|number| (&self.cases[number].label, number)));
        for cases in by_label.values() {
            for (left, free) in self.unexplained(cases, logs) {
                // The cases of a block follow each other.
                let mut left = &left[..];
                let block = |number: &usize| self.cases[*number].block;
                for of_block in cases.chunk_by(|one, next| block(one) == block(next)) {
                    let (own, rest) = left.split_at(of_block.len());
                    let threads = self.cases[of_block[0]].block.threads;
                    scatter.entry(threads).or_default().add(own, free);
                    left = rest;
                }
            }
        }
        for (threads, found) in &mut scatter {
            let blocks = self.blocks.iter();
            let of_threads = blocks.filter(|(block, _)| block.threads == *threads);
            let of_threads: Vec<_> = of_threads.map(|(_, engines)| engines).collect();
            let blocks = of_threads.len() as f64;
            let engines: usize = of_threads.iter().map(|engines| engines.len()).sum();
            let cases = || of_threads.iter().flat_map(|it| it.values().flatten());
            let free = (engines as f64 - blocks) / cases().count() as f64;
            found.freedom = found.variances * free;
            found.within = mean(cases().map(|&number| self.cases[number].within));
        }
        scatter.retain(|_, found| found.freedom >= 1.0 && found.variances > 0.0);
        for (block, engines) in &self.blocks {
            let cases = engines.values().flatten();
            let known = cases.filter_map(|&number| logs[number].as_ref());
            if engines.len() > 1 && !scatter.contains_key(&block.threads) {
                let scale = self.of_a_difference().sqrt();
                let left: Vec<f64> = known.map(|sides| change(sides) / scale).collect();
                let mut guess = Scatter {
                    freedom: engines.len() as f64 - 1.0,
                    is_guess: true,
                    ..Scatter::default()
                };
                guess.add(&left, 1.0);
                scatter.insert(block.threads, guess);
            }
        }
        scatter
    }

    /// Returns what no change explains of the cases of an engine, in units of a single sweep, each time with the share
    /// of the variance that is expected to be left.
    fn unexplained(&self, cases: &[usize], logs: &[Option<[Vec<f64>; 2]>]) -> Vec<(Vec<f64>, f64)> {
        let mut all = Vec::new();
        let sides = self.counts.iter().enumerate();
        for (side, &count) in sides.filter(|(_, count)| **count > 1) {
            let of_case = |&number: &usize| logs[number].as_ref().map(|sides| &sides[side]);
            for sweep in 0..count {
                let left = cases.iter().filter_map(of_case);
                let left = left.map(|logs| logs[sweep] - mean(logs.iter().copied()));
                all.push((left.collect(), 1.0 - 1.0 / count as f64));
            }
        }
        if !self.is_repeated() {
            all.push(self.around_common_change(cases, logs));
        }
        all
    }

    /// Returns what the common change of an engine does not explain of its cases. The change may depend on each
    /// parameter whose values all have enough blocks.
    fn around_common_change(
        &self,
        cases: &[usize],
        logs: &[Option<[Vec<f64>; 2]>],
    ) -> (Vec<f64>, f64) {
        let known = cases.iter().filter_map(|&number| logs[number].as_ref());
        let mut left: Vec<f64> = known.map(change).collect();
        let middle = mean(left.iter().copied());
        for left in &mut left {
            *left -= middle;
        }
        let mut terms = 1;
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for cut in 0..4 {
            let places = cases.iter().enumerate();
            let parts = grouped(places.map(|(place, &it)| (self.cases[it].parts[cut], place)));
            let blocks = |places: &Vec<usize>| {
                let blocks = places.iter().map(|&place| self.cases[cases[place]].block);
                blocks.collect::<BTreeSet<BlockKey>>().len()
            };
            if parts.len() > 1 && parts.values().all(|places| blocks(places) >= FEWEST_BLOCKS) {
                terms += parts.len() - 1;
                groups.extend(parts.into_values());
            }
        }
        // The groups overlap, and may be of unlike size.
        for _ in 0..STEPS {
            for group in &groups {
                let middle = mean(group.iter().map(|&place| left[place]));
                for &place in group {
                    left[place] -= middle;
                }
            }
        }
        let scale = self.of_a_difference().sqrt();
        for left in &mut left {
            *left /= scale;
        }
        (left, 1.0 - terms as f64 / cases.len() as f64)
    }
}

/// Number of steps of the fit of a common change. Each comes many times closer.
const STEPS: usize = 10;

/// Returns what some changes have in common. A change of one of them hardly moves it.
fn common(changes: impl Iterator<Item = f64>) -> f64 {
    stats::estimate(&changes.collect::<Vec<f64>>()).map_or(0.0, |common| common.middle)
}

/// Returns the change from one side to the other.
fn change([before, after]: &[Vec<f64>; 2]) -> f64 {
    mean(after.iter().copied()) - mean(before.iter().copied())
}

fn squares_around_mean(values: &[f64]) -> f64 {
    let mean = mean(values.iter().copied());
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}
