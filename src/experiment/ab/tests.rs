//! Error rates of verdicts, in simulated comparisons with the 96 cases and 20 rounds of the default.

use super::dice::{COMPARISONS, Dice, ROUNDS, comparison, keys, record};
use super::*;
use crate::data::Case;
use crate::results::log::Event;
use crate::verdict::judge::table::Detail;
use crate::verdict::judge::{By, Engine, Judgement, Part, Question, Threshold, Verdict};

fn judged(record: &Record) -> Judgement {
    let question = Question {
        by: By::Speed,
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

fn engine<'a>(judgement: &'a Judgement, label: &str) -> &'a Engine {
    let mut engines = judgement.engines.iter();
    engines
        .find(|engine| engine.label == label)
        .expect("it ran")
}

/// Returns the parts of the cut that tells most, with their verdicts.
fn told(engine: &Engine) -> Vec<(Part, &'static str)> {
    let cut = engine.telling.map(|number| &engine.parts[number]);
    let parts = cut.into_iter().flatten();
    parts
        .map(|(part, answer)| (*part, answer.verdict.word(By::Speed)))
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
    let width = |record: &Record| {
        let judgement = judged(record);
        let widths = judgement.cases.iter().filter_map(|case| case.answer.change);
        widths.map(|change| change.high - change.low).sum::<f64>()
    };
    assert!(width(&often) > 1.2 * width(&once));
}

#[test]
fn a_case_that_fails_in_b_is_broken() {
    let mut record = comparison(1, |_| 0.0);
    for (pair, side) in [(0, Side::B), (1, Side::A), (2, Side::A), (2, Side::B)] {
        let failed = Event::Failed {
            of: record.name(side, pair),
            round: 3,
            reason: "no".to_owned(),
        };
        record.take(&failed).expect("it can fail");
    }
    let judgement = judged(&record);
    let verdict = |pair: usize| judgement.cases[pair].answer.verdict.clone();
    assert_eq!(verdict(0), Verdict::Broken("no".to_owned()));
    assert_eq!(
        verdict(1),
        Verdict::NotComparable("fails in A: no".to_owned())
    );
    let both = "fails in both: no".to_owned();
    assert_eq!(verdict(2), Verdict::NotComparable(both));
    assert!(judgement.is_worse());
    let text = table::draw(&record, &judgement, Detail::Changes, 100);
    assert!(text.contains("std:std/1t/26B/connected/v4: no"), "{text}");
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

#[cfg(feature = "report")]
mod page;
