//! Tests of verdicts on rows made by hand.

use super::*;
use crate::data::{Connection, Ip};
use crate::results::row::tests::{of_key, with_case_of_columns};
use crate::results::row::{Failure, Reason, Status};
use crate::verdict::judge::table::Detail;
use crate::verdict::judge::{Change, JudgedEngine};

const ENGINES: [&str; 5] = ["std", "mio-level", "mio-exhaustive", "nix", "tokio"];

/// Returns a row with two threads, 300 B, and six rounds that scatter by 1 %. `speed` is a share of the usual.
pub(super) fn row(engine: &str, speed: f64) -> Row {
    row_of(engine, Connection::Unconnected, 300, speed)
}

pub(super) fn row_of(engine: &str, connection: Connection, payload: u32, speed: f64) -> Row {
    Row {
        case: of_key(&format!("{engine}:{engine}/2t/{payload}B/{connection}/v4")),
        sender: engine.to_owned(),
        receiver: engine.to_owned(),
        connection,
        payload_bytes: payload.try_into().expect("in range"),
        residual_sd_pct: Some(1.0),
        residual_cpu_sd_pct: Some(1.0),
        received_pps: Some(200_000.0 * speed),
        cpu_ns_per_packet: Some(2_000.0 / speed),
        board: "generic".to_owned(),
        model: "a model".to_owned(),
        cpu_model: "a CPU".to_owned(),
        arch: "x86_64".to_owned(),
        kernel: "6.12.0".to_owned(),
        version: "0.1.0".to_owned(),
        throttled: "no".to_owned(),
        ..crate::results::row::tests::ordinary_row()
    }
}

/// Returns results as if read from a file.
pub(super) fn results(name: &str, rows: Vec<Row>) -> Results {
    Results {
        name: name.to_owned(),
        rows: rows.into_iter().map(with_case_of_columns).collect(),
        ..Results::default()
    }
}

/// Returns a sweep of five engines over this many blocks, with the speeds that `speed_of` gives. Blocks 1 and 2 have a
/// payload of 1 B over IPv4 and IPv6, blocks 3 and 4 of 2 B, and so on. Speeds scatter by 1 % from sweep to sweep.
fn sweep(name: &str, blocks: u32, seed: u64, speed_of: impl Fn(&str, u32) -> f64) -> Results {
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut rows = Vec::new();
    for block in 1..=blocks {
        for engine in ENGINES {
            for connection in [Connection::Connected, Connection::Unconnected] {
                let speed = speed_of(engine, block) * (1.0 + 0.01 * (dice.f64() - 0.5));
                let row = row_of(engine, connection, block.div_ceil(2), speed);
                rows.push(if block % 2 == 0 { over_v6(row) } else { row });
            }
        }
    }
    results(name, rows)
}

fn over_v6(row: Row) -> Row {
    Row {
        case: crate::data::Case {
            ip: Ip::V6,
            ..row.case
        },
        ip: Ip::V6,
        ..row
    }
}

fn plain(seed: u64) -> Results {
    sweep("before.csv", 10, seed, |_, _| 1.0)
}

/// Returns a sweep in which one engine has another speed.
fn with(engine: &'static str, speed: f64, seed: u64) -> Results {
    sweep("after.csv", 10, seed, move |name, _| {
        if name == engine { speed } else { 1.0 }
    })
}

fn of(before: &[Results], after: &[Results]) -> Comparison {
    compare([before, after], Criterion::default())
}

/// Returns the comparison of one run with another.
fn against(before: Results, after: Results) -> Comparison {
    of(&[before], &[after])
}

/// Returns the verdict on the only case.
fn verdict_of(before: Row, after: Row) -> Verdict {
    let found = against(results("a", vec![before]), results("b", vec![after]));
    assert_eq!(found.judgement.cases.len(), 1);
    found.judgement.cases[0].answer.verdict.clone()
}

fn engine<'a>(found: &'a Comparison, label: &str) -> &'a JudgedEngine {
    let mut engines = found.judgement.engines.iter();
    engines
        .find(|engine| engine.label == label)
        .expect("judged")
}

