//! Rounds of trials: several places in turn, every other round backwards, so that a machine that changes meanwhile
//! changes all of them alike.

/// What was measured so far, round by round, in the order of the places.
#[derive(Clone, Debug)]
pub(super) struct Rounds<T> {
    places: usize,
    whole: Vec<Vec<T>>,
    /// As it was measured.
    current: Vec<T>,
}

impl<T> Rounds<T> {
    /// Of so many places, one at least.
    pub(super) fn of(places: usize) -> Self {
        Self {
            places,
            whole: Vec::new(),
            current: Vec::new(),
        }
    }

    /// The place of the next trial.
    pub(super) fn next(&self) -> usize {
        let done = self.current.len();
        if self.goes_backwards() {
            self.places - 1 - done
        } else {
            done
        }
    }

    /// Takes the trial of that place. Whether it was the last one of a round.
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

    /// The rounds that are over.
    pub(super) fn whole(&self) -> &[Vec<T>] {
        &self.whole
    }

    fn goes_backwards(&self) -> bool {
        self.whole.len() % 2 == 1
    }
}

/// A difference of so many standard errors is one.
const ERRORS: f64 = 4.0;

/// What some rounds say of a difference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    pub(super) mean: f64,
    /// Its standard error.
    pub(super) error: f64,
}

impl Difference {
    /// Of one value for each round.
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

    /// Whether there is one, and it is not only that the rounds scatter.
    pub(super) fn is_one(self) -> bool {
        self.mean.abs() > ERRORS * self.error
    }

    /// By what part that is more or less, of logarithms: so many standard errors beside the mean.
    pub(super) fn part(self, errors: f64) -> f64 {
        (self.mean + errors * self.error).exp_m1()
    }
}
