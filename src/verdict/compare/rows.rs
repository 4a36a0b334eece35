//! Results for programs: one row per engine, per part of an engine that did not change as a whole, and per case.
//! `null`: unknown, or not in this kind of row.

use serde_json::{Value, json};

use super::{Against, Change, Comparison, Measure, Options, Verdict, parts};
use crate::results::export::row_of;

/// Returns the rows: objects with the same keys.
pub fn rows(comparison: &Comparison) -> Vec<Value> {
    let files = comparison.files.iter();
    files.flat_map(|file| rows_of(comparison, file)).collect()
}

fn rows_of(comparison: &Comparison, file: &Against) -> Vec<Value> {
    let options = comparison.options;
    let row = |of: Value, judged: Value, part: &str| {
        let files = json!({ "base": comparison.base, "new": file.name });
        row_of(&[files, of, judged, json!({ "part": part })])
    };
    let engine = |kind: &str, label: &str, cases: Option<usize>, blocks: usize| {
        json!({
            "kind": kind, "label": label, "case": "", "cases": cases, "blocks": blocks,
            "by": options.by.name(), "measure": "ratio", "base_value": null, "new_value": null,
        })
    };
    let mut rows = Vec::new();
    for whole in &file.engines {
        let of = engine("engine", &whole.label, Some(whole.cases), whole.blocks);
        rows.push(row(of, judged(options, whole.change, &whole.verdict), ""));
        for part in &whole.parts {
            let of = engine("part", &whole.label, None, part.blocks);
            let judged = judged(options, Some(part.change), &part.verdict);
            rows.push(row(of, judged, &parts::place(&part.values)));
        }
    }
    for case in &file.cases {
        let mut of = engine("case", &case.label, Some(1), 1);
        of["case"] = json!(case.case);
        of["measure"] = json!(match case.measure {
            Some(Measure::Ratio) => "ratio",
            Some(Measure::Absolute) => "pps",
            None => "",
        });
        of["base_value"] = json!(case.base);
        of["new_value"] = json!(case.new);
        rows.push(row(of, judged(options, case.change, &case.verdict), ""));
    }
    rows
}

/// Returns the fields of a change and its verdict.
pub(crate) fn judged(options: Options, change: Option<Change>, verdict: &Verdict) -> Value {
    // An infinite end becomes `null`: JSON has no infinity.
    let pct = |of: fn(Change) -> f64| change.map(|change| (of(change) * 1e5).round() / 1e3);
    json!({
        "change_pct": pct(|change| change.estimate),
        "change_pct_low": pct(|change| change.low),
        "change_pct_high": pct(|change| change.high),
        "p_value": change.map(|change| change.p_value),
        "threshold_pct": options.threshold.percent(),
        "verdict": verdict.word(options.by),
        "reason": verdict.reason().unwrap_or_default(),
    })
}
