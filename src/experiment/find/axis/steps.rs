//! Finds the values at which the time or the loss changes.
//!
//! Neighbours on the grid that differ are measured again. If there is a value between them, it is measured as well, and
//! the half that has the step is searched next. Fresh trials of the last two confirm the step, and give its size.

use super::parameter::Parameter;
use super::rounds::{Quantity, Rounds};
use super::{AxisQuestion, AxisTrial, Finding, Method};

/// Number of rounds of the grid.
const GRID_ROUNDS: u32 = 8;
/// Number of rounds that may be enough to choose a half.
const FEWEST: u32 = 6;
/// Number of rounds that confirm a step, however clear it is.
const CONFIRMING: u32 = 12;
/// Probability by chance below which a difference is measured again, and below which it is then a step.
const SUSPECT: f64 = 0.04;
const SURE: f64 = 0.01;
/// The same for loss: one delay may lose several requests.
const SURE_OF_LOSS: f64 = 1e-4;
/// Smallest step that is followed and confirmed, as a share of the step that is looked for.
const AT_LEAST: f64 = 0.8;
/// Smallest difference in loss that is looked for.
const LEAST_LOSS: f64 = 0.1;
/// Highest number of steps that are looked for, the largest first.
const STEPS: usize = 4;
/// Distance of a change that 9 of 10 searches find from the smallest change that is looked for, and the change that is
/// significant in 9 of 10 searches: both in standard deviations between rounds.
const BEYOND_LEAST: f64 = 0.6;
const FOLLOWED: f64 = 2.2;

/// A quantity, and two values between which it changes.
type ChangePair = (Quantity, (u64, u64));

/// State of a search for steps.
#[derive(Debug)]
pub(super) struct Steps {
    asked: AxisQuestion,
    /// Quantities that are compared. Loss matters more than any delay.
    quantities: &'static [Quantity],
    grid: Rounds,
    /// Pairs that are still to be searched, the next one last.
    left: Vec<ChangePair>,
    current: Option<(Quantity, Rounds)>,
    found: Vec<Finding>,
}

impl Steps {
    pub(super) fn new(grid: Vec<u64>, asked: AxisQuestion, is_rr: bool) -> Self {
        Self {
            asked,
            quantities: if is_rr {
                &[Quantity::Time, Quantity::Loss]
            } else {
                &[Quantity::Time]
            },
            grid: Rounds::new(grid, asked.seed),
            left: Vec::new(),
            current: None,
            found: Vec::new(),
        }
    }
}

impl Method for Steps {
    fn next(&self) -> Option<u64> {
        match &self.current {
            Some((_, rounds)) => rounds.next(),
            None if has(&self.grid, GRID_ROUNDS) => None,
            None => self.grid.next(),
        }
    }

    fn take(&mut self, trial: AxisTrial) {
        let rounds = match &mut self.current {
            Some((_, rounds)) => rounds,
            None => &mut self.grid,
        };
        if !rounds.take(trial) {
            return;
        }
        match self.current.take() {
            Some((quantity, rounds)) => self.judge(quantity, rounds),
            None if has(&self.grid, GRID_ROUNDS) => {
                self.left = self.candidates();
                self.look_on();
            }
            None => {}
        }
    }

    fn found(&self) -> Vec<Finding> {
        let mut found = self.found.clone();
        found.sort_by_key(|step| step.at);
        found
    }

    fn detectable(&self) -> Option<f64> {
        let neighbours = 1..self.grid.values().len();
        let deviations = neighbours.filter_map(|n| self.grid.deviation(Quantity::Time, n - 1, n));
        let variances: Vec<f64> = deviations.map(|deviation| deviation.powi(2)).collect();
        let mean = variances.iter().sum::<f64>() / variances.len() as f64;
        let deviation = (!variances.is_empty()).then(|| mean.sqrt())?;
        let by_size = self.asked.threshold() + BEYOND_LEAST * deviation;
        Some(by_size.max(FOLLOWED * deviation).exp_m1())
    }

    fn grid(&self) -> &Rounds {
        &self.grid
    }
}

