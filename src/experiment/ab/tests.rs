//! Error rates of verdicts, in simulated comparisons with the 96 cases and 20 rounds of the default.

use std::time::{Duration, Instant};

use self::dice::{COMPARISONS, Dice, ROUNDS, comparison, keys, record, record_of};
use super::*;
use crate::cli::{Cli, Command, options};
use crate::data::Case;
use crate::results::log::Event;
use crate::results::row::Failure;
use crate::session::{Experiment, Step};
use crate::verdict::judge::table::Detail;
use crate::verdict::judge::{
    Criterion, JudgedEngine, Judgement, Metric, Obstacle, Part, Threshold, Verdict,
};

fn judged(record: &AbComparison) -> Judgement {
    let question = Criterion {
        by: Metric::Speed,
        threshold: Threshold::default(),
    };
    judge(record, question)
}

fn is_news(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

/// Counts the simulated comparisons for which the predicate holds.
fn count(slower: impl Fn(&Case) -> f64, is_like_that: impl Fn(&Judgement) -> bool) -> u64 {
    let comparisons = (1..=COMPARISONS).map(|seed| judged(&comparison(seed, &slower)));
    comparisons.filter(is_like_that).count() as u64
}

fn engine<'a>(judgement: &'a Judgement, label: &str) -> &'a JudgedEngine {
    let mut engines = judgement.engines.iter();
    engines
        .find(|engine| engine.label == label)
        .expect("it ran")
}

/// Returns the parts of the cut that tells where a change is, with their verdicts.
fn told(engine: &JudgedEngine) -> Vec<(Part, &'static str)> {
    let parts = engine.telling().into_iter().flatten();
    parts
        .map(|(part, answer)| (*part, answer.verdict.word(Metric::Speed)))
        .collect()
}

#[test]
fn where_nothing_changed_nothing_is_called_a_change() {
    let alarms = count(
        |_| 0.0,
        |found| {
            let cases = found.cases.iter().any(|case| is_news(&case.answer.verdict));
            let parts = found
                .engines
                .iter()
                .flat_map(|engine| engine.parts.iter().flatten());
            let engines = found
                .engines
                .iter()
                .any(|engine| is_news(&engine.whole.verdict));
            cases
                || engines
                || parts
                    .into_iter()
                    .any(|(_, answer)| is_news(&answer.verdict))
        },
    );
    assert_eq!(alarms, 0, "of {COMPARISONS}");
}

#[test]
fn a_single_case_of_one_thread_that_is_5_percent_slower_is_found() {
    let slow = Case::of_key("std:std/1t/300B/connected/v4").expect("a key");
    let found = count(
        |case| if *case == slow { 0.05 } else { 0.0 },
        |found| {
            let worse = found
                .cases
                .iter()
                .filter(|case| is_news(&case.answer.verdict));
            worse.map(|case| &case.key).eq([&slow.key()])
        },
    );
    assert!(found >= COMPARISONS * 6 / 10, "{found} of {COMPARISONS}");
}

#[test]
fn a_change_at_some_thread_counts_is_found_and_named() {
    let slower = |case: &Case| {
        if case.sender.as_str() == "mio-level" && !case.threads.is_alone() {
            0.10
        } else {
            0.0
        }
    };
    let named = count(slower, |found| {
        let told = told(engine(found, "mio-level"));
        told.iter()
            .map(|(_, word)| *word)
            .eq(["same", "slower", "slower"])
            && told
                .iter()
                .all(|(part, _)| matches!(part, Part::Threads(_)))
    });
    assert!(named >= COMPARISONS * 8 / 10, "{named} of {COMPARISONS}");
    let same = count(slower, |found| {
        engine(found, "mio-level").whole.verdict == Verdict::Same
    });
    assert_eq!(same, 0);
}

#[test]
fn a_change_at_one_payload_is_found_and_named() {
    let slower = |case: &Case| {
        if case.payload.bytes() == 1460 {
            0.05
        } else {
            0.0
        }
    };
    let named = count(slower, |found| {
        let told = told(engine(found, "std"));
        told.iter()
            .map(|(part, word)| (part.to_string(), *word))
            .eq([
                ("at 26 B".to_owned(), "same"),
                ("at 300 B".to_owned(), "same"),
                ("at 1460 B".to_owned(), "slower"),
            ])
    });
    assert!(named >= COMPARISONS * 8 / 10, "{named} of {COMPARISONS}");
}

