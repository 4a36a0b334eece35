//! Simulated speeds with a known knee, or with none.

use std::time::Duration;

use super::super::axis::{AxisQuestion, AxisSearch, AxisTrial, Finding, Parameter};
use super::{SEARCHES, normal};
use crate::data::Case;
use crate::verdict::judge::Metric;

/// Noise of a window, as a fraction.
const NOISE: f64 = 0.03;

fn question() -> AxisQuestion {
    AxisQuestion {
        parameter: Parameter::Call,
        by: Metric::Speed,
        threshold_pct: 2.0,
        rounds: 120,
        trial: Duration::from_millis(50),
        seed: 7,
    }
}

fn of_ns(ns: f64) -> AxisTrial {
    AxisTrial {
        ns: Some(ns),
        ..AxisTrial::default()
    }
}

fn knee(search: &AxisSearch) -> Option<Finding> {
    search.found().pop()
}

fn values() -> Vec<u16> {
    (0..11).map(|power| 1 << power).collect()
}

/// Searches where a batch takes `ns(batch)` nanoseconds per datagram. One window of twenty is disturbed, and takes up
/// to half as long again. Returns the result and the number of trials.
fn searched(
    ns: impl Fn(u16) -> f64,
    noise: f64,
    seed: u32,
    dice: &mut fastrand::Rng,
) -> (Finding, u32) {
    let case = Case::of_key("mmsg:mmsg/2t/300B/connected/v4/batch1024").expect("a key");
    let mut search = AxisSearch::new(case, AxisQuestion { seed, ..question() });
    let mut trials = 0;
    while let Some(next) = search.next() {
        let batch = next.case.batch.expect("it is of batches");
        let disturbed = if dice.u32(..20) == 0 {
            1.0 + 0.5 * dice.f64()
        } else {
            1.0
        };
        let ns = ns(batch.into()) * disturbed * (noise * normal(dice)).exp();
        search.note(of_ns(ns));
        trials += 1;
    }
    (knee(&search).expect("rounds"), trials)
}

/// Returns the position on the grid of the first batch over which no larger one gains more than 2 %.
fn truth(ns: impl Fn(u16) -> f64) -> usize {
    let values = values();
    let is_enough = |batch: &u16| {
        let larger = values.iter().filter(|it| *it > batch);
        larger.into_iter().all(|it| ns(*batch) / ns(*it) <= 1.02)
    };
    values.iter().position(is_enough).expect("the last is")
}

fn position(batch: u64) -> usize {
    let at = values().iter().position(|it| u64::from(*it) == batch);
    at.expect("it is on the grid")
}

/// Numbers of searches.
#[derive(Debug, Default)]
struct Tally {
    within_a_step: u32,
    exact: u32,
    range_holds: u32,
    range_is_wide: u32,
    trials: u32,
}

/// Searches on curves that `ns` draws by lot: nanoseconds per datagram, by batch.
fn tally<F: Fn(u16) -> f64>(
    searches: u32,
    noise: f64,
    mut ns: impl FnMut(&mut fastrand::Rng) -> F,
) -> Tally {
    let mut dice = fastrand::Rng::with_seed(7);
    let mut tally = Tally::default();
    for seed in 0..searches {
        let ns = ns(&mut dice);
        let knee = truth(&ns);
        let (found, trials) = searched(&ns, noise, seed, &mut dice);
        let (low, high) = (position(found.range.0), position(found.range.1));
        tally.within_a_step += u32::from(position(found.at).abs_diff(knee) <= 1);
        tally.exact += u32::from(position(found.at) == knee);
        tally.range_holds += u32::from((low..=high).contains(&knee));
        tally.range_is_wide += u32::from(high - low > 3);
        tally.trials += trials;
    }
    tally
}

/// Curves with a fixed cost per datagram and one per call, whose share is between 1 and 1,500 %.
fn of_calls(dice: &mut fastrand::Rng) -> impl Fn(u16) -> f64 + use<> {
    let per_call = 1000.0 * (dice.f64() * 1500_f64.ln()).exp() / 100.0;
    move |batch| 1000.0 + per_call / f64::from(batch)
}

#[test]
#[ignore = "takes a minute: for docs/VALIDATION.md"]
fn of_1000_knees() {
    println!("calls: {:?}", tally(SEARCHES, NOISE, of_calls));
    println!("flat: {:?}", tally(SEARCHES, NOISE, |_| |_| 1000.0));
    println!("noise of 10 %: {:?}", tally(SEARCHES, 0.1, of_calls));
}

