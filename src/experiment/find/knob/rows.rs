//! Results for programs: a row for each case and setting. `null`: unknown.

use serde_json::{Value, json};

use super::{Answer, Knob, judge};
use crate::experiment::find::{Record, Search};
use crate::host::knob::{Knobs, Name, Setting};

pub(in crate::experiment::find) fn rows(record: &Record) -> Vec<Value> {
    let Knobs { tried, left_out } = record.header().knobs.clone().unwrap_or_default();
    let mut rows = Vec::new();
    for (case, answers) in record.cases().iter().zip(judge(record)) {
        let Search::Knob(search) = &case.search else {
            continue;
        };
        for ((knob, answer), series) in tried.iter().zip(answers).zip(search.series()) {
            let reason = series.given_up.as_ref().or(case.refusal.as_ref());
            let found = answer.as_ref().map(|answer| (search, answer));
            let mut row = row(knob.name, &knob.settings, found);
            row["case"] = json!(case.case.key());
            row["rounds"] = json!(series.pairs.len());
            row["is_finished"] = json!(case.next().is_none());
            row["reason"] = json!(reason.map_or("", String::as_str));
            rows.push(row);
        }
    }
    for knob in left_out {
        let mut row = row(knob.name, &[], None);
        row["reason"] = json!(knob.reason);
        rows.push(row);
    }
    rows
}

fn row(knob: Name, settings: &[Setting], found: Option<(&Knob, &Answer)>) -> Value {
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
        "knob": knob.text(),
        "places": joined(|it| it.place.to_string()),
        "set_before": joined(|it| it.before.clone()),
        "set_tried": joined(|it| it.tried.clone()),
        "measured": found.map_or("", |_| measured),
        "before_value": found.map(|(_, answer)| value(answer.before_ns)),
        "tried_value": found.map(|(_, answer)| value(answer.tried_ns)),
        "change_pct": change.map(|(pct, ..)| hundredths(pct)),
        "change_pct_low": change.map(|(_, low, _)| hundredths(low)),
        "change_pct_high": change.map(|(.., high)| hundredths(high)),
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
