//! Round-trip times: quantiles from histograms.

use super::rounding::decimals;
use crate::data::{Histogram, RoundTrips, Sample};
use crate::stats::trend::Trend;
use crate::stats::{CONFIDENCE, Estimate};

/// Quantiles that rows have.
pub(super) const SHARES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// Requests that must take longer than a quantile for the quantile to be reported.
const LONGER: f64 = 10.0;
/// Number of bootstrap samples.
const DRAWN: usize = 200;

/// Round trips of the windows of a case.
pub(super) struct Latencies {
    /// Sum over all windows.
    together: RoundTrips,
    /// Quantiles in microseconds, by [`SHARES`]. `None`: too few requests take longer, or the quantile is among the
    /// requests without a response.
    pub(super) quantiles_us: [Option<Estimate>; SHARES.len()],
    is_asked: bool,
}

impl Latencies {
    pub(super) fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let windows = samples.into_iter();
        let windows = windows.filter_map(|sample| sample.round_trips.as_ref());
        Self::of_windows(&windows.collect::<Vec<_>>())
    }

    fn of_windows(windows: &[&RoundTrips]) -> Self {
        let together = sum(windows);
        let drawn = drawn(windows);
        let quantile = |share| {
            let beyond = (1.0 - share) * asked(&together) as f64;
            let middle = quantile_us(&together, share).filter(|_| beyond >= LONGER - 1e-6)?;
            Some(interval(
                middle,
                drawn.iter().map(|all| quantile_us(all, share)),
            ))
        };
        Self {
            quantiles_us: SHARES.map(quantile),
            is_asked: !windows.is_empty(),
            together,
        }
    }

    /// Returns the mean, in microseconds.
    pub(super) fn mean_us(&self) -> Option<f64> {
        Some(microseconds(self.together.mean_ns()?))
    }

    /// Returns the standard deviation, in microseconds.
    pub(super) fn sd_us(&self) -> Option<f64> {
        let mean_ns = self.together.mean_ns()?;
        let deviation_ns = self.together.times.standard_deviation(mean_ns);
        deviation_ns.map(microseconds)
    }

    /// Returns the longest round trip, in microseconds.
    pub(super) fn longest_us(&self) -> Option<f64> {
        self.together.times.quantile(1.0).map(microseconds)
    }

    /// Returns the median time between the arrival of a response at the kernel and at the client, in microseconds.
    pub(super) fn wakeup_us(&self) -> Option<f64> {
        let wakeups = &self.together.wakeups;
        let median = wakeups.quantile(0.5).map(microseconds);
        median.filter(|_| wakeups.count() as f64 >= 2.0 * LONGER)
    }

    /// Returns a sum over all windows. `None`: the case has no requests.
    pub(super) fn total(&self, count: fn(&RoundTrips) -> u64) -> Option<u64> {
        self.is_asked.then(|| count(&self.together))
    }
}

/// Returns the trend of the medians of the windows, in the order of time.
pub(super) fn trend(samples: &[Sample]) -> Option<Trend> {
    let windows = samples.iter();
    let windows = windows.filter_map(|sample| sample.round_trips.as_ref());
    let medians = windows.map(|window| window.times.quantile(0.5));
    Trend::of(&medians.collect::<Option<Vec<f64>>>()?)
}

fn sum(windows: &[&RoundTrips]) -> RoundTrips {
    let mut all = RoundTrips::default();
    for window in windows {
        all.add(window);
    }
    all
}

fn asked(round_trips: &RoundTrips) -> u64 {
    round_trips.times.count() + round_trips.unanswered
}

/// Returns a quantile in microseconds. Requests without a response count as longer than all others.
fn quantile_us(round_trips: &RoundTrips, share: f64) -> Option<f64> {
    let RoundTrips {
        times, unanswered, ..
    } = round_trips;
    Histogram::quantile_among(times, share, *unanswered).map(microseconds)
}

/// Draws bootstrap samples: sets of windows drawn at random with replacement, of the original size, each summed up
/// (Efron & Tibshirani, *An Introduction to the Bootstrap*, chapter 13). Equal windows give equal samples.
fn drawn(windows: &[&RoundTrips]) -> Vec<RoundTrips> {
    if windows.len() < 2 {
        return Vec::new();
    }
    let mut rng = fastrand::Rng::with_seed(windows.len() as u64);
    // Sum only the fields that quantiles need.
    let mut draw = || -> RoundTrips {
        let again = windows.iter().map(|_| windows[rng.usize(..windows.len())]);
        let mut all = RoundTrips::default();
        for window in again {
            all.times.add(&window.times);
            all.unanswered += window.unanswered;
        }
        all
    };
    (0..DRAWN).map(|_| draw()).collect()
}

