//! Whether a CPU was as fast in one trial as in another.

use statrs::statistics::{Data, OrderStatistics};

/// The slowest of ten trials takes no more than that, by the fastest of ten, where nothing disturbs them: 1.01 to 1.02 in 30
/// searches on an emulated board whose clock counts instructions, 1.12 to 1.66 in nine on a virtual machine.
const STEADY: f64 = 1.1;
/// Fewer trials do not tell.
const LEAST: usize = 10;

/// How much CPU time a datagram or a request took, from trial to trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTimes {
    /// In one of ten trials it took less, in nanoseconds.
    pub low_ns: f64,
    /// In one of ten trials it took more.
    pub high_ns: f64,
}

impl CpuTimes {
    /// Of each trial, in nanoseconds. `None`: of too few.
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

    /// Whether trials differ no more than they do on a machine that is always the same.
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
