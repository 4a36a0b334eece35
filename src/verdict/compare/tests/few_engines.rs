//! Tests of sweeps of two or three engines: a change is laid to nobody as long as it may be another engine's.

use super::*;

/// Returns the rows of these engines only.
fn few(engines: &[&str], sweep: Results) -> Results {
    let rows = sweep.rows.into_iter();
    let rows = rows.filter(|row| engines.contains(&row.sender.as_str()));
    results("few", rows.collect())
}

/// Returns the comparison of two sweeps of these engines with two after a change, which gives one of them 0.8 times its
/// speed in the last blocks of ten.
fn one_is_slower(engines: &[&str], slowed: &str, last_blocks: u32, seed: u64) -> Comparison {
    let speed = |name: &str, block| {
        let is_slower = name == slowed && block > 10 - last_blocks;
        if is_slower { 0.8 } else { 1.0 }
    };
    let before = [1, 2].map(|run| few(engines, plain(4 * seed + run)));
    let after = [3, 4].map(|run| few(engines, sweep("after.csv", 10, 4 * seed + run, speed)));
    of(&before, &after)
}

/// Returns the engines that are called changed.
fn called(found: &Comparison) -> Vec<(&str, &Verdict)> {
    let others = other_than_same(found).into_iter();
    others.filter(|(_, verdict)| verdict.is_news()).collect()
}

#[test]
fn of_two_engines_only_the_ratio_is_known_whichever_changed() {
    for slowed in ["std", "nix"] {
        let found = one_is_slower(&["std", "nix"], slowed, 10, 1);
        let [one, other] = ["nix", "std"].map(str::to_owned);
        let why = Obstacle::RatioOfTwo { one, other };
        for label in ["std", "nix"] {
            assert_eq!(
                engine(&found, label).whole.verdict,
                Verdict::Undecided(why.clone()),
                "{slowed}"
            );
        }
        assert!(found.is_inconclusive());
        // Half of the change would be no change of the machine.
        assert_eq!(found.machine, None);
        let text = super::super::table::draw(&found, Detail::Changes, 100);
        assert_eq!(text.matches(&why.to_string()).count(), 1, "{text}");
    }
}

#[test]
fn of_two_engines_the_blocks_that_did_not_change_tell_who_did() {
    for slowed in ["std", "nix"] {
        let found = one_is_slower(&["std", "nix"], slowed, 2, 1);
        assert_eq!(called(&found), [(slowed, &Verdict::Worse)]);
    }
}

#[test]
fn a_change_of_the_machine_in_some_blocks_is_no_engines() {
    let after = sweep(
        "after.csv",
        10,
        2,
        |_, block| if block > 8 { 0.8 } else { 1.0 },
    );
    let engines = ["std", "nix"];
    let found = against(few(&engines, plain(1)), few(&engines, after));
    assert_eq!(called(&found), []);
}

#[test]
fn of_three_engines_nobody_else_is_blamed_for_a_change_at_one_payload() {
    for slowed in ["std", "nix"] {
        for seed in 0..3 {
            let found = one_is_slower(&["std", "nix", "tokio"], slowed, 2, seed);
            assert_eq!(called(&found), [(slowed, &Verdict::Worse)], "{seed}");
            let others = found
                .judgement
                .cases
                .iter()
                .filter(|case| case.label != slowed);
            assert!(
                others.clone().all(|case| !case.answer.verdict.is_news()),
                "{seed}"
            );
        }
    }
}

#[test]
fn of_two_engines_that_agree_both_are_the_same() {
    let engines = ["std", "nix"];
    let found = against(few(&engines, plain(1)), few(&engines, plain(2)));
    assert_eq!(other_than_same(&found), []);
    assert!(!found.is_inconclusive());
}
