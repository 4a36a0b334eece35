//! Schedule of paced sending: computes when each datagram or request is due.

use crate::data::Arrivals;
use crate::sys::clock;

/// A sequence of due times: at equal intervals, at random intervals, or in trains. Due times do not depend on when
/// earlier datagrams were sent, so a delayed thread catches up.
#[derive(Debug)]
pub struct DueTimes {
    /// Due time of the next datagram, by the monotonic clock.
    pub(super) due_ns: u64,
    /// Mean time between two datagrams, in nanoseconds.
    gap_ns: f64,
    /// Fraction of a nanosecond carried over to the next due time.
    rest_ns: f64,
    /// Random numbers for random intervals.
    rng: Option<fastrand::Rng>,
    /// Datagrams that are due at the same time.
    train: u64,
    /// Datagrams of the current train that were sent.
    gone: u64,
    /// Time of the last check whether the next datagram is due.
    looked_ns: u64,
}

impl DueTimes {
    /// Creates a schedule with a mean interval of `gap_ns` nanoseconds. Random intervals differ in each run.
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

    /// Returns the mean time between two datagrams, in nanoseconds.
    pub fn gap_ns(&self) -> f64 {
        self.gap_ns
    }

    /// Returns the number of datagrams that are due at the same time.
    pub fn train(&self) -> u64 {
        self.train
    }

    /// Starts the schedule. The first datagram is due within the first interval, at a position that depends on the
    /// `number` of the sender, so that senders do not send at the same time: the golden ratio spreads any number of
    /// positions evenly (Knuth, *The Art of Computer Programming*, volume 3, 6.4).
    pub(super) fn begin(&mut self, number: u16) {
        self.due_ns = clock::monotonic_ns();
        let part = (f64::from(number) * 0.618_034).fract();
        self.wait(part * self.gap_ns * self.train as f64);
    }

    /// Waits until the next datagram is due. Returns false if the caller must first check whether to stop.
    pub(super) fn wait_until_due(&mut self) -> bool {
        self.looked_ns = clock::monotonic_ns();
        if self.looked_ns >= self.due_ns {
            return true;
        }
        let is_due = clock::sleep_towards(self.due_ns);
        self.looked_ns = clock::monotonic_ns();
        is_due
    }

    /// Advances the schedule by `packets` datagrams that were sent or lost. Returns whether they were late: the next
    /// one, outside of their train, was already due when they were sent.
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
        let whole_ns = whole(wait_ns);
        self.rest_ns = wait_ns - whole_ns as f64;
        self.due_ns += whole_ns;
    }

    fn next_gap_ns(&mut self) -> f64 {
        match &mut self.rng {
            None => self.gap_ns,
            // Exponentially distributed, by inversion. The argument of the logarithm is never 0.
            Some(rng) => -self.gap_ns * (1.0 - rng.f64()).ln(),
        }
    }
}

/// Returns the whole part of a number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates at both ends"
)]
pub(super) fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_come_at_their_rate() {
        let mut even = DueTimes::new(333.4, Arrivals::Even);
        let mut poisson = DueTimes::new(333.4, Arrivals::Poisson);
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
        let mut schedule = DueTimes::new(333.5, Arrivals::Even);
        schedule.went(1000);
        assert_eq!(schedule.due_ns, 333_500);
        schedule.went(0);
        assert_eq!(schedule.due_ns, 333_500);
    }

    #[test]
    fn those_of_a_train_are_due_at_once_and_none_is_late() {
        let mut schedule = DueTimes::new(1000.0, Arrivals::Train(5));
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
            let mut schedule = DueTimes::new(1e6, Arrivals::Poisson);
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
            let mut schedule = DueTimes::new(gap_ns, Arrivals::Even);
            schedule.begin(thread);
            schedule.due_ns - begun
        });
        assert!(dues[0] < dues[2] && dues[2] < dues[1], "{dues:?}");
    }

    #[test]
    fn what_went_when_the_next_was_due_is_late() {
        let mut schedule = DueTimes::new(1000.0, Arrivals::Even);
        schedule.due_ns = clock::monotonic_ns() - 5_000_000;
        assert!(schedule.wait_until_due());
        assert!(schedule.went(32), "behind by 5000");
        schedule.due_ns = clock::monotonic_ns() + 1_000_000;
        schedule.gap_ns = 1e12;
        while !schedule.wait_until_due() {}
        assert!(!schedule.went(1));
    }
}
