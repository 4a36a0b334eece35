//! Results for programs: one row per engine, part and case. `null`: unknown, or not in this kind of row.

use serde_json::{Value, json};

use super::judge::{Answer, Judgement};
use crate::results::export::row_of;
use crate::verdict::compare::rows::judged;
use crate::verdict::compare::{Options, place};

/// Returns the rows: objects with the same keys.
pub fn rows(judgement: &Judgement) -> Vec<Value> {
    let row = |kind, label: &str, answer: &Answer| row(judgement, kind, label, answer);
    let mut rows = Vec::new();
    for engine in &judgement.engines {
        rows.push(row("engine", &engine.label, &engine.all));
        for (part, answer) in engine.parts.iter().flatten() {
            let mut row = row("part", &engine.label, answer);
            row["part"] = json!(place(&[*part]));
            rows.push(row);
        }
    }
    for case in &judgement.cases {
        let mut row = row("case", &case.label, &case.answer);
        row["case"] = json!(case.key);
        row["a_value"] = json!(case.a);
        row["b_value"] = json!(case.b);
        rows.push(row);
    }
    rows
}

fn row(judgement: &Judgement, kind: &str, label: &str, answer: &Answer) -> Value {
    let (by, threshold) = (judgement.question.by, judgement.question.threshold);
    let of = json!({
        "kind": kind, "label": label, "part": "", "case": "", "cases": answer.cases,
        "rounds": judgement.rounds, "by": by.name(), "a_value": null, "b_value": null,
    });
    let judged = judged(Options { by, threshold }, answer.change, &answer.verdict);
    row_of(&[of, judged])
}
