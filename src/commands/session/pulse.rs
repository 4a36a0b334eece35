//! Progress lines for a standard error that is no terminal.

use std::time::{Duration, Instant};

use crate::commands::about;
use crate::session::Work;

/// Shortest time between two lines.
const LEAST: Duration = Duration::from_secs(10);
/// Upper limit of the lines per sweep.
const MOST_LINES: u32 = 20;

/// Produces progress lines at intervals.
pub(super) struct Pulse {
    every: Duration,
    last: Instant,
}

impl Pulse {
    /// Returns the pulse of an experiment that begins at `now`.
    pub(super) fn new(work: Work, now: Instant) -> Self {
        let windows = u32::try_from(work.all).unwrap_or(u32::MAX);
        let all = work.each.saturating_mul(windows);
        Self {
            every: LEAST.max(all / MOST_LINES),
            last: now,
        }
    }

    /// Returns the progress line if one is due. `left`: estimate of the time left.
    pub(super) fn beat(&mut self, now: Instant, work: Work, left: Duration) -> Option<String> {
        let Work { done, all, .. } = work;
        if now.duration_since(self.last) < self.every || done >= all {
            return None;
        }
        self.last = now;
        let percent = 100 * done / all;
        Some(format!("{percent} % measured, {} left", about(left)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_every_ten_seconds_or_twenty_times_in_a_long_sweep() {
        let begun = Instant::now();
        let work = |done, all| Work {
            done,
            all,
            each: Duration::from_millis(100),
        };
        let seconds = |seconds| begun + Duration::from_secs(seconds);
        let left = Duration::from_secs(50);
        let mut short = Pulse::new(work(0, 600), begun);
        assert_eq!(short.beat(seconds(9), work(90, 600), left), None);
        let said = short.beat(seconds(10), work(100, 600), left);
        assert_eq!(said.as_deref(), Some("16 % measured, about 50s left"));
        assert_eq!(short.beat(seconds(19), work(190, 600), left), None);
        assert!(short.beat(seconds(20), work(200, 600), left).is_some());
        assert_eq!(short.beat(seconds(60), work(600, 600), left), None);
        // In a sweep of an hour, every three minutes.
        let mut long = Pulse::new(work(0, 36_000), begun);
        assert_eq!(long.beat(seconds(179), work(1790, 36_000), left), None);
        assert!(long.beat(seconds(180), work(1800, 36_000), left).is_some());
    }
}
