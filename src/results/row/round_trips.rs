//! Round-trip times: quantiles from histograms.

use super::CaseWarning;
use super::column::decimals;
use crate::data::{Histogram, RoundTrips, Sample};
use crate::stats::{CONFIDENCE, Estimate};

/// Quantiles that rows have.
pub(super) const SHARES: [f64; 5] = [0.5, 0.9, 0.99, RARE[0].0, RARE[1].0];
/// Quantiles that a few stalls can decide, with their columns.
const RARE: [(f64, &str); 2] = [(0.999, "rtt_p999_us"), (0.9999, "rtt_p9999_us")];
/// Requests that must take longer than a quantile for the quantile to be reported.
const LONGER: f64 = 10.0;
/// Windows that these requests must come from if the quantile is rare.
const SOURCES: usize = 5;
/// Number of bootstrap samples.
const DRAWN: usize = 200;

/// Round trips of the windows of a case.
pub(super) struct Latencies<'a> {
    windows: Vec<&'a RoundTrips>,
    /// Sum over all windows.
    together: RoundTrips,
}

impl<'a> Latencies<'a> {
    pub(super) fn of(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let windows = samples.into_iter();
        let windows = windows.filter_map(|sample| sample.round_trips.as_ref());
        Self::of_windows(windows.collect())
    }

    fn of_windows(windows: Vec<&'a RoundTrips>) -> Self {
        let mut together = RoundTrips::default();
        for window in &windows {
            together.add(window);
        }
        Self { windows, together }
    }

    /// Returns the quantiles in microseconds, by [`SHARES`]. `None`: too few requests take longer, or a rare quantile
    /// depends on too few windows, or the quantile is among the requests without a response.
    ///
    /// The upper bound of a rare quantile means nothing: windows without a stall look alike whether stalls are rare or
    /// absent (see the simulation in `tests/stalls.rs`). Rows have no column for it.
    pub(super) fn quantiles_us(&self) -> [Option<Estimate>; SHARES.len()] {
        let drawn = drawn(&self.windows);
        SHARES.map(|share| {
            let middle_ns = self.quantile_ns(share);
            let middle_ns = middle_ns.filter(|&ns| !self.depends_on_few_windows(share, ns))?;
            let drawn_ns = drawn.iter().map(|all| quantile_ns(all, share));
            let drawn_us = drawn_ns.map(|ns| ns.map(microseconds));
            Some(interval(microseconds(middle_ns), drawn_us))
        })
    }

    /// Returns a warning for each rare quantile that is left out because it depends on too few windows.
    pub(super) fn warnings(&self) -> impl Iterator<Item = CaseWarning> {
        let is_left_out = move |share| {
            let ns = self.quantile_ns(share);
            ns.is_some_and(|ns| self.depends_on_few_windows(share, ns))
        };
        let left_out = RARE
            .into_iter()
            .filter(move |&(share, _)| is_left_out(share));
        left_out.map(|(_, column)| CaseWarning::FewSlowWindows {
            column: column.to_owned(),
            windows: SOURCES,
        })
    }

    /// Returns a quantile in nanoseconds. `None`: too few requests take longer, or the quantile is among the requests
    /// without a response.
    fn quantile_ns(&self, share: f64) -> Option<f64> {
        let RoundTrips {
            times, unanswered, ..
        } = &self.together;
        let longer = (1.0 - share) * (times.count() + unanswered) as f64;
        quantile_ns(&self.together, share).filter(|_| longer >= LONGER - 1e-6)
    }

    /// Returns whether the requests that take longer than a rare quantile come from fewer than [`SOURCES`] windows.
    /// Then a few stalls decide it, and another run has others.
    fn depends_on_few_windows(&self, share: f64, ns: f64) -> bool {
        let windows = self.windows.iter();
        let sources =
            windows.filter(|window| window.unanswered > 0 || window.times.quantile(1.0) > Some(ns));
        share >= RARE[0].0 && sources.count() < SOURCES
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
        (!self.windows.is_empty()).then(|| count(&self.together))
    }
}

/// Returns the median round trip of a window, in nanoseconds. `None`: no requests, or half of them have no response.
pub(super) fn median_ns(window: &Sample) -> Option<f64> {
    quantile_ns(window.round_trips.as_ref()?, SHARES[0])
}