#[test]
fn the_knee_is_found_within_one_step() {
    let tally = tally(40, NOISE, of_calls);
    println!("{tally:?}");
    assert!(tally.within_a_step >= 38, "{tally:?}");
    assert!(tally.range_holds >= 38, "{tally:?}");
    assert!(tally.range_is_wide <= 8, "{tally:?}");
}

#[test]
fn where_every_batch_is_as_fast_there_is_none() {
    let tally = tally(40, NOISE, |_| |_| 1000.0);
    println!("{tally:?}");
    assert!(tally.exact >= 38, "{tally:?}");
    assert!(tally.range_is_wide <= 8, "{tally:?}");
}

#[test]
fn batches_that_are_too_large_do_not_move_the_knee() {
    // Slower again above 64, as where a batch leaves the cache.
    let ns = |batch: u16| {
        let batch = f64::from(batch);
        1000.0 + 4000.0 / batch + (batch - 64.0).max(0.0)
    };
    assert_eq!(truth(ns), position(64));
    let tally = tally(20, NOISE, |_| ns);
    println!("{tally:?}");
    assert!(tally.exact >= 19, "{tally:?}");
}

#[test]
fn much_noise_widens_the_range_and_does_not_move_the_knee_surely() {
    let tally = tally(20, 5.0 * NOISE, of_calls);
    println!("{tally:?}");
    assert!(tally.range_holds >= 19, "{tally:?}");
    assert!(tally.range_is_wide >= 10, "{tally:?}");
}

#[test]
fn a_trial_without_a_result_is_left_out_and_without_any_there_is_no_knee() {
    let case = Case::of_key("mmsg:mmsg/2t/300B/connected/v4/batch4").expect("a key");
    let found = |is_unknown: fn(u32) -> bool| {
        let mut search = AxisSearch::new(case, question());
        let mut trials = 0;
        while let Some(next) = search.next() {
            let batch = f64::from(u16::from(next.case.batch.expect("a batch")));
            let ns = 1000.0 + 1000.0 / batch;
            search.note(of_ns(if is_unknown(trials) { f64::NAN } else { ns }));
            trials += 1;
        }
        knee(&search).map(|found| (found.at, found.range))
    };
    assert_eq!(found(|trial| trial % 7 == 0), Some((4, (4, 4))));
    assert_eq!(found(|_| true), None);
}

#[test]
fn the_first_value_that_loses_datagrams_from_the_knee_on_is_known() {
    let case = Case::of_key("gso:mmsg/2t/1460B/connected/v4/batch32/segments8").expect("a key");
    let lossy = |loses: fn(u16) -> bool| {
        let mut search = AxisSearch::new(case, question());
        while let Some(next) = search.next() {
            let train = u16::from(next.case.train.expect("a train"));
            search.note(AxisTrial {
                lost: if loses(train) { 400 } else { 1 },
                sent: 1000,
                ..of_ns(if train == 1 { 2000.0 } else { 1000.0 })
            });
        }
        assert_eq!(knee(&search).map(|found| found.at), Some(2));
        search.lossy(0.01)
    };
    assert_eq!(lossy(|_| false), None);
    assert_eq!(lossy(|train| train == 1), None);
    assert_eq!(lossy(|train| train > 2), Some((4, 0.4)));
}

#[test]
fn a_search_that_is_taken_up_again_goes_on_in_the_same_order() {
    let case = Case::of_key("gso:mmsg/2t/1460B/connected/v4/batch32/segments44").expect("a key");
    let mut search = AxisSearch::new(case, question());
    let mut first = Vec::new();
    while search.rounds() == 0 {
        let next = search.next().expect("a trial").case;
        assert_eq!(next.batch, case.batch);
        first.push(u16::from(next.train.expect("a train")));
        search.note(of_ns(1000.0));
    }
    let mut again = AxisSearch::new(case, question());
    for train in &first {
        let next = again.next().expect("a trial").case;
        assert_eq!(next.train.map(u16::from), Some(*train));
        again.note(of_ns(1000.0));
    }
    first.sort_unstable();
    assert_eq!(first, [1, 2, 4, 8, 16, 32, 44]);
}
