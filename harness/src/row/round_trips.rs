//! How soon requests were answered: histograms in, estimates out.

use super::numbers;
use super::rounding::decimals;
use crate::data::{Case, RoundTrips, Sample};
use crate::stats::{self, Estimate};

/// The quantiles of rows.
pub(super) const P50: f64 = 0.5;
pub(super) const P90: f64 = 0.9;
pub(super) const P99: f64 = 0.99;
pub(super) const P999: f64 = 0.999;
pub(super) const P9999: f64 = 0.9999;

/// Why the round trips of a case say nothing, if they do not: more was asked than could be answered, and the longer
/// that lasts, the longer they are.
pub(super) fn overload(case: &Case, samples: &[Sample]) -> Option<String> {
    let rate = case.rate.filter(|_| case.is_open_loop())?;
    let seconds: f64 = samples.iter().map(numbers::window_seconds).sum();
    let answered: u64 = samples.iter().map(numbers::received).sum();
    let asked = rate.per_second() * seconds;
    // 2 %, or what arrivals at random may do: four standard deviations.
    let slack = (4.0 / asked.sqrt()).max(0.02);
    (asked > 0.0 && (answered as f64) < asked * (1.0 - slack)).then(|| {
        let answered = answered as f64 / seconds;
        format!("above capacity: of {rate} requests per second {answered:.0} were answered, so no round trips")
    })
}

/// The round trips of the windows of a case.
pub(super) struct Latencies<'a>(Vec<&'a RoundTrips>);

impl<'a> Latencies<'a> {
    pub(super) fn of(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let windows = samples.into_iter();
        Self(
            windows
                .filter_map(|sample| sample.round_trips.as_ref())
                .collect(),
        )
    }

    /// The round trip that a share of all does not exceed, in microseconds: estimated from that of each window.
    /// `None` unless each window has some that exceed it.
    pub(super) fn quantile_us(&self, share: f64) -> Option<Estimate> {
        let exceed = |window: &&RoundTrips| (1.0 - share) * window.times.count() as f64 >= 0.999;
        let windows = self.0.iter();
        let quantiles = windows.map(|window| Some(microseconds(window.times.quantile(share)?)));
        let quantiles: Vec<f64> = quantiles.collect::<Option<_>>()?;
        if !self.0.iter().all(exceed) {
            return None;
        }
        stats::estimate(&quantiles)
    }

    /// The mean of all, in microseconds.
    pub(super) fn mean_us(&self) -> Option<f64> {
        Some(microseconds(self.together().mean_ns()?))
    }

    /// Standard deviation of all, in microseconds.
    pub(super) fn sd_us(&self) -> Option<f64> {
        let all = self.together();
        all.times
            .standard_deviation(all.mean_ns()?)
            .map(microseconds)
    }

    /// The longest of all, in microseconds.
    pub(super) fn longest_us(&self) -> Option<f64> {
        self.together().times.quantile(1.0).map(microseconds)
    }

    /// A sum over all windows. `None`: nobody asked.
    pub(super) fn total(&self, count: fn(&RoundTrips) -> u64) -> Option<u64> {
        let counts = self.0.iter().map(|window| count(window));
        (!self.0.is_empty()).then(|| counts.sum())
    }

    fn together(&self) -> RoundTrips {
        let mut all = RoundTrips::default();
        self.0.iter().for_each(|window| all.add(window));
        all
    }
}

fn microseconds(ns: f64) -> f64 {
    decimals::<3>(ns / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{BUCKETS, Histogram, bucket_of};

    /// A window in which the round trips took so many microseconds.
    fn window(times_us: impl IntoIterator<Item = u64>) -> RoundTrips {
        let mut counts = vec![0; BUCKETS];
        let mut sum_ns = 0;
        for us in times_us {
            counts[bucket_of(1000 * us)] += 1;
            sum_ns += 1000 * us;
        }
        RoundTrips {
            times: Histogram::of_counts(counts),
            sum_ns,
            timed_out: 1,
            late: 0,
        }
    }

    #[test]
    fn a_quantile_is_said_only_where_something_exceeds_it() {
        let windows: Vec<RoundTrips> = (0..6).map(|n| window(1 + n..=1000 + n)).collect();
        let latencies = Latencies(windows.iter().collect());
        for (share, us) in [(P50, 502.5), (P90, 902.5), (P99, 992.5), (P999, 1001.5)] {
            let found = latencies.quantile_us(share).expect("enough of them");
            assert!(
                (found.middle / us - 1.0).abs() < 0.005,
                "{share}: {found:?}"
            );
            assert!(found.low < Some(found.middle) && Some(found.middle) < found.high);
        }
        assert!(latencies.quantile_us(P9999).is_none());
        let longest = latencies.longest_us().expect("there are some");
        assert!((longest / 1005.0 - 1.0).abs() < 0.005, "{longest}");
        assert_eq!(latencies.mean_us(), Some(503.0));
        assert_eq!(latencies.total(|window| window.timed_out), Some(6));
    }

    #[test]
    fn where_nobody_asked_nothing_is_said() {
        let latencies = Latencies(Vec::new());
        assert!(latencies.quantile_us(P50).is_none());
        let nothing = (
            latencies.mean_us(),
            latencies.longest_us(),
            latencies.total(|_| 1),
        );
        assert_eq!(nothing, (None, None, None));
    }
}