#[test]
fn what_did_not_change_is_called_the_same() {
    let same = count(
        |_| 0.0,
        |found| {
            found
                .engines
                .iter()
                .all(|engine| engine.whole.verdict == Verdict::Same)
        },
    );
    assert!(same >= COMPARISONS / 2, "{same} of {COMPARISONS}");
}

#[test]
fn looking_often_takes_more_to_be_sure() {
    let once = comparison(1, |_| 0.0);
    let mut often = record(5);
    for (pair, key) in keys().iter().enumerate() {
        let case = Case::of_key(key).expect("the key of a case");
        let mut dice = Dice(fastrand::Rng::with_seed(pair as u64));
        for round in 1..=ROUNDS {
            often.put(pair, round, dice.difference(&case).exp());
        }
    }
    let width = |record: &AbComparison| {
        let judgement = judged(record);
        let widths = judgement.cases.iter().filter_map(|case| case.answer.change);
        widths.map(|change| change.high - change.low).sum::<f64>()
    };
    assert!(width(&often) > 1.2 * width(&once));
}

/// Adds the rounds of a pair: the reason why A and B failed, or `None` for a window.
fn course(record: &mut AbComparison, pair: usize, rounds: &[[Option<&str>; 2]]) {
    for (round, reasons) in (1..).zip(rounds) {
        for (side, reason) in Side::BOTH.into_iter().zip(reasons) {
            match reason {
                None => record.put_side(side, pair, round, 1.0),
                Some(reason) => fail(record, (side, pair, round), reason, None),
            }
        }
    }
}

fn fail(
    record: &mut AbComparison,
    (side, pair, round): (Side, usize, u32),
    reason: &str,
    other_programs: Option<&str>,
) {
    let failed = Event::Failed {
        of: record.name(side, pair),
        round,
        reason: Failure::told(reason),
        other_programs: other_programs.map(str::to_owned),
    };
    record.take(&failed).expect("it can fail");
}

fn verdict(record: &AbComparison, pair: usize) -> Verdict {
    judged(record).cases[pair].answer.verdict.clone()
}

/// Returns a verdict in words, with its reason.
fn said(verdict: &Verdict) -> String {
    let reason = verdict.reason().map(Obstacle::to_string);
    format!(
        "{}: {}",
        verdict.word(Metric::Speed),
        reason.unwrap_or_default()
    )
}

#[test]
fn only_a_side_that_always_fails_while_the_other_never_does_is_to_blame() {
    let mut record = record(1);
    let no = Some("no");
    course(&mut record, 0, &[[None, no]; 10]);
    course(&mut record, 1, &[[no, None]; 10]);
    course(&mut record, 2, &[[no, no]]);
    course(&mut record, 3, &[[None, no]; 9]);
    course(&mut record, 4, &[[None, None], [None, no]]);
    course(&mut record, 5, &[[None, no], [no, None]]);
    course(&mut record, 6, &[[no, no]; 4]);
    course(
        &mut record,
        7,
        &[[None, None], [None, no], [no, no], [no, None], [None, no]],
    );
    let verdicts = [
        "broken: no",
        "not comparable: fails in A: no",
        "not comparable: fails in both: no",
        "unclear: B failed in 9 of 9 rounds: no",
        "unclear: fewer than two rounds have both sides",
        "unclear: B failed in 1 of 2 rounds: no",
        "not comparable: fails in both: no",
        "unclear: B failed in 3 of 5 rounds: no",
    ];
    for (pair, expected) in verdicts.iter().enumerate() {
        assert_eq!(said(&verdict(&record, pair)), *expected, "{pair}");
        let is_decided = record.pairs[pair].is_decided(record.rounds_to_blame());
        assert_eq!(is_decided, [0, 1, 6, 7].contains(&pair), "{pair}");
    }
    let judgement = judged(&record);
    assert!(judgement.is_worse());
    let text = table::draw(&record, &judgement, Detail::Changes, 100);
    assert!(
        text.contains("std:std/1t/26B/connected/v4: broken: no"),
        "{text}"
    );
}

