//! Simulated round trips with a jump at a known payload, or with none.

use std::time::Duration;

use super::super::axis::{AxisQuestion, AxisSearch, AxisTrial, Finding, Parameter};
use super::{SEARCHES, normal};
use crate::data::{Case, Payload};
use crate::verdict::judge::Metric;

fn payload(bytes: u32) -> Payload {
    Payload::try_from(bytes).expect("a payload")
}

fn case() -> Case {
    Case::of_key("std:std/2t/16B/connected/v4/rr").expect("a key")
}

/// Searches where a payload takes `ns(payload)` nanoseconds. `noise` is a fraction; consecutive trials share a part of
/// it, over some seconds.
fn searched(ns: impl Fn(u32) -> f64, noise: f64, dice: &mut fastrand::Rng) -> AxisSearch {
    let asked = AxisQuestion {
        parameter: Parameter::Payload {
            from: payload(16),
            to: payload(9000),
        },
        by: Metric::Speed,
        threshold_pct: 10.0,
        rounds: 18,
        trial: Duration::from_millis(50),
        seed: dice.u32(..),
    };
    let mut search = AxisSearch::new(case(), asked);
    let (mut trials, mut drift) = (0, 0.0_f64);
    while let Some(next) = search.next() {
        drift = 0.99 * drift + noise * 0.1 * normal(dice);
        let factor = (drift + noise * normal(dice)).exp();
        search.note(AxisTrial {
            ns: Some(ns(next.case.payload.into()) * factor),
            ..AxisTrial::default()
        });
        trials += 1;
        assert!(trials < 5000, "{:?}", search.found());
    }
    search
}

fn found(ns: impl Fn(u32) -> f64, noise: f64, dice: &mut fastrand::Rng) -> Vec<Finding> {
    searched(ns, noise, dice).found()
}

/// Returns the time of a system call and a memory copy, in nanoseconds.
fn gradual(bytes: u32) -> f64 {
    30_000.0 + 0.5 * f64::from(bytes)
}

#[test]
fn a_jump_is_found_to_the_byte() {
    for (jump, noise) in [(0.15, 0.02), (0.3, 0.05), (1.0, 0.1)] {
        let mut dice = fastrand::Rng::with_seed(7);
        let (mut exact, mut buffer_capacity) = (0, 0);
        for _ in 0..SEARCHES {
            let at = dice.u32(17..=9000);
            let ns = |bytes: u32| gradual(bytes) * if bytes >= at { 1.0 + jump } else { 1.0 };
            let jumps = found(ns, noise, &mut dice);
            let [found] = &jumps[..] else {
                continue;
            };
            exact += u32::from(found.at == u64::from(at));
            let (low, high) = found.change.expect("times").interval;
            buffer_capacity += u32::from(low <= jump && jump <= high);
        }
        println!(
            "+{jump}, noise {noise}: {exact} exact, {buffer_capacity} intervals of {SEARCHES}"
        );
        assert!(exact * 100 >= SEARCHES * 95, "{jump}: {exact}");
        // 95 of 100 intervals should hold the truth. In all but one of a thousand sets of 1000 searches, at least 927
        // do.
        assert!(buffer_capacity >= 927, "{jump}: {buffer_capacity}");
    }
}

#[test]
fn several_jumps_are_all_found_upwards_and_downwards() {
    let mut dice = fastrand::Rng::with_seed(7);
    let ns = |bytes: u32| match bytes {
        ..58 => 20_000.0,
        58..1473 => 30_000.0,
        1473..4097 => 40_000.0,
        4097.. => 28_000.0,
    };
    for _ in 0..100 {
        let jumps = found(ns, 0.02, &mut dice);
        let at: Vec<u64> = jumps.iter().map(|jump| jump.at).collect();
        assert_eq!(at, [58, 1473, 4097]);
    }
}

#[test]
fn a_jump_that_9_of_10_searches_would_find_is_found_in_9_of_10() {
    const TRIES: u32 = 300;
    for noise in [0.02, 0.05, 0.1] {
        let mut dice = fastrand::Rng::with_seed(7);
        let (mut exact, mut smaller, mut sum) = (0, 0, 0.0);
        for _ in 0..TRIES {
            let search = searched(gradual, noise, &mut dice);
            let least = search.detectable().expect("it has its rounds");
            sum += least;
            let at = dice.u32(17..=9000);
            let mut is_found = |jump: f64| {
                let ns = |bytes: u32| gradual(bytes) * if bytes >= at { 1.0 + jump } else { 1.0 };
                found(ns, noise, &mut dice)
                    .iter()
                    .any(|found| found.at == u64::from(at))
            };
            exact += u32::from(is_found(least));
            smaller += u32::from(is_found(0.6 * least));
        }
        let mean = sum / f64::from(TRIES);
        println!("noise {noise}: {mean:.3}: {exact} of {TRIES}, of 0.6 times it {smaller}");
        assert!(exact * 100 >= TRIES * 88, "{noise}: {exact}");
        assert!(smaller * 2 < TRIES, "{noise}: {smaller}");
    }
}

#[test]
fn where_it_changes_gradually_or_not_at_all_there_is_no_jump() {
    let mut dice = fastrand::Rng::with_seed(7);
    let mut none = 0;
    for n in 0..SEARCHES {
        let slope = f64::from(n % 10) * 2.0;
        let ns = |bytes: u32| 30_000.0 + slope * f64::from(bytes);
        none += u32::from(found(ns, 0.05, &mut dice).is_empty());
    }
    println!("none in {none} of {SEARCHES}");
    assert!(none * 1000 >= SEARCHES * 975, "{none}");
}
