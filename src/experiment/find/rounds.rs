//! Rounds of trials: all positions of a grid in turn, every other round backwards. A machine that changes meanwhile
//! changes all positions alike.

/// Values measured so far, round by round, in the order of the positions.
#[derive(Clone, Debug)]
pub(super) struct Rounds<T> {
    positions: usize,
    whole: Vec<Vec<T>>,
    /// Values of the current round, in the order of measurement.
    current: Vec<T>,
}

impl<T> Rounds<T> {
    /// Creates rounds of this many positions, at least one.
    pub(super) fn of(positions: usize) -> Self {
        Self {
            positions,
            whole: Vec::new(),
            current: Vec::new(),
        }
    }

    /// Returns the position of the next trial.
    pub(super) fn next(&self) -> usize {
        let done = self.current.len();
        if self.goes_backwards() {
            self.positions - 1 - done
        } else {
            done
        }
    }

    /// Adds the value of the next position. Returns whether it completes a round.
    pub(super) fn take(&mut self, value: T) -> bool {
        let is_backwards = self.goes_backwards();
        self.current.push(value);
        if self.current.len() < self.positions {
            return false;
        }
        let mut round = std::mem::take(&mut self.current);
        if is_backwards {
            round.reverse();
        }
        self.whole.push(round);
        true
    }

    /// Returns the complete rounds.
    pub(super) fn whole(&self) -> &[Vec<T>] {
        &self.whole
    }

    fn goes_backwards(&self) -> bool {
        self.whole.len() % 2 == 1
    }
}

/// Number of rounds that confirm a step or a jump, however clear it is. They give its size.
pub(super) const CONFIRMING_ROUNDS: usize = 12;
/// Half width of a 95 % interval, in standard errors: Student's t for the mean of [`CONFIRMING_ROUNDS`] values.
const T_95: f64 = 2.201;
/// Number of standard errors beyond which a difference is significant.
const SIGNIFICANT_ERRORS: f64 = 4.0;

/// Distance of a change that 9 of 10 searches find from the smallest change that is looked for, in standard deviations
/// between rounds. The mean of six rounds would need 0.52.
const BEYOND_LEAST: f64 = 0.6;

/// Mean difference over some rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    /// Number of rounds.
    count: f64,
    pub(super) mean: f64,
    /// Standard error of the mean.
    pub(super) error: f64,
}

impl Difference {
    /// Creates a difference from one value per round.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            count,
            mean,
            error: (squares / (count - 1.0) / count).sqrt(),
        }
    }

    /// Returns whether the difference is more than scatter between rounds.
    pub(super) fn is_significant(self) -> bool {
        self.mean.abs() > SIGNIFICANT_ERRORS * self.error
    }

    /// Returns the 95 % interval of the relative change. The difference must be one of logarithms, over
    /// [`CONFIRMING_ROUNDS`] rounds.
    pub(super) fn interval(self) -> (f64, f64) {
        (self.relative_change(-T_95), self.relative_change(T_95))
    }

    /// Returns the relative change at the mean plus `errors` standard errors.
    fn relative_change(self, errors: f64) -> f64 {
        (self.mean + errors * self.error).exp_m1()
    }
}

/// Returns the smallest change, as a fraction, that 9 of 10 searches find at the scatter of these differences of
/// logarithms between neighbours. `least`: the smallest difference that is looked for. `deviations`: the difference
/// that is significant in 9 of 10 searches, in standard deviations between rounds. `None`: there are too few rounds.
pub(super) fn detectable(
    differences: impl Iterator<Item = Difference>,
    least: f64,
    deviations: f64,
) -> Option<f64> {
    let (mut squares, mut degrees) = (0.0, 0.0);
    for difference in differences.filter(|it| it.error.is_finite()) {
        let degrees_of_one = difference.count - 1.0;
        squares += difference.error.powi(2) * difference.count * degrees_of_one;
        degrees += degrees_of_one;
    }
    let deviation = (degrees > 0.0).then(|| (squares / degrees).sqrt())?;
    let change = (least + BEYOND_LEAST * deviation).max(deviations * deviation);
    Some(change.exp_m1())
}
