//! Simulated round trips that take longer or are lost from a known silence on, or never.

use std::time::Duration;

use super::super::axis::{AxisQuestion, AxisSearch, AxisTrial, Finding, IdleShare, Parameter};
use super::{SEARCHES, normal};
use crate::data::Case;
use crate::sys::idle_states::{IdleState, IdleTimes};
use crate::verdict::judge::Metric;

fn search(seed: u32) -> AxisSearch {
    let time = |text: &str| text.parse().expect("a think time");
    let asked = AxisQuestion {
        parameter: Parameter::Silence {
            from: time("10us"),
            to: time("1s"),
        },
        by: Metric::Speed,
        threshold_pct: 100.0,
        rounds: 18,
        trial: Duration::from_millis(50),
        seed,
    };
    let case = Case::of_key("std:std/2t/64B/connected/v4/rr").expect("a key");
    AxisSearch::new(case, asked)
}

/// Searches where a silence in nanoseconds has the round trip in nanoseconds and the loss that `of` gives. `noise` is a
/// fraction.
fn searched(of: impl Fn(u64) -> (f64, f64), noise: f64, dice: &mut fastrand::Rng) -> AxisSearch {
    let mut search = search(dice.u32(..));
    let (mut trials, mut drift) = (0, 0.0_f64);
    while let Some(next) = search.next() {
        let silence = next.case.think_time.expect("one").ns;
        let (round_trip, loss) = of(silence);
        drift = 0.99 * drift + noise * 0.1 * normal(dice);
        let asked = u64::try_from(next.window.as_nanos()).expect("short") / (silence + 100_000);
        let unanswered = (0..asked).filter(|_| dice.f64() < loss).count() as u64;
        let answered = asked - unanswered;
        // The median of a few scatters more than the median of many.
        let scatter = noise * (1.0 + 1.0 / (answered.max(1) as f64).sqrt());
        let median = round_trip * (drift + scatter * normal(dice)).exp();
        search.note(AxisTrial {
            ns: (answered > 0).then_some(median),
            lost: unanswered,
            sent: asked,
            ..AxisTrial::default()
        });
        trials += 1;
        assert!(trials < 1000, "{:?}", search.found());
    }
    search
}

fn found(of: impl Fn(u64) -> (f64, f64), noise: f64, dice: &mut fastrand::Rng) -> Vec<Finding> {
    searched(of, noise, dice).found()
}

/// Returns round trips that grow by about a fifth from one silence of the grid to the next: caches grow cold, and
/// CPUs wake from deeper sleep.
fn gradual(silence_ns: u64) -> f64 {
    80_000.0 * (silence_ns as f64 / 10_000.0).powf(0.18)
}

/// Returns the gradual round trip, longer by two fifths from `at` on.
fn uneven(silence_ns: u64, at: u64) -> f64 {
    gradual(silence_ns) * if silence_ns >= at { 1.4 } else { 1.0 }
}

fn random_silence(dice: &mut fastrand::Rng) -> u64 {
    // The logarithm is uniform, from 15 us to 700 ms.
    let power = 4.18 + dice.f64() * 4.66;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a silence"
    )]
    let ns = 10_f64.powf(power) as u64;
    ns
}

/// Returns whether there is exactly one step, and `at` lies between its two silences.
fn holds(steps: &[Finding], at: u64) -> bool {
    matches!(steps, [step] if step.range.0 < at && at <= step.at)
}

#[test]
fn a_silence_after_which_answers_come_later_is_found_on_the_grid() {
    for (longer, noise) in [(1.5, 0.03), (2.0, 0.08), (10.0, 0.15)] {
        let mut dice = fastrand::Rng::with_seed(11);
        let mut right = 0;
        for _ in 0..SEARCHES {
            let at = random_silence(&mut dice);
            let of = |silence| {
                let more = if silence >= at { 1.0 + longer } else { 1.0 };
                (gradual(silence) * more, 0.0)
            };
            right += u32::from(holds(&found(of, noise, &mut dice), at));
        }
        println!("+{longer}, noise {noise}: {right} of {SEARCHES}");
        assert!(right * 100 >= SEARCHES * 95, "{longer}: {right}");
    }
}

#[test]
fn a_step_that_9_of_10_searches_would_find_is_found_in_9_of_10() {
    const TRIES: u32 = 300;
    for noise in [0.1, 0.3] {
        let mut dice = fastrand::Rng::with_seed(11);
        let (mut right, mut smaller, mut sum) = (0, 0, 0.0);
        for _ in 0..TRIES {
            let search = searched(|_| (80_000.0, 0.0), noise, &mut dice);
            let least = search.detectable().expect("it has its rounds");
            sum += least;
            let at = random_silence(&mut dice);
            let mut is_found = |step: f64| {
                let of = |silence| (80_000.0 * if silence >= at { 1.0 + step } else { 1.0 }, 0.0);
                let steps = found(of, noise, &mut dice);
                steps.iter().any(|step| step.range.0 < at && at <= step.at)
            };
            right += u32::from(is_found(least));
            smaller += u32::from(is_found(0.5 * least));
        }
        let mean = sum / f64::from(TRIES);
        println!("noise {noise}: {mean:.3}: {right} of {TRIES}, of half of it {smaller}");
        assert!(right * 100 >= TRIES * 88, "{noise}: {right}");
        assert!(smaller * 10 < TRIES * 7, "{noise}: {smaller}");
    }
}

#[test]
fn a_silence_after_which_requests_are_lost_is_found_on_the_grid() {
    for loss in [0.6, 1.0] {
        let mut dice = fastrand::Rng::with_seed(11);
        let mut right = 0;
        for _ in 0..SEARCHES {
            let at = random_silence(&mut dice);
            let of = |silence| (gradual(silence), if silence >= at { loss } else { 0.0 });
            right += u32::from(holds(&found(of, 0.1, &mut dice), at));
        }
        println!("loss {loss}: {right} of {SEARCHES}");
        assert!(right * 100 >= SEARCHES * 95, "{loss}: {right}");
    }
}

#[test]
fn where_silence_costs_gradually_or_loss_is_everywhere_there_is_no_step() {
    for loss in [0.0, 0.02] {
        let mut dice = fastrand::Rng::with_seed(11);
        let mut none = 0;
        for _ in 0..SEARCHES {
            let at = random_silence(&mut dice);
            none += u32::from(found(|ns| (uneven(ns, at), loss), 0.1, &mut dice).is_empty());
        }
        println!("loss {loss}: none in {none} of {SEARCHES}");
        assert!(none * 1000 >= SEARCHES * 975, "{loss}: {none}");
    }
}

#[test]
fn an_idle_state_that_is_entered_after_a_step_is_named() {
    let mut search = search(7);
    while let Some(next) = search.next() {
        let sleeps = next
            .case
            .think_time
            .is_some_and(|silence| silence.ns >= 2_000_000);
        let state = |name: &str, ns| IdleState {
            name: name.to_owned(),
            ns,
        };
        search.note(AxisTrial {
            ns: Some(if sleeps { 200e3 } else { 80e3 }),
            lost: 0,
            sent: 10,
            idle: IdleTimes {
                cpus: 2,
                states: vec![state("WFI", 50), state("C2", if sleeps { 140 } else { 2 })],
            },
            window_ns: 100,
        });
    }
    let steps = search.found();
    let [step] = &steps[..] else {
        panic!("{steps:?}");
    };
    assert_eq!(step.at, 2_000_000);
    let idle_share = IdleShare {
        name: "C2".to_owned(),
        before: 0.01,
        after: 0.7,
    };
    assert_eq!(step.idle_state, Some(idle_share));
}
