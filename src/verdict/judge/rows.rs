//! Verdicts for programs, as JSON objects: one per engine, per part of it, and per case. An unknown or absent number
//! is `null`, an absent text `""`.

use serde_json::{Value, json};

use super::{Change, JudgedChange, Judgement, Obstacle};
use crate::results::export::row_of;

/// Returns the rows: objects with the same keys, each with `shared`. `sides`: names of the two columns
/// of values.
pub fn rows(judgement: &Judgement, sides: [&str; 2], shared: &Value) -> Vec<Value> {
    let row =
        |[kind, label, part, case]: [&str; 4], values: [Option<f64>; 2], answer: &JudgedChange| {
            let of = json!({
                "kind": kind, "label": label, "part": part, "case": case, "cases": answer.cases,
                "by": judgement.question.by, sides[0]: values[0], sides[1]: values[1],
            });
            row_of(&[of, shared.clone(), verdict_fields(judgement, answer)])
        };
    let mut rows = Vec::new();
    for engine in &judgement.engines {
        let label = &engine.label;
        let names = [judgement.noun, label, "", ""];
        rows.push(row(names, [None; 2], &engine.whole));
        for (part, answer) in engine.parts.iter().flatten() {
            let names = ["part", label, &part.to_string(), ""];
            rows.push(row(names, [None; 2], answer));
        }
    }
    for case in &judgement.cases {
        let names = ["case", &case.label, "", &case.key];
        rows.push(row(names, case.values, &case.answer));
    }
    rows
}

/// Returns the fields of a change and its verdict.
fn verdict_fields(judgement: &Judgement, answer: &JudgedChange) -> Value {
    let change = answer.change;
    let reason = answer.verdict.reason();
    // An infinite end becomes `null`: JSON has no infinity.
    let pct = |fraction: f64| (fraction * 1e5).round() / 1e3;
    json!({
        "change_pct_low": change.map(|change| pct(change.low)),
        "change_pct_high": change.map(|change| pct(change.high)),
        "change_pct": change.map(|change| pct(change.estimate)),
        "p_value": change.filter(Change::is_testable).map(|change| change.p_value),
        "visible_pct": judgement.visible_in(answer).map(pct),
        "threshold_pct": judgement.question.threshold.percent(),
        "verdict": answer.verdict.word(judgement.question.by),
        "reason_code": reason.map(Obstacle::code).unwrap_or_default(),
        "reason": reason.map(Obstacle::to_string).unwrap_or_default(),
    })
}
