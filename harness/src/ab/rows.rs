//! The answers for programs: one row per engine, part and case.

use serde::Serialize;

use super::judge::{Answer, Judgement};
use crate::compare::place;
use crate::export::csv;

/// One row. Empty: not known, or not of this kind.
#[derive(Debug, Default, Serialize)]
struct Row {
    kind: &'static str,
    label: String,
    part: String,
    case: String,
    cases: usize,
    rounds: usize,
    by: &'static str,
    a_value: Option<f64>,
    b_value: Option<f64>,
    change_pct: Option<f64>,
    change_pct_low: Option<f64>,
    change_pct_high: Option<f64>,
    p_value: Option<f64>,
    threshold_pct: f64,
    verdict: &'static str,
    reason: String,
}

/// As CSV, with a header.
///
/// # Errors
/// None that is known: it is written to memory.
pub fn csv(judgement: &Judgement) -> anyhow::Result<String> {
    Ok(String::from_utf8(csv::shape(&rows(judgement))?)?)
}

/// As a JSON array.
///
/// # Errors
/// None that is known: it is written to memory.
pub fn json(judgement: &Judgement) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&rows(judgement))? + "\n")
}

fn rows(judgement: &Judgement) -> Vec<Row> {
    let row = |kind, label: &str, answer: &Answer| row(judgement, kind, label, answer);
    let mut rows = Vec::new();
    for engine in &judgement.engines {
        rows.push(row("engine", &engine.label, &engine.all));
        for (part, answer) in engine.parts.iter().flatten() {
            rows.push(Row {
                part: place(&[*part]),
                ..row("part", &engine.label, answer)
            });
        }
    }
    rows.extend(judgement.cases.iter().map(|case| Row {
        case: case.key.clone(),
        a_value: case.a,
        b_value: case.b,
        ..row("case", &case.label, &case.answer)
    }));
    rows
}

fn row(judgement: &Judgement, kind: &'static str, label: &str, answer: &Answer) -> Row {
    let by = judgement.question.by;
    // An interval without an end has none to show.
    let percent = |fraction: f64| fraction.is_finite().then(|| (fraction * 1e5).round() / 1e3);
    Row {
        kind,
        label: label.to_owned(),
        cases: answer.cases,
        rounds: judgement.rounds,
        by: by.name(),
        change_pct: answer.change.and_then(|change| percent(change.estimate)),
        change_pct_low: answer.change.and_then(|change| percent(change.low)),
        change_pct_high: answer.change.and_then(|change| percent(change.high)),
        p_value: answer.change.map(|change| change.p_value),
        threshold_pct: judgement.question.threshold.percent(),
        verdict: answer.verdict.word(by),
        reason: answer.verdict.reason().unwrap_or_default().to_owned(),
        ..Row::default()
    }
}
