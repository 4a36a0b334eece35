//! Signs of life where there is no terminal to draw on.

use std::time::{Duration, Instant};

use crate::commands::about;

/// No two lines come closer than this.
const LEAST: Duration = Duration::from_secs(10);
/// The most lines of one sweep.
const MOST_LINES: u32 = 20;

/// Says now and then how far a sweep is.
pub(super) struct Pulse {
    time_per_window: Duration,
    every: Duration,
    last: Instant,
}

impl Pulse {
    /// Of a sweep that begins `now`, and has so many windows to measure.
    pub(super) fn new(time_per_window: Duration, windows: u64, now: Instant) -> Self {
        let all = lasting(time_per_window, windows);
        Self {
            time_per_window,
            every: LEAST.max(all / MOST_LINES),
            last: now,
        }
    }

    /// How far it is, where that is due: windows measured, and those in all.
    pub(super) fn beat(&mut self, now: Instant, done: u64, all: u64) -> Option<String> {
        if now.duration_since(self.last) < self.every || done >= all {
            return None;
        }
        self.last = now;
        let left = lasting(self.time_per_window, all - done);
        let percent = 100 * done / all;
        Some(format!("{percent} % measured, {} left", about(left)))
    }
}

fn lasting(time_per_window: Duration, windows: u64) -> Duration {
    time_per_window.saturating_mul(u32::try_from(windows).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_every_ten_seconds_or_twenty_times_in_a_long_sweep() {
        let (begun, window) = (Instant::now(), Duration::from_millis(100));
        let seconds = |seconds| begun + Duration::from_secs(seconds);
        let mut short = Pulse::new(window, 600, begun);
        assert_eq!(short.beat(seconds(9), 90, 600), None);
        let said = short.beat(seconds(10), 100, 600);
        assert_eq!(said.as_deref(), Some("16 % measured, about 50s left"));
        assert_eq!(short.beat(seconds(19), 190, 600), None);
        assert!(short.beat(seconds(20), 200, 600).is_some());
        assert_eq!(short.beat(seconds(60), 600, 600), None);
        // An hour: every three minutes.
        let mut long = Pulse::new(window, 36_000, begun);
        assert_eq!(long.beat(seconds(179), 1790, 36_000), None);
        assert!(long.beat(seconds(180), 1800, 36_000).is_some());
    }
}