/// Returns the verdict on each engine that is no "same".
fn other_than_same(found: &Comparison) -> Vec<(&str, &Verdict)> {
    let engines = found.judgement.engines.iter();
    let engines = engines.map(|engine| (engine.label.as_str(), &engine.whole.verdict));
    engines
        .filter(|(_, verdict)| **verdict != Verdict::Same)
        .collect()
}

#[test]
fn an_engine_that_is_slower_is_found_and_it_alone() {
    let found = against(plain(1), with("mio-level", 0.95, 2));
    assert_eq!(other_than_same(&found), [("mio-level", &Verdict::Worse)]);
    let change = engine(&found, "mio-level")
        .whole
        .change
        .expect("ten blocks");
    assert!(change.low < -0.05 && -0.05 < change.high, "{change:?}");
    assert!(found.judgement.is_worse() && !found.is_inconclusive());
}

#[test]
fn a_slower_std_is_blamed_on_std() {
    let found = against(plain(1), with("std", 0.9, 2));
    assert_eq!(other_than_same(&found), [("std", &Verdict::Worse)]);
}

#[test]
fn a_change_of_the_machine_is_said_once_and_is_no_engines() {
    let after = sweep("after.csv", 10, 2, |_, _| 0.8);
    let found = against(plain(1), after);
    assert!(!found.judgement.is_worse());
    // A change of the machine may meet engines unlike, by a tenth of it: here 2 %, as much as the threshold.
    assert!(
        found
            .judgement
            .engines
            .iter()
            .all(|it| it.whole.verdict == Verdict::Unclear)
    );
    let text = super::table::draw(&found, Detail::Changes, 100);
    assert!(text.contains("The machine: -20"), "{text}");
    assert!(found.is_inconclusive());
}

#[test]
fn where_nothing_changed_that_is_the_answer() {
    let found = against(plain(1), plain(2));
    assert_eq!(other_than_same(&found), []);
    assert!(!found.judgement.is_worse() && !found.is_inconclusive());
}

#[test]
fn a_change_of_a_part_is_found_and_the_part_is_named() {
    let slower = |name: &str, block: u32| if name == "nix" && block > 8 { 0.9 } else { 1.0 };
    let before = [plain(1), plain(2)];
    let after = [3, 4].map(|seed| sweep("after.csv", 10, seed, slower));
    let found = of(&before, &after);
    assert_eq!(other_than_same(&found), [("nix", &Verdict::Worse)]);
    let nix = engine(&found, "nix");
    let slower = nix
        .telling()
        .into_iter()
        .flatten()
        .filter(|(_, answer)| answer.verdict == Verdict::Worse);
    let slower: Vec<String> = slower.map(|(part, _)| part.to_string()).collect();
    assert_eq!(slower, ["at 5 B"]);
}

#[test]
fn two_runs_on_each_side_show_a_change_of_a_single_case() {
    let slower = |mut results: Results| {
        results.rows[7].received_pps = Some(100_000.0);
        results
    };
    let found = of(&[plain(1), plain(2)], &[slower(plain(3)), slower(plain(4))]);
    let cases = found.judgement.cases.iter();
    let slower = cases.filter(|case| case.answer.verdict == Verdict::Worse);
    let slower: Vec<&String> = slower.map(|case| &case.key).collect();
    assert_eq!(slower, [&plain(1).rows[7].case.key()]);
}

#[test]
fn below_the_threshold_nothing_is_a_change_however_sure_it_is() {
    let question = Criterion {
        threshold: "20%".parse().expect("in range"),
        ..Criterion::default()
    };
    let found = compare([&[plain(1)], &[with("nix", 0.9, 2)]], question);
    assert_eq!(other_than_same(&found), []);
}

#[test]
fn cpu_time_is_the_dearer_the_higher() {
    let question = Criterion {
        by: Metric::Cpu,
        ..Criterion::default()
    };
    let found = compare([&[plain(1)], &[with("nix", 0.9, 2)]], question);
    assert_eq!(other_than_same(&found), [("nix", &Verdict::Worse)]);
    assert_eq!(Verdict::Worse.word(Metric::Cpu), "dearer");
}

