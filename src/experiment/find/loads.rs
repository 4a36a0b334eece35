//! What a search for a load asks and finds; judges from its trials whether a load passes (RFC 9971, section 6).

use statrs::distribution::{Binomial, DiscreteCDF};

/// Condition under which a load passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Share of the datagrams of a trial that may be lost: 0 to below 1.
    pub loss: f64,
    /// Share of the time in which more may be lost: above 0, below 1.
    pub exceed: f64,
    /// Length from which on a trial counts in full, in seconds.
    pub trial_s: f64,
    /// Required sum of the lengths of the trials at a load, in seconds.
    pub sum_s: f64,
    /// Required distance of the bounds, relative to the upper one.
    pub width: f64,
}

/// Trial that the search asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialRequest {
    /// Load in datagrams per second.
    pub load: u32,
    /// Length in seconds.
    pub seconds: f64,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundLoad {
    /// Highest load that passes. `None`: no load passes.
    pub load: Option<u32>,
    /// Lowest load that is too much. `None`: no load is too much.
    pub too_much: Option<u32>,
    /// Datagrams that arrive per second at [`FoundLoad::load`]: the conditional throughput.
    pub throughput: Option<f64>,
    /// Loads between which the truth lies in at least 95 of 100 searches. `None`: there is no such bound.
    pub interval: (Option<u32>, Option<u32>),
}

/// Length and loss of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialLoss {
    /// Length of the trial in seconds.
    pub seconds: f64,
    /// Share of the datagrams due that did not arrive.
    pub loss: f64,
}

/// Judgement of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadClass {
    /// Load that passes.
    Lower,
    /// Load that is too much.
    Upper,
    /// Load on which later trials may decide either way.
    Undecided,
}

impl Goal {
    /// Returns whether a trial lost no more than it may.
    pub(super) fn is_met_by(&self, trial: &TrialLoss) -> bool {
        trial.loss <= self.loss
    }

    /// Returns whether a trial is a full one. Trials have the requested length, except for rounding.
    pub(super) fn is_full(&self, trial: &TrialLoss) -> bool {
        trial.seconds >= 0.999 * self.trial_s
    }

    /// Classifies a load by its trials. The result holds whatever later trials may show (RFC 9971, appendix A). A
    /// short trial with too much loss counts only for the time that good short trials do not balance.
    pub fn class(&self, trials: &[TrialLoss]) -> LoadClass {
        let (mut good, mut bad, mut short_good, mut short_bad) = (0.0, 0.0, 0.0, 0.0);
        for trial in trials {
            let sum = match (self.is_full(trial), self.is_met_by(trial)) {
                (true, true) => &mut good,
                (true, false) => &mut bad,
                (false, true) => &mut short_good,
                (false, false) => &mut short_bad,
            };
            *sum += trial.seconds;
        }
        let balance: f64 = short_good * self.exceed / (1.0 - self.exceed);
        bad += f64::max(short_bad - balance, 0.0);
        let whole: f64 = (good + bad).max(self.sum_s);
        let quantile = whole * self.exceed;
        match (bad <= quantile, whole - good <= quantile) {
            (true, true) => LoadClass::Lower,
            (false, _) => LoadClass::Upper,
            (true, false) => LoadClass::Undecided,
        }
    }

    /// Returns the loss of the worst trials that the goal still allows. Takes the full trials from the best to the
    /// worst, until their sum reaches the share of time beside the exceed ratio; the loss of the last one counts.
    pub fn conditional_loss(&self, trials: &[TrialLoss]) -> Option<f64> {
        let mut full: Vec<&TrialLoss> = trials.iter().filter(|it| self.is_full(it)).collect();
        full.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        let sum: f64 = full.iter().map(|trial| trial.seconds).sum();
        let mut left = sum.max(self.sum_s) * (1.0 - self.exceed);
        for trial in &full {
            left -= trial.seconds;
            if left <= 0.0 {
                return Some(trial.loss);
            }
        }
        full.last().map(|trial| trial.loss)
    }

    /// Counts the full trials, and the full trials that lost too much.
    pub fn counts<'t>(&self, trials: impl Iterator<Item = &'t TrialLoss>) -> TrialCounts {
        let mut counts = TrialCounts::default();
        for trial in trials.filter(|trial| self.is_full(trial)) {
            counts.trials += 1;
            counts.bad += u64::from(!self.is_met_by(trial));
        }
        counts
    }
}

/// Number of full trials, and of full trials that lost too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrialCounts {
    /// Number of full trials.
    pub trials: u64,
    /// Full trials that lost too much.
    pub bad: u64,
}

impl TrialCounts {
    /// Returns the probability of this few bad trials or fewer, if each trial is bad with probability `exceed` or a
    /// higher one.
    pub fn p_of_so_few(self, exceed: f64) -> f64 {
        Binomial::new(exceed, self.trials).map_or(1.0, |binomial| binomial.cdf(self.bad))
    }

    /// Returns the probability of this many bad trials or more, if each trial is bad with probability `exceed` or a
    /// lower one.
    pub fn p_of_so_many(self, exceed: f64) -> f64 {
        let Some(fewer) = self.bad.checked_sub(1) else {
            return 1.0;
        };
        Binomial::new(exceed, self.trials).map_or(1.0, |binomial| binomial.sf(fewer))
    }
}
