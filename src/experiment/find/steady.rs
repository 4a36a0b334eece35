//! Judges whether a CPU and the capacity stayed the same over all trials.

use statrs::statistics::{Data, OrderStatistics};

/// A machine is steady if the 90th percentile of the trials' CPU times is at most this multiple of the 10th. It was
/// 1.01 to 1.02 in 30 searches on an emulated board whose clock counts instructions, 1.12 to 1.66 in nine searches on a
/// shared virtual machine.
const MAX_P90_TO_P10: f64 = 1.1;
/// Smallest number of trials that allows a judgement.
const MIN_TRIALS: usize = 10;

/// Range over the trials of the CPU time per datagram or request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTimes {
    /// 10th percentile of the trials, in nanoseconds.
    pub low_ns: f64,
    /// 90th percentile of the trials, in nanoseconds.
    pub high_ns: f64,
}

impl CpuTimes {
    /// Creates the range from the time of each trial, in nanoseconds. `None`: there are too few trials.
    pub(super) fn of(trials: Vec<f64>) -> Option<Self> {
        if trials.len() < MIN_TRIALS {
            return None;
        }
        let mut trials = Data::new(trials);
        Some(Self {
            low_ns: trials.percentile(10),
            high_ns: trials.percentile(90),
        })
    }

    /// Returns whether the CPU was equally fast in nearly all trials: their ratio is at most `MAX_P90_TO_P10`.
    pub fn are_steady(self) -> bool {
        self.high_ns <= MAX_P90_TO_P10 * self.low_ns
    }
}

/// Number of standard deviations by which too few changes of outcome show a capacity that wanders: by chance in one of
/// 40 searches.
const TOO_FEW: f64 = 1.96;

/// Returns whether trials of one load have the same outcome as the trial before more often than by chance. `outcomes`:
/// those of each load, in the order of time. The count of changes is that of Wald & Wolfowitz (Annals of Mathematical
/// Statistics 11 (1940) 147-162), summed over the loads.
pub(super) fn wanders(outcomes: impl Iterator<Item = Vec<bool>>) -> bool {
    let (mut surplus, mut variance) = (0.0, 0.0);
    for outcomes in outcomes {
        let trials = outcomes.len() as f64;
        let good = outcomes.iter().filter(|is_good| **is_good).count() as f64;
        let mixed = 2.0 * good * (trials - good);
        if mixed == 0.0 {
            continue;
        }
        let changes = outcomes.windows(2).filter(|pair| pair[0] != pair[1]);
        surplus += changes.count() as f64 - mixed / trials;
        variance += mixed * (mixed - trials) / (trials * trials * (trials - 1.0));
    }
    // Half a change for the step from counts to a normal distribution.
    surplus + 0.5 < -TOO_FEW * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outlier_in_ten_trials_on_each_side_is_steady() {
        let mut trials = vec![1000.0; 18];
        trials.extend([100.0, 9000.0]);
        let times = CpuTimes::of(trials).expect("enough");
        assert!(times.are_steady(), "{times:?}");
    }

    #[test]
    fn two_speeds_in_turn_are_not_steady() {
        let trials = [1000.0, 1400.0].repeat(MIN_TRIALS);
        let times = CpuTimes::of(trials).expect("enough");
        assert_eq!((times.low_ns, times.high_ns), (1000.0, 1400.0));
        assert!(!times.are_steady());
    }

    #[test]
    fn a_capacity_wanders_if_trials_of_a_load_all_pass_first_and_all_fail_later() {
        let outcomes = |text: &str| text.chars().map(|it| it == '+').collect();
        let wanders = |loads: &[&str]| wanders(loads.iter().map(|load| outcomes(load)));
        assert!(wanders(&["++++++++--------"]));
        assert!(wanders(&["++++----", "++++++--", "+++-----"]));
        assert!(!wanders(&["++++++++", "--------"]));
        assert!(!wanders(&["++-+--+-+--++-+-"]));
        assert!(!wanders(&["++-", "+", ""]));
    }

    #[test]
    fn too_few_trials_give_no_range() {
        assert_eq!(CpuTimes::of(vec![1.0; MIN_TRIALS - 1]), None);
    }
}
