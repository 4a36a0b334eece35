//! When what goes at a rate is due.

use crate::data::Arrivals;
use crate::sys::clock;

/// One moment after the other, at equal distances or at random, or several at once. They do not depend on what became of those before: a
/// thread that was held up makes up for it.
#[derive(Debug)]
pub struct Schedule {
    /// When the next one is due, by the monotonic clock.
    due_ns: u64,
    /// The mean time between two of them.
    gap_ns: f64,
    /// What of a nanosecond has not been waited for yet.
    rest_ns: f64,
    /// Of arrivals at random.
    rng: Option<fastrand::Rng>,
    /// How many are due at once.
    train: u64,
    /// How many of those have gone.
    gone: u64,
    /// When it was looked at last whether the next one is due.
    looked_ns: u64,
}

impl Schedule {
    /// With so many nanoseconds between two, in the mean; at random, each run by itself.
    pub fn new(gap_ns: f64, arrivals: Arrivals) -> Self {
        Self {
            due_ns: 0,
            gap_ns,
            rest_ns: 0.0,
            rng: (arrivals == Arrivals::Poisson).then(fastrand::Rng::new),
            train: match arrivals {
                Arrivals::Train(length) => length.into(),
                Arrivals::Even | Arrivals::Poisson => 1,
            },
            gone: 0,
            looked_ns: 0,
        }
    }

    /// The mean time between two, in nanoseconds.
    pub fn gap_ns(&self) -> f64 {
        self.gap_ns
    }

    /// How many are due at once.
    pub fn train(&self) -> u64 {
        self.train
    }

    /// Begins. The first one is due somewhere within the first gap, so that not all threads send at once: the golden
    /// ratio spreads any number of them evenly (Knuth, *The Art of Computer Programming*, volume 3, 6.4).
    pub(super) fn begin(&mut self, thread: u16) {
        self.due_ns = clock::monotonic_ns();
        let part = (f64::from(thread) * 0.618_034).fract();
        self.wait(part * self.gap_ns * self.train as f64);
    }

    /// When the next one is due, by the monotonic clock.
    #[inline]
    pub(super) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Waits until the next one is due. `false`: it is time to look whether to stop.
    pub(super) fn is_due(&mut self) -> bool {
        self.looked_ns = clock::monotonic_ns();
        if self.looked_ns >= self.due_ns {
            return true;
        }
        let is_due = clock::sleep_towards(self.due_ns);
        self.looked_ns = clock::monotonic_ns();
        is_due
    }

    /// So many have gone, or are lost: the next one is due. Whether it was due already when these went, so that they
    /// were late; the others of a train are not.
    #[inline]
    pub(super) fn went(&mut self, packets: u64) -> bool {
        for _ in 0..packets {
            self.gone += 1;
            if self.gone >= self.train {
                let gap_ns = self.next_gap_ns() * self.train as f64;
                self.wait(gap_ns);
                self.gone = 0;
            }
        }
        packets > 0 && self.gone == 0 && self.due_ns <= self.looked_ns
    }

    fn wait(&mut self, gap_ns: f64) {
        let wait_ns = gap_ns + self.rest_ns;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "its whole part"
        )]
        let whole_ns = wait_ns as u64;
        self.rest_ns = wait_ns - whole_ns as f64;
        self.due_ns += whole_ns;
    }

    fn next_gap_ns(&mut self) -> f64 {
        match &mut self.rng {
            None => self.gap_ns,
            // Exponentially distributed, by inversion; never the logarithm of 0.
            Some(rng) => -self.gap_ns * (1.0 - rng.f64()).ln(),
        }
    }

    /// The next one is due then.
    #[cfg(test)]
    pub(super) fn set_due(&mut self, ns: u64) {
        self.due_ns = ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_come_at_their_rate() {
        let mut even = Schedule::new(333.4, Arrivals::Even);
        let mut poisson = Schedule::new(333.4, Arrivals::Poisson);
        for schedule in [&mut even, &mut poisson] {
            for _ in 0..100_000 {
                schedule.went(1);
            }
        }
        assert!(
            (even.due_ns as f64 - 33_340_000.0).abs() <= 1.0,
            "{}",
            even.due_ns
        );
        let off = poisson.due_ns as f64 / 33_340_000.0 - 1.0;
        assert!(off.abs() < 0.02, "six standard deviations: {off}");
    }

    #[test]
    fn a_burst_is_as_many_moments() {
        let mut schedule = Schedule::new(333.5, Arrivals::Even);
        schedule.went(1000);
        assert_eq!(schedule.due_ns, 333_500);
        schedule.went(0);
        assert_eq!(schedule.due_ns, 333_500);
    }

    #[test]
    fn those_of_a_train_are_due_at_once_and_none_is_late() {
        let mut schedule = Schedule::new(1000.0, Arrivals::Train(5));
        schedule.looked_ns = 1;
        for _ in 0..4 {
            assert!(!schedule.went(1));
            assert_eq!(schedule.due_ns, 0);
        }
        assert!(!schedule.went(1));
        assert_eq!(schedule.due_ns, 5000);
        schedule.looked_ns = 20_000;
        assert!(schedule.went(10), "the train after these two is due, too");
        assert_eq!(schedule.due_ns, 15_000);
    }

    #[test]
    fn at_random_no_two_runs_are_alike() {
        let due = |()| {
            let mut schedule = Schedule::new(1e6, Arrivals::Poisson);
            schedule.went(1);
            schedule.due_ns
        };
        let [one, other] = [(); 2].map(due);
        assert_ne!(one, other);
    }

    #[test]
    fn threads_begin_at_different_moments_of_the_first_gap() {
        let gap_ns = 1e9;
        let begun = clock::monotonic_ns();
        let dues = [0, 1, 2].map(|thread| {
            let mut schedule = Schedule::new(gap_ns, Arrivals::Even);
            schedule.begin(thread);
            schedule.due_ns - begun
        });
        assert!(dues[0] < dues[2] && dues[2] < dues[1], "{dues:?}");
    }

    #[test]
    fn what_went_when_the_next_was_due_is_late() {
        let mut schedule = Schedule::new(1000.0, Arrivals::Even);
        schedule.due_ns = clock::monotonic_ns() - 5_000_000;
        assert!(schedule.is_due());
        assert!(schedule.went(32), "behind by 5000");
        schedule.due_ns = clock::monotonic_ns() + 1_000_000;
        schedule.gap_ns = 1e12;
        while !schedule.is_due() {}
        assert!(!schedule.went(1));
    }
}