impl Steps {
    /// Returns the neighbours on the grid that differ, the largest difference last, and those in loss behind all
    /// others.
    fn candidates(&self) -> Vec<ChangePair> {
        let values = self.grid.values();
        let pairs = (1..values.len()).filter_map(|n| {
            let between = (values[n - 1], values[n]);
            self.quantities.iter().rev().find_map(|&quantity| {
                let size = self.step(&self.grid, quantity, n - 1, 1.0, SUSPECT)?;
                Some((size, (quantity, between)))
            })
        });
        let mut pairs: Vec<(f64, ChangePair)> = pairs.collect();
        pairs.sort_by(|(size, (quantity, _)), (other, (of_other, _))| {
            quantity.cmp(of_other).then(size.total_cmp(other))
        });
        let largest = pairs.split_off(pairs.len().saturating_sub(STEPS));
        largest.into_iter().map(|(_, pair)| pair).collect()
    }

    /// Returns the size of the difference of a position to the next one. `None`: it may be chance, or it is less than
    /// this share of what is looked for.
    fn step(
        &self,
        rounds: &Rounds,
        of: Quantity,
        from: usize,
        share: f64,
        by_chance: f64,
    ) -> Option<f64> {
        let (size, p_value, least) = match of {
            Quantity::Time => {
                let difference = rounds.difference(of, from, from + 1)?;
                let size = difference.estimate().abs();
                (size, difference.p_value(0.0), self.asked.threshold())
            }
            Quantity::Loss => {
                let size = (rounds.loss(from + 1)? - rounds.loss(from)?).abs();
                (size, rounds.p_of_loss(from, from + 1), LEAST_LOSS)
            }
        };
        (size >= share * least && p_value <= by_chance).then_some(size)
    }

    fn look_on(&mut self) {
        let next = self.left.pop();
        self.current = next.map(|(quantity, between)| (quantity, self.rounds_of(between)));
    }

    /// Begins the rounds of two values, with one in the middle if there is any.
    fn rounds_of(&self, (low, high): (u64, u64)) -> Rounds {
        let middle = self.asked.parameter.middle(low, high);
        let values = [Some(low), middle, Some(high)].into_iter().flatten();
        Rounds::new(values.collect(), self.asked.seed)
    }

    /// Goes on with the half that has the step, or adds the step that cannot be halved.
    fn judge(&mut self, quantity: Quantity, rounds: Rounds) {
        if rounds.values().len() == 2 && has(&rounds, CONFIRMING) {
            let by_chance = match quantity {
                Quantity::Time => SURE,
                Quantity::Loss => SURE_OF_LOSS,
            };
            let step = self.step(&rounds, quantity, 0, AT_LEAST, by_chance);
            if step.is_some() {
                self.found.push(Finding::between(&rounds, (0, 1)));
            }
            return self.look_on();
        }
        let half = self.half(quantity, &rounds);
        self.current = match half {
            Some(half) => Some((quantity, self.rounds_of(half))),
            None if has(&rounds, self.asked.rounds) => return self.look_on(),
            None => Some((quantity, rounds)),
        };
    }

    /// Returns the half that has the step, once it is known.
    fn half(&self, quantity: Quantity, rounds: &Rounds) -> Option<(u64, u64)> {
        let &[low, middle, high] = rounds.values() else {
            return None;
        };
        let sign = rounds.difference(quantity, 0, 2)?.estimate().signum();
        let more = rounds.contrast(quantity, &[(0, -sign), (1, 2.0 * sign), (2, -sign)])?;
        let (from, half) = if more.estimate() > 0.0 {
            (0, (low, middle))
        } else {
            (1, (middle, high))
        };
        self.step(rounds, quantity, from, AT_LEAST, SUSPECT)?;
        let is_clear = has(rounds, FEWEST) && more.p_value(0.0) <= SUSPECT;
        is_clear.then_some(half)
    }
}

fn has(rounds: &Rounds, count: u32) -> bool {
    rounds.count() >= count as usize
}

/// Estimates the rounds of the grid, and the trials of one step.
pub(super) fn expected(parameter: Parameter, grid: &[u64]) -> (u32, u32) {
    let pairs = grid.windows(2);
    let divisible = pairs.filter(|pair| parameter.middle(pair[0], pair[1]).is_some());
    let longest = divisible.map(|pair| pair[1] - pair[0]).max();
    let halvings = longest.map_or(0, |gap| gap.ilog2() + 1);
    (GRID_ROUNDS, 2 * CONFIRMING + 3 * FEWEST * halvings)
}
