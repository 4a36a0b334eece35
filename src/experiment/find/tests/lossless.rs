//! Simulated searches for rates, with invented loss functions.

use super::super::loads::{Goal, TrialLoss};
use super::super::mlr::{MOST, Mlr};
use super::{SEARCHES, normal};

const GOAL: Goal = Goal {
    loss: 0.0,
    exceed: 0.5,
    trial_s: 0.5,
    sum_s: 7.0,
    width: 0.005,
};
/// Smallest share of searches whose bounds must hold the truth.
const SURE: f64 = 0.95;

/// Searches for truths between 1,000 and a million. `loss` gives the share lost in a trial, from its load in units of
/// the truth, and its length in seconds. `truths` is the range of acceptable truths, in the same units. The trials of
/// a search may take `budget` times the required sum of lengths (`sum_s`).
#[track_caller]
fn assert_found(
    goal: Goal,
    truths: (f64, f64),
    budget: f64,
    mut loss: impl FnMut(f64, f64, &mut fastrand::Rng) -> f64,
) {
    let mut dice = fastrand::Rng::with_seed(7);
    let (mut within, mut widths, mut most_s) = (0_u32, Vec::new(), 0.0_f64);
    for _ in 0..SEARCHES {
        let truth = 10_f64.powf(3.0 + 3.0 * dice.f64());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a load"
        )]
        let start = (truth * 10_f64.powf(2.0 * dice.f64() - 1.0)) as u32;
        let mut search = Mlr::new(goal, start..=MOST);
        let mut seconds = 0.0;
        while let Some(ask) = search.next() {
            let lost = loss(f64::from(ask.load) / truth, ask.seconds, &mut dice);
            seconds += ask.seconds;
            assert!(
                seconds < budget * goal.sum_s,
                "{seconds} s: {:?}",
                search.found()
            );
            search.take(
                ask.load,
                TrialLoss {
                    seconds: ask.seconds,
                    loss: lost,
                },
            );
        }
        let (low, high) = search.found().interval;
        let low = low.map_or(0.0, f64::from) / truth;
        let high = high.map_or(f64::INFINITY, f64::from) / truth;
        // Loads are whole numbers.
        within += u32::from(low <= truths.1 + 1.0 / truth && truths.0 - 1.0 / truth <= high);
        widths.push(high - low);
        most_s = most_s.max(seconds);
    }
    widths.sort_by(f64::total_cmp);
    let share = f64::from(within) / f64::from(SEARCHES);
    println!(
        "{share} of {SEARCHES}, width {:.4}, at most {:.1} sums of durations",
        widths[widths.len() / 2],
        most_s / goal.sum_s
    );
    assert!(share >= SURE, "{share}");
}

#[test]
fn a_sharp_limit_is_found() {
    assert_found(GOAL, (1.0, 1.0), 4.0, |load, _, _| {
        (1.0 - 1.0 / load).max(0.0)
    });
}

#[test]
fn a_limit_that_differs_from_trial_to_trial_is_found_in_its_middle() {
    assert_found(GOAL, (1.0, 1.0), 15.0, |load, _, dice| {
        let limit = 1.0 + 0.01 * normal(dice);
        (1.0 - limit / load).max(0.0)
    });
}

/// At the truth, half of the full trials lose something. A load 1.4 % higher loses twice as many datagrams.
#[test]
fn losses_that_become_gradually_more_have_their_goal_found() {
    assert_found(GOAL, (1.0, 1.0), 20.0, |load, seconds, dice| {
        let full = std::f64::consts::LN_2 * seconds / GOAL.trial_s;
        let expected = full * ((load - 1.0) / 0.02).min(50.0).exp();
        let is_lost = dice.f64() > (-expected).exp();
        if is_lost {
            1e-6_f64.max(expected * 1e-6)
        } else {
            0.0
        }
    });
}

#[test]
fn a_share_of_loss_that_is_allowed_is_found() {
    let goal = Goal {
        loss: 0.001,
        ..GOAL
    };
    assert_found(goal, (1.0, 1.0), 4.0, |load, _, _| {
        (0.001 * load.powi(20)).min(1.0)
    });
}

/// A trial that loses something makes the next trial lose more easily.
#[test]
fn a_limit_that_depends_on_what_was_before_is_found_between_its_values() {
    let mut limit = 1.0;
    assert_found(GOAL, (0.98, 1.0), 20.0, move |load, _, _| {
        let loss = (1.0 - limit / load).max(0.0);
        limit = if loss > 0.0 { 0.98 } else { 1.0 };
        loss
    });
}

#[test]
fn rare_stalls_change_nothing() {
    assert_found(GOAL, (1.0, 1.0), 8.0, |load, seconds, dice| {
        if dice.f64() < 0.1 * seconds {
            0.05
        } else {
            (1.0 - 1.0 / load).max(0.0)
        }
    });
}

#[test]
fn where_all_is_borne_or_nothing_the_search_ends_and_says_so() {
    let found = |loss: f64| {
        let mut search = Mlr::new(GOAL, 1000..=MOST);
        while let Some(ask) = search.next() {
            search.take(
                ask.load,
                TrialLoss {
                    seconds: ask.seconds,
                    loss,
                },
            );
        }
        search.found()
    };
    assert_eq!((found(0.0).load, found(0.0).too_much), (Some(MOST), None));
    assert_eq!((found(0.5).load, found(0.5).too_much), (None, Some(1)));
}
