//! Estimate of the time left: the model's time per part, corrected by the time that parts have taken.

use std::time::{Duration, Instant};

use crate::session::Work;

/// Part of the whole that counts as taken by the model: one twentieth. Later, what parts have taken outweighs it.
const OF_THE_MODEL: u32 = 20;

/// Learns from the progress of an experiment how long the rest takes.
///
/// The time taken includes all that no model knows: slow processes, repeated trials, cool-downs between rounds.
pub(super) struct TimeLeft {
    /// Time and parts when the first new part began.
    begun: (Instant, u64),
}

impl TimeLeft {
    /// Begins at `now`.
    pub(super) fn new(work: Work, now: Instant) -> Self {
        Self {
            begun: (now, work.done),
        }
    }

    /// Takes the progress at `now`, and returns the time left.
    pub(super) fn learn(&mut self, work: Work, now: Instant) -> Duration {
        if work.done == self.begun.1 {
            // The soak and the first cool-down are no part.
            self.begun.0 = now;
        }
        let (since, done) = self.begun;
        let modelled = |parts: u64| work.each.as_secs_f64() * parts as f64;
        let prior = modelled(work.all.saturating_sub(done)) / f64::from(OF_THE_MODEL);
        let taken = now.duration_since(since).as_secs_f64();
        let model = modelled(work.done.saturating_sub(done));
        if prior <= 0.0 {
            return Duration::ZERO;
        }
        let factor = (taken + prior) / (model + prior);
        let left = modelled(work.all.saturating_sub(work.done)) * factor;
        Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: Duration = Duration::from_millis(100);

    fn work(done: u64, all: u64) -> Work {
        Work {
            done,
            all,
            each: EACH,
        }
    }

    /// Returns the seconds left after each of `parts` parts of 100 that take `each`, after 7 s of soak.
    fn course(each: Duration, parts: u32) -> Vec<f64> {
        let begun = Instant::now();
        let mut left = TimeLeft::new(work(0, 100), begun);
        let warm = begun + Duration::from_secs(7);
        let left = (0..=parts).map(|n| left.learn(work(u64::from(n), 100), warm + each * n));
        left.map(|left| left.as_secs_f64()).collect()
    }

    #[test]
    fn parts_that_take_as_long_as_the_model_says_leave_it_as_it_is() {
        for (n, left) in (0..).zip(course(EACH, 100)) {
            let right = 0.1 * f64::from(100 - n);
            assert!((left - right).abs() < 1e-6, "{n}: {left} s");
        }
    }

    #[test]
    fn after_a_fifth_of_the_parts_the_time_left_is_nearer_to_theirs_than_to_the_models() {
        for slower in [0.5_f64, 2.0, 3.5, 10.0] {
            let left = course(EACH.mul_f64(slower), 100);
            assert!((left[0] - 10.0).abs() < 1e-6, "nothing is known yet");
            let ratio = |n: usize| left[n] / (0.1 * slower * (100 - n) as f64);
            assert!((0.8..=1.2).contains(&ratio(20)), "{slower}: {}", ratio(20));
            assert!((0.9..=1.1).contains(&ratio(50)), "{slower}: {}", ratio(50));
            assert!(left[100].abs() < 1e-6, "nothing is left");
        }
    }

    #[test]
    fn a_resumed_experiment_learns_from_its_own_parts() {
        let begun = Instant::now();
        let mut left = TimeLeft::new(work(50, 100), begun);
        let after = |parts: u32| begun + EACH * 3 * parts;
        assert_eq!(left.learn(work(50, 100), after(0)).as_secs(), 5);
        let then = left.learn(work(75, 100), after(25)).as_secs_f64();
        assert!((6.5..=7.5).contains(&then), "{then} s");
    }
}
