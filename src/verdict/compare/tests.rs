//! Tests of verdicts on rows made by hand.

use super::significance::FALSE_DISCOVERY_RATE;
use super::*;
use crate::data::Ip;
use crate::results::row::{Row, Status};
use crate::verdict::compare::table::Detail;

/// Returns a row with two threads, 300 B, and six rounds that scatter by 3 %.
pub(super) fn row(engine: &str, ratio: f64) -> Row {
    case_of(engine, Connection::Unconnected, 300, ratio)
}

pub(super) fn case_of(engine: &str, connection: Connection, payload: u32, ratio: f64) -> Row {
    Row {
        case: format!("{engine}:{engine}/2t/{payload}B/{connection}/v4"),
        sender: engine.to_owned(),
        receiver: engine.to_owned(),
        connection,
        payload_bytes: payload.try_into().expect("in range"),
        ratio_to_std: Some(ratio),
        ratio_pairs: Some(6),
        ratio_sd_pct: Some(3.0),
        cpu_ratio_to_std: Some(1.0 / ratio),
        cpu_ratio_sd_pct: Some(3.0),
        cv_pct: Some(3.0),
        received_pps: Some(200_000.0 * ratio),
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
        rows,
        ..Results::default()
    }
}

/// Returns the rows of two engines and the reference over this many blocks, two of each payload, with the ratios that
/// `ratio_of` gives.
fn sweep(blocks: u32, ratio_of: impl Fn(&str, u32) -> f64) -> Vec<Row> {
    let mut rows = Vec::new();
    for block in 1..=blocks {
        let mut add = |engine: &str, connection, ratio| {
            let row = case_of(engine, connection, block.div_ceil(2), ratio);
            rows.push(Row {
                ratio_sd_pct: Some(1.0),
                cpu_ratio_sd_pct: Some(1.0),
                ..if block % 2 == 0 { over_v6(row) } else { row }
            });
        };
        add("std", Connection::Connected, 1.0);
        for engine in ["mio-level", "mio-exhaustive"] {
            add(engine, Connection::Connected, ratio_of(engine, block));
            add(engine, Connection::Unconnected, ratio_of(engine, block));
        }
    }
    rows
}

fn over_v6(row: Row) -> Row {
    Row {
        case: row.case.replace("/v4", "/v6"),
        ip: Ip::V6,
        ..row
    }
}

/// Returns a factor that differs a little from block to block.
fn wobble(block: u32) -> f64 {
    1.0 + 0.002 * (f64::from(block % 5) - 2.0)
}

fn plain() -> Results {
    results("base.csv", sweep(10, |_, _| 0.9))
}

fn slower_by(fraction: f64) -> Results {
    let ratio = |engine: &str, block| match engine {
        "mio-level" => 0.9 * (1.0 - fraction) * wobble(block),
        _ => 0.9 * wobble(block),
    };
    results("new.csv", sweep(10, ratio))
}

fn against(base: &Results, new: Results) -> Against {
    let mut found = compare(base, &[new], Options::default());
    found.files.remove(0)
}

/// Returns the verdict on the only case.
fn verdict_of(base: Row, new: Row) -> Verdict {
    let found = against(&results("a", vec![base]), results("b", vec![new]));
    assert_eq!(found.cases.len(), 1);
    found.cases[0].verdict.clone()
}

fn engine(found: &Against, label: &str) -> EngineChange {
    let mut engines = found.engines.iter();
    engines
        .find(|engine| engine.label == label)
        .expect("judged")
        .clone()
}

#[test]
fn a_change_too_small_for_any_case_is_found_in_the_engine() {
    let found = against(&plain(), slower_by(0.03));
    assert!(
        found
            .cases
            .iter()
            .all(|case| case.verdict != Verdict::Worse)
    );
    let level = engine(&found, "mio-level");
    assert_eq!((level.cases, level.blocks), (20, 10));
    assert_eq!(level.verdict, Verdict::Worse);
    let change = level.change.expect("ten blocks");
    assert!((change.estimate + 0.03).abs() < 0.002, "{change:?}");
    assert!(change.low < -0.03 && -0.03 < change.high);
    assert_eq!(engine(&found, "mio-exhaustive").verdict, Verdict::Same);
}

