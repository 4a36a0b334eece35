//! What trials say about a load: whether it can be borne (RFC 9971, section 6).

use statrs::distribution::{Binomial, DiscreteCDF};

/// What counts as bearing a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The share of the datagrams of a trial that may be lost: 0 to below 1.
    pub loss: f64,
    /// The share of the time in which more may be lost: above 0, below 1.
    pub exceed: f64,
    /// How long a trial has to be to count in full, in seconds.
    pub trial_s: f64,
    /// How long trials at a load have to be together, in seconds.
    pub sum_s: f64,
}

/// What a trial at a load has shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// How long it was, in seconds.
    pub seconds: f64,
    /// The share of what was to be sent that did not arrive.
    pub loss: f64,
}

/// What is known of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It can be borne.
    Lower,
    /// It cannot.
    Upper,
    /// Trials that are still to come may say either.
    Undecided,
}

impl Goal {
    pub(super) fn is_met_by(&self, outcome: &Outcome) -> bool {
        outcome.loss <= self.loss
    }

    /// Trials are as long as they were asked to be, but for rounding.
    pub(super) fn is_full(&self, outcome: &Outcome) -> bool {
        outcome.seconds >= 0.999 * self.trial_s
    }

    /// What the trials at a load say of it, whatever those might say that are still to come (RFC 9971, appendix A). A short
    /// one that lost too much counts as far as short ones that did not leave room for it.
    pub fn class(&self, outcomes: &[Outcome]) -> Class {
        let seconds = |is_full: bool, is_good: bool| -> f64 {
            let of_those = outcomes.iter().filter(|outcome| {
                self.is_full(outcome) == is_full && self.is_met_by(outcome) == is_good
            });
            of_those.map(|outcome| outcome.seconds).sum()
        };
        let balance = seconds(false, true) * self.exceed / (1.0 - self.exceed);
        let excess = (seconds(false, false) - balance).max(0.0);
        let good = seconds(true, true);
        let bad = seconds(true, false) + excess;
        let whole = (good + bad).max(self.sum_s);
        let quantile = whole * self.exceed;
        match (bad <= quantile, whole - good <= quantile) {
            (true, true) => Class::Lower,
            (false, _) => Class::Upper,
            (true, false) => Class::Undecided,
        }
    }

    /// The share that is lost in the worst trials that the goal still allows: of those in full, from the best to the
    /// worst, that at which their sum reaches what is left beside the exceed ratio.
    pub fn conditional_loss(&self, outcomes: &[Outcome]) -> Option<f64> {
        let mut full: Vec<&Outcome> = outcomes.iter().filter(|it| self.is_full(it)).collect();
        full.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        let sum: f64 = full.iter().map(|outcome| outcome.seconds).sum();
        let mut left = sum.max(self.sum_s) * (1.0 - self.exceed);
        for outcome in &full {
            left -= outcome.seconds;
            if left <= 0.0 {
                return Some(outcome.loss);
            }
        }
        full.last().map(|outcome| outcome.loss)
    }

    /// How many trials in full there are, and how many of them lost too much.
    pub fn counts(&self, outcomes: &[Outcome]) -> Counts {
        let full = outcomes.iter().filter(|outcome| self.is_full(outcome));
        let mut counts = Counts::default();
        for outcome in full {
            counts.trials += 1;
            counts.bad += u64::from(!self.is_met_by(outcome));
        }
        counts
    }
}

/// Trials in full, and those of them that lost too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All.
    pub trials: u64,
    /// Those.
    pub bad: u64,
}

impl Counts {
    /// Both.
    pub fn and(self, other: Self) -> Self {
        Self {
            trials: self.trials + other.trials,
            bad: self.bad + other.bad,
        }
    }

    /// How probable so few bad ones are, or fewer, where each is bad with that probability or a higher one.
    pub fn p_of_so_few(self, exceed: f64) -> f64 {
        Binomial::new(exceed, self.trials).map_or(1.0, |binomial| binomial.cdf(self.bad))
    }

    /// How probable so many bad ones are, or more, where each is bad with that probability or a lower one.
    pub fn p_of_so_many(self, exceed: f64) -> f64 {
        let Some(fewer) = self.bad.checked_sub(1) else {
            return 1.0;
        };
        Binomial::new(exceed, self.trials).map_or(1.0, |binomial| binomial.sf(fewer))
    }
}
