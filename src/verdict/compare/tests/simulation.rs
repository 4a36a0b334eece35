//! Error rates of verdicts in simulated sweeps: the 12 cases of the default sweep on two CPUs, and 80 cases in 8
//! blocks. `scripts/simulate.py` has more kinds of noise and of changes; docs/VALIDATION.md has its figures.

use super::*;

/// Number of simulated comparisons. Other architectures run fewer: there, tests run in a slow emulator and would find
/// nothing else.
const COMPARISONS: u64 = if cfg!(target_arch = "x86_64") { 60 } else { 20 };

/// Standard deviations of logarithms from sweep to sweep: of the machine, and of a case.
const MACHINE: f64 = 0.05;
const CASE: f64 = 0.017;

/// Returns a sweep in which an engine has another speed.
fn simulated(dice: &mut fastrand::Rng, blocks: u32, slowed: &str, speed: f64) -> Results {
    let mut results = sweep("simulated", blocks, 0, |_, _| 1.0);
    let machine = normal(dice, MACHINE);
    for row in &mut results.rows {
        let own = if row.sender == slowed { speed } else { 1.0 };
        let log: f64 = machine + normal(dice, CASE);
        row.received_pps = Some(200_000.0 * own * log.exp());
    }
    results
}

/// Returns a normal random number (Box & Muller, Ann. Math. Stat. 29 (1958) 610-611).
fn normal(dice: &mut fastrand::Rng, deviation: f64) -> f64 {
    let radius = (-2.0 * (1.0 - dice.f64()).ln()).sqrt();
    deviation * radius * (std::f64::consts::TAU * dice.f64()).cos()
}

/// Returns comparisons of this many sweeps on each side; after the change, an engine has another speed.
fn comparisons(counts: [usize; 2], blocks: u32, slowed: &str, speed: f64) -> Vec<Comparison> {
    let one = |seed| {
        let mut dice = fastrand::Rng::with_seed(seed);
        let before: Vec<Results> = (0..counts[0])
            .map(|_| simulated(&mut dice, blocks, "", 1.0))
            .collect();
        let after: Vec<Results> = (0..counts[1])
            .map(|_| simulated(&mut dice, blocks, slowed, speed))
            .collect();
        of(&before, &after)
    };
    (1..=COMPARISONS).map(one).collect()
}

fn count(found: &[Comparison], is_so: impl Fn(&Comparison) -> bool) -> u64 {
    found.iter().filter(|found| is_so(found)).count() as u64
}

/// Returns whether an engine or a case other than `slowed` is called a change.
fn has_false_alarm(found: &Comparison, slowed: &str) -> bool {
    let engines = found
        .judgement
        .engines
        .iter()
        .map(|it| (&it.label, &it.whole.verdict));
    let cases = found
        .judgement
        .cases
        .iter()
        .map(|it| (&it.label, &it.answer.verdict));
    engines
        .chain(cases)
        .any(|(label, verdict)| label != slowed && verdict.is_news())
}

#[test]
fn where_nothing_changed_next_to_nothing_is_called_a_change() {
    for (counts, blocks) in [([1, 1], 2), ([1, 2], 2), ([2, 2], 2), ([1, 1], 8)] {
        let alarms = count(&comparisons(counts, blocks, "", 1.0), |found| {
            has_false_alarm(found, "")
        });
        assert!(alarms <= COMPARISONS / 20, "{counts:?} {blocks}: {alarms}");
    }
}

#[test]
fn an_engine_that_is_slower_is_found_and_never_passed() {
    for (counts, blocks, slowed, speed, share) in [
        ([1, 2], 2, "nix", 0.9, 80),
        ([1, 2], 2, "std", 0.8, 95),
        ([2, 2], 2, "nix", 0.9, 90),
        ([1, 1], 8, "nix", 0.92, 90),
        ([1, 1], 8, "std", 0.9, 95),
    ] {
        let found = comparisons(counts, blocks, slowed, speed);
        let right = count(&found, |found| {
            engine(found, slowed).whole.verdict == Verdict::Worse
        });
        assert!(
            100 * right >= share * COMPARISONS,
            "{counts:?} {slowed} {speed}: {right}"
        );
        let alarms = count(&found, |found| has_false_alarm(found, slowed));
        assert!(
            alarms <= COMPARISONS / 20,
            "{counts:?} {slowed} {speed}: {alarms}"
        );
        assert_eq!(
            count(&found, |found| !found.judgement.is_worse()
                && !found.is_inconclusive()),
            0
        );
    }
}
