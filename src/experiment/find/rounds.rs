//! Rounds of trials: several places in turn, every other round backwards. A machine that changes meanwhile changes
//! all places alike.

/// Values measured so far, round by round, in the order of the places.
#[derive(Clone, Debug)]
pub(super) struct Rounds<T> {
    places: usize,
    whole: Vec<Vec<T>>,
    /// Values of the current round, in the order of measurement.
    current: Vec<T>,
}

impl<T> Rounds<T> {
    /// Creates rounds of this many places, at least one.
    pub(super) fn of(places: usize) -> Self {
        Self {
            places,
            whole: Vec::new(),
            current: Vec::new(),
        }
    }

    /// Returns the place of the next trial.
    pub(super) fn next(&self) -> usize {
        let done = self.current.len();
        if self.goes_backwards() {
            self.places - 1 - done
        } else {
            done
        }
    }

    /// Adds the value of the next place. Returns whether it completes a round.
    pub(super) fn take(&mut self, value: T) -> bool {
        let is_backwards = self.goes_backwards();
        self.current.push(value);
        if self.current.len() < self.places {
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

/// Number of standard errors beyond which a difference is real.
const ERRORS: f64 = 4.0;

/// Mean difference over some rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
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
            mean,
            error: (squares / (count - 1.0) / count).sqrt(),
        }
    }

    /// Returns whether the difference is real, and not just scatter between rounds.
    pub(super) fn is_one(self) -> bool {
        self.mean.abs() > ERRORS * self.error
    }

    /// Returns the relative change at the mean plus `errors` standard errors. The difference must be one of
    /// logarithms.
    pub(super) fn part(self, errors: f64) -> f64 {
        (self.mean + errors * self.error).exp_m1()
    }
}