#[test]
fn a_case_that_a_busy_machine_kept_from_running_is_unclear_and_says_who_was_in_the_way() {
    let mut record = record(1);
    for pair in 1..keys().len() {
        (1..=ROUNDS).for_each(|round| record.put(pair, round, 1.0));
    }
    record.type_in("ab ./before ./after");
    record.put(0, 1, 1.0);
    let busy = "other programs use 2.9 of 2 CPUs now: sh (pid 7) 0.98";
    let nothing = "nothing was received in a window";
    for round in 2..=5 {
        let (failing, other) = if round == 2 {
            (Side::A, Side::B)
        } else {
            (Side::B, Side::A)
        };
        fail(&mut record, (failing, 0, round), nothing, Some(busy));
        record.put_side(other, 0, round, 1.0);
    }
    let why = format!("the machine was too busy: {busy}; B failed in 3 of 5 rounds: {nothing}");
    assert_eq!(said(&verdict(&record, 0)), format!("unclear: {why}"));
    let judgement = judged(&record);
    let mut engines = judgement.engines.iter();
    assert!(engines.all(|engine| engine.whole.verdict == Verdict::Same));
    assert!(!judgement.is_worse() && !judgement.is_surely_not_worse());
    let text = table::draw(&record, &judgement, Detail::Changes, 200);
    let reason =
        "std:std/1t/26B/connected/v4: unclear: the machine was too busy: other programs use 2.9";
    assert!(text.contains(reason), "{text}");
    let next = "next  stop what else runs (udpbench check), then measure again:\n      udpbench ab ./before ./after\n";
    assert!(text.ends_with(next), "{text}");
}

/// Returns a comparison of one case in which B has this speed, and in which windows fail in these rounds of A and B.
fn with_failures(speed: f64, failing: [&[u32]; 2]) -> AbComparison {
    let mut record = record_of(&keys()[..1], 1);
    record.type_in("ab ./before ./after -o ab.jsonl");
    let mut dice = Dice(fastrand::Rng::with_seed(1));
    for round in 1..=ROUNDS {
        for (side, speed) in [(Side::A, 1.0), (Side::B, speed)] {
            if failing[side as usize].contains(&round) {
                fail(&mut record, (side, 0, round), "nothing was received", None);
            } else {
                record.put_side(side, 0, round, speed * dice.normal(0.005).exp());
            }
        }
    }
    record
}

#[test]
fn rounds_with_a_failed_window_are_left_out_and_the_others_judged() {
    for (failing, said) in [
        ([&[][..], &[7]], "v4: 1 of 20 rounds left out: B: nothing"),
        ([&[3], &[7, 9]], "v4: 3 of 20 rounds left out: A: nothing"),
        (
            [&[3, 9, 11], &[]],
            "v4: 3 of 20 rounds left out: A: nothing",
        ),
    ] {
        let record = with_failures(1.0, failing);
        assert!(!record.pairs[0].is_decided(record.rounds_to_blame()));
        let judgement = judged(&record);
        assert_eq!(engine(&judgement, "std").whole.verdict, Verdict::Same);
        assert!(!judgement.is_inconclusive());
        let text = table::draw(&record, &judgement, Detail::Changes, 100);
        assert!(text.contains(said), "{text}");
        assert!(!text.contains("\nnext "), "{text}");
    }
}

#[test]
fn a_b_that_alone_fails_now_and_then_is_never_called_the_same_or_better() {
    for speed in [1.0, 1.5] {
        let record = with_failures(speed, [&[], &[7, 12]]);
        let judgement = judged(&record);
        let engine = &engine(&judgement, "std").whole;
        let why = "B failed in 2 of 20 rounds, A in none: nothing was received";
        assert_eq!(said(&engine.verdict), format!("unclear: {why}"));
        assert!(engine.change.is_some() && judgement.is_inconclusive());
        let text = table::draw(&record, &judgement, Detail::Changes, 100);
        assert!(text.contains(&format!("unclear: {why}")), "{text}");
        let next = "\nnext  measure again:\n      udpbench ab ./before ./after\n";
        assert!(text.ends_with(next), "{text}");
    }
    assert!(judged(&with_failures(0.5, [&[], &[7, 12]])).is_worse());
    // Beyond so many, the others are not judged.
    let often = judged(&with_failures(1.0, [&[], &[7, 12, 13, 18]]));
    assert!(often.engines.is_empty() && often.is_inconclusive());
}