#[test]
fn one_block_of_one_run_is_unclear_and_two_runs_tell() {
    let block = |seed, speed| {
        let speed = move |name: &str, _| if name == "nix" { speed } else { 1.0 };
        let mut one = sweep("one", 1, seed, speed);
        one.rows
            .retain(|row| row.connection == Connection::Connected);
        one
    };
    let found = against(block(1, 1.0), block(2, 0.8));
    let nix = &engine(&found, "nix").whole;
    assert_eq!(nix.verdict, Verdict::Undecided(Obstacle::OneBlock));
    let change = nix.change.expect("the other engines show it");
    assert!(change.low < -0.2 && 0.0 < change.high, "{change:?}");
    assert!(nix.verdict.is_unclear() && found.is_inconclusive());
    assert_eq!(found.obstacle(), None);
    let found = of(
        &[block(1, 1.0), block(2, 1.0)],
        &[block(3, 0.8), block(4, 0.8)],
    );
    assert_eq!(engine(&found, "nix").whole.verdict, Verdict::Worse);
}

#[test]
fn what_a_state_of_a_virtual_machine_may_be_is_no_change() {
    let on_a_virtual_machine = |mut results: Results| {
        for row in &mut results.rows {
            row.virtualization = "kvm".to_owned();
        }
        results
    };
    for (sender, speed, verdict) in [
        ("nix", 0.85, Verdict::Undecided(Obstacle::State { pct: 20 })),
        ("nix", 1.15, Verdict::Undecided(Obstacle::State { pct: 20 })),
        ("nix", 0.7, Verdict::Worse),
        ("gso", 1.38, Verdict::Undecided(Obstacle::State { pct: 50 })),
    ] {
        let run = |seed, speed| {
            let mut run = with("nix", speed, seed);
            for row in run.rows.iter_mut().filter(|row| row.sender == "nix") {
                row.sender = sender.to_owned();
                *row = with_case_of_columns(row.clone());
            }
            run
        };
        let sides = || [run(1, 1.0), run(2, speed)];
        let [before, after] = sides();
        let label = before.rows[6].label();
        let anywhere = against(before, after);
        assert!(engine(&anywhere, &label).whole.verdict.is_news());
        let [before, after] = sides().map(on_a_virtual_machine);
        let found = against(before, after);
        assert_eq!(engine(&found, &label).whole.verdict, verdict, "{speed}");
        assert_eq!(found.is_inconclusive(), verdict != Verdict::Worse);
        // Nor does it promise to see what it would not call.
        let visible = found.judgement.visible();
        assert!(visible.is_some_and(|visible| visible > 0.16));
    }
}

#[test]
fn a_lone_engine_cannot_be_told_from_the_machine() {
    let lone = |speed| results("lone", vec![row("nix", speed)]);
    let found = against(lone(0.9), lone(0.5));
    let verdict = &engine(&found, "nix").whole.verdict;
    assert_eq!(*verdict, Verdict::Undecided(Obstacle::Alone));
    assert!(found.is_inconclusive());
    assert_eq!(found.obstacle(), None);
}

#[test]
fn at_a_rate_the_speed_is_what_was_asked_for() {
    let paced = Row {
        target_pps: Some("1000".parse().expect("a rate")),
        ..row("nix", 0.9)
    };
    let verdict = verdict_of(paced.clone(), paced);
    assert_eq!(verdict, Verdict::NotComparable(Obstacle::AtARate));
}

fn changes(found: &Comparison) -> impl Iterator<Item = Change> {
    let engines = found
        .judgement
        .engines
        .iter()
        .flat_map(JudgedEngine::answers);
    let cases = found.judgement.cases.iter().map(|case| &case.answer);
    engines.chain(cases).filter_map(|answer| answer.change)
}

mod any_rows;
mod few_engines;
mod matched;
mod simulation;
mod table;
