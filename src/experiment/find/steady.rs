//! Judges whether a CPU was equally fast in all trials.

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
    fn too_few_trials_give_no_range() {
        assert_eq!(CpuTimes::of(vec![1.0; MIN_TRIALS - 1]), None);
    }
}
