//! Results for programs: a row for each case and setting. `null`: unknown.

use serde_json::{Value, json};

use super::{SettingEffect, Tuning, judge};
use crate::experiment::find::{Record, Search};
use crate::host::tuning::{Name, Setting, Tunings};
use crate::results::row::Failure;

pub(in crate::experiment::find) fn rows(record: &Record) -> Vec<Value> {
    let Tunings { tried, left_out } = record.header().tunings.clone().unwrap_or_default();
    let mut rows = Vec::new();
    for (case, answers) in record.cases().iter().zip(judge(record)) {
        let Search::Tuning(search) = &case.search else {
            continue;
        };
        for ((tuning, answer), series) in tried.iter().zip(answers).zip(search.series()) {
            let reason = series.given_up.as_ref().map(Failure::to_string);
            let reason = reason.or_else(|| case.refusal.clone());
            let found = answer.as_ref().map(|answer| (search, answer));
            let mut row = row(tuning.name, &tuning.settings, found);
            row["case"] = json!(case.case.key());
            row["rounds"] = json!(series.pairs.len());
            row["is_finished"] = json!(case.next().is_none());
            row["reason"] = json!(reason.unwrap_or_default());
            rows.push(row);
        }
    }
    for tuning in left_out {
        let mut row = row(tuning.name, &[], None);
        row["reason"] = json!(tuning.reason);
        rows.push(row);
    }
    rows
}

fn row(tuning: Name, settings: &[Setting], found: Option<(&Tuning, &SettingEffect)>) -> Value {
    let joined = |of: fn(&Setting) -> String| -> String {
        let all: Vec<String> = settings.iter().map(of).collect();
        all.join("; ")
    };
    let change = found.map(|(search, answer)| search.change_pct(answer));
    let is_time = found.is_some_and(|(search, _)| search.is_of_round_trips());
    let measured = if is_time { "round_trip_ns" } else { "pps" };
    let value = |ns: f64| if is_time { ns } else { 1e9 / ns }.round();
    json!({
        "case": "",
        "setting": tuning.text(),
        "places": joined(|it| it.location.to_string()),
        "set_before": joined(|it| it.before.clone()),
        "set_tried": joined(|it| it.tried.clone()),
        "measured": found.map_or("", |_| measured),
        "before_value": found.map(|(_, answer)| value(answer.before_ns)),
        "tried_value": found.map(|(_, answer)| value(answer.tried_ns)),
        "change_pct": change.map(|(pct, ..)| hundredths(pct)),
        "change_pct_low": change.map(|(_, low, _)| hundredths(low)),
        "change_pct_high": change.map(|(.., high)| hundredths(high)),
        "detectable_pct": found.and_then(|(_, answer)| answer.detectable_pct()).map(hundredths),
        "p_value": found.map(|(_, answer)| answer.p_value),
        "verdict": found.map_or("", |(_, answer)| answer.verdict.text()),
        "rounds": 0,
        "is_finished": true,
        "reason": "",
    })
}

fn hundredths(value: f64) -> f64 {
    (100.0 * value).round() / 100.0
}
