//! Tests of scatter.

use super::*;
use crate::results::row::derived::received_pps;
use crate::results::row::tests::window;

/// Returns one window per round, with the received datagrams changed by these percentages.
fn case(by_round: &[i64]) -> Vec<Sample> {
    let windows = (1..).zip(by_round);
    let windows = windows.map(|(round, pct)| {
        let mut sample = window(round);
        for thread in &mut sample.threads {
            thread.received_packets = thread.received_packets * (100 + pct).unsigned_abs() / 100;
        }
        sample
    });
    windows.collect()
}

fn sd(own: &[i64], others: &[&[i64]]) -> f64 {
    let others: Vec<Vec<Sample>> = others.iter().map(|other| case(other)).collect();
    let others: Vec<&[Sample]> = others.iter().map(Vec::as_slice).collect();
    residual_sd_pct(&case(own), &others, received_pps).expect("two rounds")
}

#[test]
fn what_rounds_have_in_common_is_no_cases_own() {
    let drift = [0, 10, -10, 5, -5, 0];
    assert!(sd(&drift, &[]) > 6.0);
    assert!(sd(&drift, &[&drift, &drift]) < 0.01);
    let own = [1, 10, -11, 6, -6, 0];
    assert!((0.5..1.5).contains(&sd(&own, &[&drift, &drift])));
}

#[test]
fn the_noise_of_others_adds_nothing() {
    let own = [1, -1, 1, -1, 1, -1];
    let alone = sd(&own, &[]);
    assert!((sd(&own, &[&[0, 9, -9, 9, -9, 0]]) - alone).abs() < 1e-9);
}

#[test]
fn too_few_rounds_and_nothing_received_have_no_scatter() {
    assert_eq!(residual_sd_pct(&case(&[1]), &[], received_pps), None);
    assert_eq!(
        residual_sd_pct(&case(&[1, -100, 0]), &[], received_pps),
        None
    );
}

/// Three rates 10 % apart: t = 4.303 with 2 degrees of freedom, s = ln 1.1, sqrt(4/3).
#[test]
fn the_half_width_is_that_of_a_pocket_calculator() {
    let half = next_run_pct(&[100.0, 110.0, 121.0]).expect("three rates");
    assert!((half - 47.35).abs() < 0.01, "{half}");
    assert_eq!(next_run_pct(&[100.0]), None);
    assert_eq!(next_run_pct(&[]), None);
    assert_eq!(next_run_pct(&[100.0, 0.0]), None);
}

#[test]
fn the_next_run_lies_within_in_95_of_100() {
    let mut dice = fastrand::Rng::with_seed(1);
    let mut normal = || {
        let radius = (-2.0 * (1.0 - dice.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * dice.f64()).cos()
    };
    let mut holds = 0;
    for runs in [2, 3, 6, 20].repeat(250) {
        let logarithms: Vec<f64> = (0..runs).map(|_| 0.05 * normal()).collect();
        let rates: Vec<f64> = logarithms.iter().map(|ln| ln.exp()).collect();
        let half = next_run_pct(&rates).expect("two rates") / 100.0;
        let mean = logarithms.iter().sum::<f64>() / f64::from(runs);
        holds += i32::from((0.05 * normal() - mean).abs() <= half);
    }
    // The 95 % interval of 950 in 1000 is 93.5 to 96.3 %.
    assert!((935..=963).contains(&holds), "{holds} of 1000");
}
