//! Simulated settings with a known effect, or with none.

use std::time::Duration;

use super::super::tuning::{self, SettingEffect, Tuning, TuningQuestion, Verdict};
use super::{SEARCHES, normal};
use crate::data::Case;
use crate::results::row::Failure;

/// Noise from trial to trial, as a fraction.
const NOISE: f64 = 0.03;

fn asked(tunings: usize, seed: u32) -> TuningQuestion {
    TuningQuestion {
        tunings,
        rcvbuf: None,
        waiting: Duration::ZERO,
        rounds: 30,
        trial: Duration::from_millis(100),
        seed,
    }
}

fn search(tunings: usize, seed: u32) -> Tuning {
    let case = Case::of_key("std:std/2t/1460B/connected/v4").expect("a key");
    Tuning::new(case, asked(tunings, seed))
}

/// Searches among settings that speed up by these fractions, and returns the results. Consecutive trials share a part
/// of the noise, over some seconds. One trial in twenty is far off.
fn found(faster: &[f64], dice: &mut fastrand::Rng) -> Vec<SettingEffect> {
    let mut search = search(faster.len(), dice.u32(..));
    let mut drift = 0.0_f64;
    while search.next().is_some() {
        drift = 0.99 * drift + NOISE * 0.3 * normal(dice);
        let wild = if dice.f64() < 0.05 { 6.0 } else { 1.0 };
        let speed = search
            .changed_setting()
            .map_or(0.0, |tuning| faster[tuning].ln_1p());
        search.note(1000.0 * (drift + NOISE * wild * normal(dice) - speed).exp());
    }
    let answers = search.series().iter().map(|it| tuning::answer(&it.pairs));
    let mut answers: Vec<SettingEffect> = answers.collect::<Option<_>>().expect("pairs");
    tuning::name(answers.iter_mut());
    answers
}

#[test]
fn a_change_that_9_of_10_searches_would_show_is_shown_in_9_of_10() {
    const TRIES: u32 = 300;
    let mut dice = fastrand::Rng::with_seed(7);
    let (mut right, mut smaller, mut sum) = (0, 0, 0.0);
    for _ in 0..TRIES {
        let least = found(&[0.0], &mut dice)[0].detectable_pct().expect("pairs") / 100.0;
        sum += least;
        let mut is_shown = |faster: f64| found(&[faster], &mut dice)[0].verdict == Verdict::Helps;
        right += u32::from(is_shown(least));
        smaller += u32::from(is_shown(0.6 * least));
    }
    let mean = sum / f64::from(TRIES);
    println!("{mean:.4}: {right} of {TRIES}, of 0.6 times it {smaller}");
    assert!(right * 100 >= TRIES * 88, "{right}");
    assert!(smaller * 100 < TRIES * 65, "{smaller}");
}

fn holds(answer: &SettingEffect, faster: f64) -> bool {
    (answer.low..=answer.high).contains(&faster.ln_1p())
}

#[test]
fn what_changes_nothing_makes_no_difference() {
    for tunings in [1, 9] {
        let mut dice = fastrand::Rng::with_seed(7);
        let (mut none, mut buffer_capacity) = (0, 0);
        for _ in 0..SEARCHES {
            let answers = found(&vec![0.0; tunings], &mut dice);
            let is_none = |answer: &SettingEffect| answer.verdict == Verdict::NotShown;
            none += u32::from(answers.iter().all(is_none));
            buffer_capacity += u32::from(holds(&answers[0], 0.0));
        }
        println!(
            "{tunings} settings: none of them in {none}, {buffer_capacity} intervals of {SEARCHES}"
        );
        assert!(none * 1000 >= SEARCHES * 975, "{tunings}: {none}");
        // 95 of 100 intervals should hold the truth. In all but one of a thousand sets of 1000 searches, at least 927
        // do.
        assert!(buffer_capacity >= 927, "{tunings}: {buffer_capacity}");
    }
}

#[test]
fn what_helps_and_what_hurts_is_called_so_among_others_that_do_nothing() {
    for effect in [0.05, 0.1, 0.3] {
        let mut dice = fastrand::Rng::with_seed(7);
        let (mut right, mut wrong, mut buffer_capacity) = (0, 0, 0);
        for n in 0..SEARCHES {
            let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
            let mut faster = [0.0; 6];
            faster[dice.usize(..6)] = sign * effect;
            for (answer, faster) in found(&faster, &mut dice).iter().zip(faster) {
                let is_so = match answer.verdict {
                    Verdict::Helps => faster > 0.0,
                    Verdict::Hurts => faster < 0.0,
                    Verdict::NotShown => continue,
                };
                right += u32::from(is_so);
                wrong += u32::from(!is_so);
                buffer_capacity += u32::from(is_so && holds(answer, faster));
            }
        }
        println!(
            "{effect}: {right} of {SEARCHES} called, {buffer_capacity} intervals, {wrong} wrong"
        );
        assert!(wrong * 100 <= SEARCHES * 2, "{effect}: {wrong}");
        let least = if effect < 0.1 { 500 } else { 990 };
        assert!(right * 1000 >= SEARCHES * least, "{effect}: {right}");
        assert!(
            buffer_capacity * 100 >= right * 90,
            "{effect}: {buffer_capacity} of {right}"
        );
    }
}

#[test]
fn a_search_is_made_of_whole_pairs_in_an_order_that_its_seed_gives() {
    let trials = |seed| {
        let mut search = search(3, seed);
        let mut tunings = Vec::new();
        while search.next().is_some() {
            tunings.push(search.changed_setting());
            search.note(1.0);
        }
        assert!(search.series().iter().all(|it| it.pairs.len() == 30));
        tunings
    };
    assert_eq!(trials(1), trials(1));
    assert_ne!(trials(1), trials(2));
    assert_eq!(trials(1).len(), 180);
}

#[test]
fn a_setting_that_is_given_up_leaves_no_half_of_a_pair() {
    let mut search = search(2, 1);
    let mut trials = 0;
    while search.next().is_some() {
        match search.changed_setting() {
            Some(1) if trials >= 11 => assert!(search.give_up(1, &Failure::told("it broke"))),
            tuning => search.note(if tuning == Some(0) { 2.0 } else { 1.0 }),
        }
        trials += 1;
    }
    assert!(!search.give_up(2, &Failure::told("there is none")));
    let [kept, given_up] = search.series() else {
        panic!("two");
    };
    assert_eq!(kept.pairs, [[1.0, 2.0]; 30]);
    assert!(given_up.pairs.len() < 30 && given_up.pairs.iter().flatten().all(|ns| *ns < 1.5));
    assert_eq!(given_up.given_up, Some(Failure::told("it broke")));
}

#[test]
fn the_receive_buffer_is_larger_only_where_it_is_tried() {
    let case = Case::of_key("std:std/2t/1460B/connected/v4").expect("a key");
    let mut search = Tuning::new(
        case,
        TuningQuestion {
            rcvbuf: Some(1),
            ..asked(2, 3)
        },
    );
    while let Some(next) = search.next() {
        let times = next.case.rcvbuf.bytes() / case.rcvbuf.bytes();
        assert_eq!(
            times,
            if search.changed_setting() == Some(1) {
                4
            } else {
                1
            }
        );
        search.note(1.0);
    }
}
