//! Simulated round trips with rare stalls: how often the bounds of a rare quantile hold the true quantile.

use super::*;
use crate::data::{BUCKETS, Histogram, RoundTrips, bucket_of};
use crate::results::row::round_trips::Latencies;

const WINDOWS: u32 = 15;
/// Requests of a window, which are due at equal distances.
const REQUESTS: u32 = 800;
/// Requests that are due during a stall, and wait for its end.
const STALLED: u32 = 60;
/// Length of a stall.
const STALL_US: f64 = 10_000.0;
/// Shortest round trip.
const LEAST_US: f64 = 50.0;
/// Mean by which round trips without a stall exceed the shortest one: their distribution is exponential.
const MORE_US: f64 = 5.0;
/// Error of a quantile, which is the middle of a bucket.
const BUCKET: f64 = 1.004;

/// Number of runs whose p99.9 is shown, and of those whose lower bound holds the truth, and whose both bounds do.
#[derive(Debug, Default)]
struct Found {
    shown: u32,
    low_holds: u32,
    both_hold: u32,
}

/// Simulates runs with this number of stalls per run, on average.
fn simulated(stalls: f64, runs: u32) -> Found {
    let mut rng = fastrand::Rng::with_seed(37);
    let truth_us = true_p999_us(stalls);
    let mut found = Found::default();
    for _ in 0..runs {
        let round_trips = |round| Sample {
            round_trips: Some(simulated_window(stalls / f64::from(WINDOWS), &mut rng)),
            ..window(round)
        };
        let samples: Vec<Sample> = (1..=WINDOWS).map(round_trips).collect();
        let [.., p999, _] = Latencies::of(&samples).quantiles_us();
        let Some(p999) = p999 else { continue };
        let low_holds = p999.low.is_some_and(|low| low <= BUCKET * truth_us);
        let high_holds = p999.high.is_some_and(|high| truth_us <= BUCKET * high);
        found.shown += 1;
        found.low_holds += u32::from(low_holds);
        found.both_hold += u32::from(low_holds && high_holds);
    }
    found
}

/// Returns a window with a random number of stalls: Poisson's distribution, by Knuth's method.
fn simulated_window(mean_stalls: f64, rng: &mut fastrand::Rng) -> RoundTrips {
    let (mut stalls, mut product) = (0, rng.f64());
    while product > (-mean_stalls).exp() {
        stalls += 1;
        product *= rng.f64();
    }
    let mut counts = vec![0; BUCKETS];
    for request in 0..REQUESTS {
        let more_us = if request < stalls * STALLED {
            STALL_US * rng.f64()
        } else {
            -MORE_US * (1.0 - rng.f64()).ln()
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "microseconds"
        )]
        let ns = (1000.0 * (LEAST_US + more_us)) as u64;
        counts[bucket_of(ns)] += 1;
    }
    RoundTrips {
        times: Histogram::of_counts(counts),
        ..RoundTrips::default()
    }
}

/// Returns the p99.9 of endless runs, found by bisection.
fn true_p999_us(stalls: f64) -> f64 {
    let stalled = stalls / f64::from(WINDOWS) * f64::from(STALLED) / f64::from(REQUESTS);
    let longer = |us: f64| {
        let without = (-(us - LEAST_US) / MORE_US).exp();
        let with = (1.0 - (us - LEAST_US) / STALL_US).max(0.0);
        (1.0 - stalled) * without + stalled * with
    };
    let (mut low, mut high) = (LEAST_US, LEAST_US + STALL_US);
    while high - low > 1e-3 {
        let middle = f64::midpoint(low, high);
        if longer(middle) > 0.001 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn the_lower_bound_of_a_rare_quantile_holds() {
    for stalls in [0.0, 1.0, 3.0, 10.0] {
        let found = simulated(stalls, 25);
        assert!(
            10 * found.low_holds >= 9 * found.shown,
            "{stalls} stalls: {found:?}"
        );
    }
}

/// Computes the figures of `docs/LATENCY.md`: stalls per run, and of 400 runs those of [`Found`].
#[test]
#[ignore = "takes a minute"]
fn an_upper_bound_of_a_rare_quantile_would_not_hold() {
    let figures = [0.0, 0.3, 1.0, 3.0, 10.0, 30.0].map(|stalls| {
        let found = simulated(stalls, 400);
        let (shown, low, both) = (found.shown, found.low_holds, found.both_hold);
        format!("{stalls}: {shown}, {low}, {both}")
    });
    let expected = [
        "0: 399, 393, 379",
        "0.3: 305, 305, 0",
        "1: 136, 134, 0",
        "3: 53, 51, 32",
        "10: 290, 290, 273",
        "30: 173, 173, 166",
    ];
    assert_eq!(figures, expected);
}
