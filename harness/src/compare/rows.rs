//! The answers for programs: one row per engine, per part of one that did not change as a whole, and per case.

use serde::Serialize;

use super::{Against, Change, Comparison, EngineChange, Measure, PartChange, Verdict, parts};
use crate::export::csv;

/// One row. Empty: not known, or not of this kind.
#[derive(Debug, Default, Serialize)]
struct TableRow<'a> {
    base: &'a str,
    new: &'a str,
    kind: &'static str,
    label: &'a str,
    case: &'a str,
    cases: Option<usize>,
    blocks: usize,
    by: &'static str,
    measure: &'static str,
    base_value: Option<f64>,
    new_value: Option<f64>,
    change_pct: Option<f64>,
    change_pct_low: Option<f64>,
    change_pct_high: Option<f64>,
    p_value: Option<f64>,
    threshold_pct: f64,
    verdict: &'static str,
    reason: &'a str,
    part: String,
}

/// As CSV, with a header.
///
/// # Errors
/// None that is known: it is written to memory.
pub fn csv(comparison: &Comparison) -> anyhow::Result<String> {
    Ok(String::from_utf8(csv::shape(&rows(comparison))?)?)
}

/// As a JSON array.
///
/// # Errors
/// None that is known: it is written to memory.
pub fn json(comparison: &Comparison) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&rows(comparison))? + "\n")
}

fn rows(comparison: &Comparison) -> Vec<TableRow<'_>> {
    let files = comparison.files.iter();
    files.flat_map(|file| rows_of(comparison, file)).collect()
}

fn rows_of<'a>(comparison: &'a Comparison, file: &'a Against) -> Vec<TableRow<'a>> {
    let by = comparison.options.by;
    let row = |change: Option<Change>, verdict: &'a Verdict| TableRow {
        base: &comparison.base,
        new: &file.name,
        by: by.name(),
        change_pct: change.map(|change| percent(change.estimate)),
        change_pct_low: change.map(|change| percent(change.low)),
        change_pct_high: change.map(|change| percent(change.high)),
        p_value: change.map(|change| change.p_value),
        threshold_pct: comparison.options.threshold.percent(),
        verdict: verdict.word(by),
        reason: verdict.reason().unwrap_or_default(),
        ..TableRow::default()
    };
    let engine = |engine: &'a EngineChange| TableRow {
        kind: "engine",
        label: &engine.label,
        cases: Some(engine.cases),
        blocks: engine.blocks,
        measure: "ratio",
        ..row(engine.change, &engine.verdict)
    };
    let part = |engine: &'a EngineChange, part: &'a PartChange| TableRow {
        kind: "part",
        label: &engine.label,
        blocks: part.blocks,
        measure: "ratio",
        part: parts::place(&part.values),
        ..row(Some(part.change), &part.verdict)
    };
    let engines = file.engines.iter().flat_map(|whole| {
        let parts = whole.parts.iter().map(move |of| part(whole, of));
        std::iter::once(engine(whole)).chain(parts)
    });
    let cases = file.cases.iter().map(|case| TableRow {
        kind: "case",
        label: &case.label,
        case: &case.case,
        cases: Some(1),
        blocks: 1,
        measure: match case.measure {
            Some(Measure::Ratio) => "ratio",
            Some(Measure::Absolute) => "pps",
            None => "",
        },
        base_value: case.base,
        new_value: case.new,
        ..row(case.change, &case.verdict)
    });
    engines.chain(cases).collect()
}

fn percent(fraction: f64) -> f64 {
    (fraction * 1e5).round() / 1e3
}