#[test]
fn a_large_change_is_found_in_its_case_and_in_no_other() {
    let base = plain();
    let mut new = slower_by(0.0);
    new.rows[7].ratio_to_std = Some(0.45);
    let found = against(&base, new.clone());
    let slower = found
        .cases
        .iter()
        .filter(|case| case.verdict == Verdict::Worse);
    assert_eq!(
        slower.map(|case| &case.case).collect::<Vec<_>>(),
        [&new.rows[7].case]
    );
    new.rows[7].ratio_to_std = Some(1.8);
    let found = against(&base, new);
    let faster = found
        .cases
        .iter()
        .filter(|case| case.verdict == Verdict::Better);
    assert_eq!(faster.count(), 1);
}

#[test]
fn below_the_threshold_nothing_is_a_change_however_sure_it_is() {
    let options = Options {
        threshold: "20%".parse().expect("in range"),
        ..Options::default()
    };
    let found = compare(&plain(), &[slower_by(0.10)], options)
        .files
        .remove(0);
    let level = engine(&found, "mio-level");
    assert!(level.change.expect("ten blocks").p_value < FALSE_DISCOVERY_RATE / 2.0);
    assert_eq!(level.verdict, Verdict::Same);
}

#[test]
fn cpu_time_is_the_dearer_the_higher() {
    let options = Options {
        by: By::Cpu,
        ..Options::default()
    };
    let found = compare(&plain(), &[slower_by(0.05)], options);
    assert_eq!(engine(&found.files[0], "mio-level").verdict, Verdict::Worse);
    assert_eq!(Verdict::Worse.word(By::Cpu), "dearer");
    assert!(found.is_worse());
}

#[test]
fn the_reference_is_not_judged_and_said_to_be_it() {
    let found = against(&plain(), slower_by(0.0));
    let references = found
        .cases
        .iter()
        .filter(|case| case.verdict == Verdict::Reference);
    assert_eq!(references.count(), 10);
    assert!(found.remarks[0].starts_with("10 cases of the reference, std on connected sockets"));
}

#[test]
fn few_rounds_of_a_noisy_case_are_unclear_and_what_helps_is_said() {
    let noisy = |ratio| Row {
        ratio_sd_pct: Some(20.0),
        ..row("mio-level", ratio)
    };
    assert_eq!(verdict_of(noisy(0.9), noisy(0.92)), Verdict::Unclear);
    let found = compare(
        &results("a", vec![noisy(0.9)]),
        &[results("b", vec![noisy(0.92)])],
        Options::default(),
    );
    let text = table::draw(&found, Detail::Changes, 100);
    assert!(text.contains("the --rounds"), "{text}");
    assert!(
        text.trim_start().starts_with("Inconclusive: b against a"),
        "{text}"
    );
    assert!(found.is_inconclusive());
}

#[test]
fn three_blocks_are_too_few_for_an_engine() {
    let base = results("a", sweep(3, |_, _| 0.9));
    let found = against(&base, base.clone());
    assert_eq!(engine(&found, "mio-level").change, None);
    let found = compare(&base, std::slice::from_ref(&base), Options::default());
    let text = table::draw(&found, Detail::Changes, 100);
    assert!(
        text.contains("2 engines not judged: 3 of the 4 blocks"),
        "{text}"
    );
}

/// Returns the verdicts on cases with these estimates and p-values.
fn judged(changes: &[(f64, f64)]) -> Vec<Verdict> {
    let template = against(&plain(), plain()).cases.remove(1);
    let case = |&(estimate, p_value): &(f64, f64)| CaseChange {
        change: Some(Change {
            estimate,
            low: estimate - 0.05,
            high: estimate + 0.05,
            p_value,
        }),
        ..template.clone()
    };
    let mut file = against(&plain(), plain());
    file.engines.clear();
    file.cases = changes.iter().map(case).collect();
    let mut files = [file];
    verdict::judge(&mut files, Options::default());
    files[0]
        .cases
        .iter()
        .map(|case| case.verdict.clone())
        .collect()
}

#[test]
fn what_changed_too_little_does_not_loosen_the_limit_for_the_others() {
    // The first of eleven p-values, 0.004, is above its own limit, but below the limit after ten sure changes.
    let mut changes = vec![(-0.03, 0.004)];
    changes.extend([(-0.03, 1e-9); 10]);
    assert_eq!(judged(&changes), vec![Verdict::Worse; 11]);
    for (estimate, _) in &mut changes[1..] {
        *estimate = -0.01;
    }
    assert_eq!(judged(&changes), vec![Verdict::Unclear; 11]);
}

mod any_rows;
mod drawn;
mod matching;
mod simulation;