/// Returns the bootstrap interval: it leaves out half of the error probability at each end. A missing value counts
/// as higher than any other.
fn interval(middle: f64, drawn: impl Iterator<Item = Option<f64>>) -> Estimate {
    let mut drawn: Vec<f64> = drawn.map(|us| us.unwrap_or(f64::INFINITY)).collect();
    drawn.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "5 of 200"
    )]
    let beyond = ((1.0 - CONFIDENCE) / 2.0 * drawn.len() as f64) as usize;
    let bound = |us: Option<&f64>| us.copied().filter(|us| us.is_finite());
    let low = bound(drawn.get(beyond));
    let high = bound(drawn.iter().rev().nth(beyond));
    Estimate {
        middle,
        low: low.map(|low| low.min(middle)),
        high: high.map(|high| high.max(middle)),
    }
}

fn microseconds(ns: f64) -> f64 {
    decimals::<3>(ns / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{BUCKETS, bucket_of};

    /// Returns a window with these round trips in microseconds.
    fn window(times_us: impl IntoIterator<Item = u64>, unanswered: u64) -> RoundTrips {
        let mut counts = vec![0; BUCKETS];
        let mut sum_ns = 0;
        for us in times_us {
            counts[bucket_of(1000 * us)] += 1;
            sum_ns += 1000 * us;
        }
        RoundTrips {
            times: Histogram::of_counts(counts),
            sum_ns,
            unanswered,
            ..RoundTrips::default()
        }
    }

    fn of(windows: &[RoundTrips]) -> Latencies {
        Latencies::of_windows(&windows.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_quantile_is_that_of_all_and_said_only_where_enough_take_longer() {
        let latencies = of(&[0, 100, 200, 300, 400, 500].map(|n| window(1 + n..=2000 + n, 0)));
        for (found, us) in latencies
            .quantiles_us
            .iter()
            .zip([1250.5, 2060.0, 2390.0, 2488.0])
        {
            let found = found.expect("12 of 12,000 take longer");
            assert!((found.middle / us - 1.0).abs() < 0.005, "{us}: {found:?}");
            assert!(found.low < Some(found.middle) && Some(found.middle) <= found.high);
        }
        assert!(latencies.quantiles_us[4].is_none(), "1 of 12,000");
        let longest = latencies.longest_us().expect("there are some");
        assert!((longest / 2500.0 - 1.0).abs() < 0.005, "{longest}");
        assert_eq!(latencies.mean_us(), Some(1250.5));
    }

    #[test]
    fn a_stall_in_one_window_is_in_the_quantiles_of_all() {
        let calm = || window((0..1000).map(|_| 50), 0);
        let stalled = window((0..1000).map(|n| if n < 900 { 100_000 } else { 50 }), 0);
        let mut windows: Vec<RoundTrips> = (0..14).map(|_| calm()).collect();
        windows.push(stalled);
        let [p50, p90, p99, ..] = of(&windows).quantiles_us;
        assert!(p50.is_some_and(|p50| p50.middle < 51.0 && p50.high < Some(51.0)));
        assert!(p90.is_some_and(|p90| p90.middle < 51.0));
        // The stalled round trips are 6 % of all.
        let p99 = p99.expect("150 take longer");
        assert!(p99.middle > 99_000.0 && p99.low < Some(51.0), "{p99:?}");
    }

    #[test]
    fn requests_without_an_answer_are_the_longest() {
        let windows = [1, 2].map(|_| window(1..=980, 20));
        let [p50, p90, p99, ..] = of(&windows).quantiles_us;
        assert!(p50.is_some() && p90.is_some());
        assert!(p99.is_none(), "2 % have no answer");
        assert_eq!(of(&windows).total(|all| all.unanswered), Some(40));
    }

    #[test]
    fn where_nobody_asked_nothing_is_said() {
        let latencies = of(&[]);
        assert!(latencies.quantiles_us.iter().all(Option::is_none));
        let nothing = (
            latencies.mean_us(),
            latencies.longest_us(),
            latencies.total(|_| 1),
        );
        assert_eq!(nothing, (None, None, None));
        let alone = of(&[window(1..=100, 0)]).quantiles_us[0].expect("there are enough");
        assert_eq!(
            (alone.low, alone.high),
            (None, None),
            "one window has no interval"
        );
    }
}