#[test]
fn windows_that_fail_by_chance_hide_no_verdict_and_make_no_change() {
    let mut same = 0;
    for seed in 1..=COMPARISONS {
        let mut dice = Dice(fastrand::Rng::with_seed(seed));
        let mut record = record(1);
        for (pair, key) in keys().iter().enumerate() {
            let case = Case::of_key(key).expect("a key");
            for round in 1..=ROUNDS {
                for (side, speed) in [(Side::A, 1.0), (Side::B, dice.difference(&case).exp())] {
                    if dice.0.u32(..50) == 0 {
                        fail(
                            &mut record,
                            (side, pair, round),
                            "nothing was received",
                            None,
                        );
                    } else {
                        record.put_side(side, pair, round, speed);
                    }
                }
            }
        }
        let found = judged(&record);
        assert!(
            !found.cases.iter().any(|case| is_news(&case.answer.verdict)),
            "{seed}"
        );
        let verdicts = || found.engines.iter().map(|engine| &engine.whole.verdict);
        assert!(!verdicts().any(is_news), "{seed}");
        same += u64::from(verdicts().all(|verdict| *verdict == Verdict::Same));
    }
    assert!(same >= COMPARISONS / 3, "{same} of {COMPARISONS}");
}

#[test]
fn a_build_is_never_broken_by_windows_that_fail_on_either_side() {
    for tenths in [1, 3, 5, 7, 9] {
        let mut dice = fastrand::Rng::with_seed(tenths);
        let mut comparison = record(1);
        while let Some(step) = comparison.next(Instant::now()) {
            let Step::Trial(trial) = step else { continue };
            let side = trial.of.side.expect("of a comparison");
            let pair = keys().iter().position(|key| *key == trial.of.case);
            let (pair, round) = (pair.expect("a case"), trial.round);
            if dice.u64(..10) < tenths {
                let at = (side, pair, round);
                fail(&mut comparison, at, "nothing was received", None);
            } else {
                comparison.put_side(side, pair, round, 1.0);
            }
        }
        assert!(comparison.is_complete());
        let judgement = judged(&comparison);
        assert!(!judgement.is_worse(), "{tenths}");
        assert!(!judgement.is_surely_not_worse(), "{tenths}");
    }
}

#[test]
fn nothing_is_called_a_change_on_a_busy_machine_where_windows_scatter_by_half() {
    let scattered = |seed: u64, is_disturbed: bool| {
        let mut dice = Dice(fastrand::Rng::with_seed(seed));
        let mut record = record_of(&keys()[..1], 1);
        for round in 1..=ROUNDS {
            for side in Side::BOTH {
                record.put_window((side, 0, round), dice.normal(0.5).exp(), is_disturbed);
            }
        }
        judged(&record)
    };
    let calls = |is_disturbed| {
        let is_called = |seed: &u64| {
            let judgement = scattered(*seed, is_disturbed);
            judgement
                .cases
                .iter()
                .any(|case| is_news(&case.answer.verdict))
        };
        (1..=400).filter(is_called).count()
    };
    assert_eq!(calls(true), 0);
    // Elsewhere, 1.5 % are, less what the threshold prevents.
    assert!(calls(false) > 0);
}

#[test]
fn a_large_change_is_found_on_a_busy_machine_too() {
    let mut record = record_of(&keys()[..1], 1);
    let mut dice = Dice(fastrand::Rng::with_seed(1));
    for round in 1..=ROUNDS {
        for (side, speed) in [(Side::A, 1.0), (Side::B, 0.3)] {
            let speed = speed * dice.normal(0.5).exp();
            record.put_window((side, 0, round), speed, true);
        }
    }
    let judgement = judged(&record);
    assert_eq!(judgement.engines[0].whole.verdict, Verdict::Worse);
    let text = table::draw(&record, &judgement, Detail::Changes, 200);
    assert!(text.contains("took CPU time in 40 of 40 windows"), "{text}");
}

