//! Judges whether a CPU was equally fast in all trials.

use statrs::statistics::{Data, OrderStatistics};

/// Highest ratio of the slow trials (90th percentile) to the fast trials (10th percentile) on a steady machine.
/// Measured: 1.01 to 1.02 in 30 searches on an undisturbed emulated board whose clock counts instructions, 1.12 to
/// 1.66 in nine searches on a virtual machine.
const STEADY: f64 = 1.1;
/// Smallest number of trials that allows a judgement.
const LEAST: usize = 10;

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
        if trials.len() < LEAST {
            return None;
        }
        let mut trials = Data::new(trials);
        Some(Self {
            low_ns: trials.percentile(10),
            high_ns: trials.percentile(90),
        })
    }

    /// Returns whether the trials differ no more than on a machine that is always equally fast.
    pub fn are_steady(self) -> bool {
        self.high_ns <= STEADY * self.low_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_ten_trials_may_be_as_it_likes() {
        let mut trials = vec![1000.0; 18];
        trials.extend([100.0, 9000.0]);
        let times = CpuTimes::of(trials).expect("enough");
        assert!(times.are_steady(), "{times:?}");
    }

    #[test]
    fn a_machine_that_is_another_one_half_of_the_time_is_not_steady() {
        let trials = [1000.0, 1400.0].repeat(LEAST);
        let times = CpuTimes::of(trials).expect("enough");
        assert_eq!((times.low_ns, times.high_ns), (1000.0, 1400.0));
        assert!(!times.are_steady());
    }

    #[test]
    fn a_few_trials_do_not_tell() {
        assert_eq!(CpuTimes::of(vec![1.0; LEAST - 1]), None);
    }
}
