//! Chooses the case whose turn it is: while one pauses, others are measured.

use std::time::{Duration, Instant};

/// Turns of the cases in this process.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Time limit of each case.
    max_time: Duration,
    /// Sum of the turns of each case, and the end of its pause.
    cases: Vec<(Duration, Option<Instant>)>,
    /// Case whose turn it is, and the time up to which its sum is known.
    current: Option<(usize, Instant)>,
}

impl Turns {
    /// Creates the turns of this many cases, each of which has `max_time`.
    pub(super) fn new(cases: usize, max_time: Duration) -> Self {
        Self {
            max_time,
            cases: vec![(Duration::ZERO, None); cases],
            current: None,
        }
    }

    /// Begins or continues the turn of a case, and returns the case with the end of its pause. `pauses`: time before
    /// the next trial of each case, if it has one. `None`: no case has both a next trial and time.
    pub(super) fn next(
        &mut self,
        now: Instant,
        pauses: impl Iterator<Item = Option<Duration>>,
    ) -> Option<(usize, Instant)> {
        if let Some((case, since)) = &mut self.current {
            self.cases[*case].0 += now - *since;
            *since = now;
        }
        let current = self.current.map(|(case, _)| case);
        let cases = pauses.zip(&mut self.cases).enumerate();
        let candidates = cases.filter_map(|(case, (pause, (spent, end)))| {
            // A pause that has begun goes on.
            *end = match pause? {
                Duration::ZERO => None,
                pause => Some(end.unwrap_or(now + pause)),
            };
            let ready = end.map_or(now, |end| end.max(now));
            (*spent < self.max_time).then_some((ready, Some(case) != current, case))
        });
        let (ready, _, case) = candidates.min()?;
        self.current = Some((case, now));
        Some((case, ready))
    }

    /// Returns the case whose turn it is, if it has time left.
    pub(super) fn current(&self, now: Instant) -> Option<usize> {
        let (case, since) = self.current?;
        (self.cases[case].0 + (now - since) < self.max_time).then_some(case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);
    const NO_PAUSE: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn while_a_case_pauses_the_next_one_is_measured_and_only_then_it_waits() {
        let begun = Instant::now();
        let mut turns = Turns::new(2, 300 * S);
        let mut next = |seconds, pauses: [Option<Duration>; 2]| {
            let now = begun + seconds * S;
            let (case, ready) = turns.next(now, pauses.into_iter())?;
            Some((case, (ready - now).as_secs()))
        };
        let pause = Some(30 * S);
        assert_eq!(next(0, [NO_PAUSE, NO_PAUSE]), Some((0, 0)));
        // The first case has its bounds.
        assert_eq!(next(10, [pause, NO_PAUSE]), Some((1, 0)));
        assert_eq!(next(35, [pause, NO_PAUSE]), Some((1, 0)), "it goes on");
        assert_eq!(next(38, [pause, pause]), Some((0, 2)));
        assert_eq!(next(40, [pause, pause]), Some((0, 0)));
        assert_eq!(next(41, [NO_PAUSE, pause]), Some((0, 0)));
        assert_eq!(next(50, [None, pause]), Some((1, 18)));
        assert_eq!(next(68, [None, pause]), Some((1, 0)));
        assert_eq!(next(80, [None, None]), None);
    }

    #[test]
    fn a_case_has_no_more_time_than_the_limit_in_all_its_turns() {
        let begun = Instant::now();
        let mut turns = Turns::new(2, 20 * S);
        let mut case = |seconds, pauses: [Option<Duration>; 2]| {
            let next = turns.next(begun + seconds * S, pauses.into_iter());
            next.map(|(case, _)| case)
        };
        let pause = Some(5 * S);
        assert_eq!(case(0, [NO_PAUSE, NO_PAUSE]), Some(0));
        assert_eq!(case(15, [pause, NO_PAUSE]), Some(1));
        assert_eq!(case(34, [pause, NO_PAUSE]), Some(1));
        assert_eq!(case(35, [pause, NO_PAUSE]), Some(0));
        assert_eq!(case(39, [NO_PAUSE, NO_PAUSE]), Some(0));
        assert_eq!(case(40, [NO_PAUSE, NO_PAUSE]), None);
    }
}