#[test]
fn where_a_busy_machine_keeps_more_rounds_from_telling_it_is_to_be_measured_again_without_the_others()
 {
    let mut record = record_of(&keys()[..1], 1);
    record.type_in("ab ./before ./after");
    for round in 1..=ROUNDS {
        let of_b = if round % 2 == 0 { 3.0 } else { 1.0 / 3.0 };
        record.put_window((Side::A, 0, round), 1.0, true);
        record.put_window((Side::B, 0, round), of_b, true);
    }
    let text = table::draw(&record, &judged(&record), Detail::Changes, 100);
    assert!(
        text.replace('\n', " ")
            .contains("1000 rounds would hardly tell"),
        "{text}"
    );
    let next = "next  stop what else runs (udpbench check), then measure again:\n      udpbench ab ./before ./after\n";
    assert!(text.ends_with(next), "{text}");
}

#[test]
fn so_few_rounds_that_no_change_could_be_called_are_said_to_be_too_few() {
    for (rounds, is_called) in [(6, false), (8, true)] {
        let mut record = record_of(&keys()[..1], 1);
        (1..=rounds).for_each(|round| record.put(0, round, 1.5));
        let judgement = judged(&record);
        assert_eq!(is_news(&judgement.engines[0].whole.verdict), is_called);
        assert_eq!(judgement.is_inconclusive(), !is_called);
        let text = table::draw(&record, &judgement, Detail::Changes, 80);
        let said = format!("{rounds} rounds: too few to call a change, however large");
        assert_eq!(text.contains(&said), !is_called, "{text}");
    }
}

/// Returns the last lines of an unclear comparison that was typed like this.
fn last_lines(command_line: &str) -> String {
    let mut record = record(1);
    for pair in 0..keys().len() {
        (1..=ROUNDS).for_each(|round| record.put(pair, round, 0.9 + 0.1 * f64::from(round % 3)));
    }
    record.type_in(command_line);
    let text = table::draw(&record, &judged(&record), Detail::Changes, 80);
    assert!(
        text.starts_with("Inconclusive: B against A, 20 rounds: "),
        "{text}"
    );
    let said = "is unclear: if it really is ";
    assert!(text.replace('\n', " ").contains(said), "{text}");
    let (_, next) = text.split_once("\nnext  ").expect("it is unclear");
    next.to_owned()
}

#[test]
fn an_unclear_comparison_ends_with_the_command_that_would_tell_in_windows_as_long_as_before() {
    let next = last_lines("ab ./before ./after");
    let (said, command) = next.split_once(":\n      udpbench ").expect("a command");
    let (rounds, time) = said.split_once(" rounds, about ").expect("rounds");
    let together =
        humantime::format_duration(Duration::from_millis(20) * rounds.parse().expect("a number"));
    let together = together.to_string().replace(' ', "");
    assert_eq!(
        command,
        format!("ab ./before ./after --rounds {rounds} -- --duration {together}\n")
    );
    assert!(time.ends_with('s'), "{time}");
    // What it replaces, and the file that is there by now, are not typed again.
    let typed = "ab -q --rounds 20 --decide --max-time=1m -o a.jsonl --a --batch=8 --b --batch=9 -- --duration 400ms \
                 --engine mmsg --threads 2";
    let next = last_lines(typed);
    let (_, command) = next.split_once("udpbench ").expect("a command");
    let expected = format!(
        "ab -q --a --batch=8 --b --batch=9 --rounds {rounds} -- --engine mmsg --threads 2 --duration {together}\n"
    );
    assert_eq!(command, expected);
    let words = shlex::split(&format!("udpbench {command}")).expect("words of a shell");
    let typed = Cli::try_parse_from(words).expect("a command of this program");
    let Some(Command::Ab(args)) = typed.command else {
        panic!("{command}");
    };
    let header = options::ab::header(&args, None, "").expect("it can be measured");
    let found = (header.rounds.to_string(), header.a.settings.window);
    assert_eq!(found, (rounds.to_owned(), Duration::from_millis(20)));
}

#[test]
fn every_line_fits_the_terminal() {
    let record = comparison(1, |case| {
        if case.payload.bytes() == 26 {
            0.5
        } else {
            -0.9
        }
    });
    let text = table::draw(&record, &judged(&record), Detail::All, 100);
    for line in anstream::adapter::strip_str(&text).to_string().lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

pub(super) mod dice;
#[cfg(feature = "report")]
mod page;