/// Returns a quantile in nanoseconds. Requests without a response count as longer than all others.
fn quantile_ns(round_trips: &RoundTrips, share: f64) -> Option<f64> {
    Histogram::quantile_among(&round_trips.times, share, round_trips.unanswered)
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
        let again: Vec<&RoundTrips> = again.collect();
        RoundTrips {
            times: Histogram::sum(again.iter().map(|window| &window.times)),
            unanswered: again.iter().map(|window| window.unanswered).sum(),
            ..RoundTrips::default()
        }
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

    fn of(windows: &[RoundTrips]) -> Latencies<'_> {
        Latencies::of_windows(windows.iter().collect())
    }

    #[test]
    fn a_quantile_is_that_of_all_and_said_only_where_enough_take_longer() {
        let windows = [0, 100, 200, 300, 400, 500].map(|n| window(1 + n..=2000 + n, 0));
        let latencies = of(&windows);
        let [p50, p90, p99, p999, p9999] = latencies.quantiles_us();
        for (found, us) in [(p50, 1250.5), (p90, 2060.0), (p99, 2390.0)] {
            let found = found.expect("120 or more of 12,000 take longer");
            assert!((found.middle / us - 1.0).abs() < 0.005, "{us}: {found:?}");
            assert!(found.low < Some(found.middle) && Some(found.middle) <= found.high);
        }
        assert!(p999.is_none(), "all 12 longer ones are of one window");
        assert!(p9999.is_none(), "1 of 12,000");
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
        let latencies = of(&windows);
        let [p50, p90, p99, p999, _] = latencies.quantiles_us();
        assert!(p50.is_some_and(|p50| p50.middle < 51.0 && p50.high < Some(51.0)));
        assert!(p90.is_some_and(|p90| p90.middle < 51.0));
        // The stalled round trips are 6 % of all.
        let p99 = p99.expect("150 take longer");
        assert!(p99.middle > 99_000.0 && p99.low < Some(51.0), "{p99:?}");
        assert!(
            p999.is_none() && latencies.warnings().count() == 1,
            "{p999:?}"
        );
    }

    #[test]
    fn a_rare_quantile_is_of_five_windows_or_more() {
        let of_stalls = |stalls: usize, unanswered: usize| {
            let window = |n| {
                let slow = if n < stalls { 5 } else { 0 };
                let times = (0..1000).map(|it| {
                    if it < slow {
                        900 + 100 * it
                    } else {
                        50 + it % 20
                    }
                });
                window(times, u64::from(n < unanswered))
            };
            let windows: Vec<RoundTrips> = (0..12).map(window).collect();
            let latencies = of(&windows);
            let warnings: Vec<CaseWarning> = latencies.warnings().collect();
            (latencies.quantiles_us()[3], warnings)
        };
        // 12 of 12,000 are longer than this quantile.
        let (p999, warnings) = of_stalls(2, 0);
        assert_eq!(p999, None);
        let column = "rtt_p999_us".to_owned();
        let expected = CaseWarning::FewSlowWindows { column, windows: 5 };
        assert_eq!(warnings, [expected]);
        for (stalls, unanswered, is_known) in [(5, 0, true), (2, 4, false), (2, 5, true)] {
            let (p999, warnings) = of_stalls(stalls, unanswered);
            let seen = (p999.is_some(), warnings.is_empty());
            assert_eq!(seen, (is_known, is_known), "{stalls} {unanswered}");
        }
    }

    #[test]
    fn requests_without_an_answer_are_the_longest() {
        let windows = [1, 2].map(|_| window(1..=980, 20));
        let [p50, p90, p99, ..] = of(&windows).quantiles_us();
        assert!(p50.is_some() && p90.is_some());
        assert!(p99.is_none(), "2 % have no answer");
        assert_eq!(of(&windows).total(|all| all.unanswered), Some(40));
    }

    #[test]
    fn where_nobody_asked_nothing_is_said() {
        let latencies = of(&[]);
        assert!(latencies.quantiles_us().iter().all(Option::is_none));
        let nothing = (
            latencies.mean_us(),
            latencies.longest_us(),
            latencies.total(|_| 1),
        );
        assert_eq!(nothing, (None, None, None));
        let alone = [window(1..=100, 0)];
        let alone = of(&alone).quantiles_us()[0].expect("there are enough");
        assert_eq!(
            (alone.low, alone.high),
            (None, None),
            "one window has no interval"
        );
    }
}
