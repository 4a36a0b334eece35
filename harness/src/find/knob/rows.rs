//! The answers for programs: a row for each case and setting.

use serde::Serialize;

use super::judge;
use crate::find::{Record, Search};
use crate::platform::knob::{Knob, Knobs};

/// Empty: not known.
#[derive(Debug, Default, Serialize)]
pub(in crate::find) struct Row {
    case: String,
    knob: &'static str,
    places: String,
    set_before: String,
    set_tried: String,
    measured: &'static str,
    before_value: Option<f64>,
    tried_value: Option<f64>,
    change_pct: Option<f64>,
    change_pct_low: Option<f64>,
    change_pct_high: Option<f64>,
    p_value: Option<f64>,
    verdict: &'static str,
    rounds: usize,
    is_finished: bool,
    reason: String,
}

pub(in crate::find) fn rows(record: &Record) -> Vec<Row> {
    let Knobs { tried, left_out } = record.header().knobs.clone().unwrap_or_default();
    let mut rows = Vec::new();
    for (case, answers) in record.cases().iter().zip(judge(record)) {
        let Search::Knob(search) = &case.search else {
            continue;
        };
        for ((knob, answer), series) in tried.iter().zip(answers).zip(search.series()) {
            let reason = series.given_up.as_ref().or(case.refusal.as_ref());
            let mut row = Row {
                case: case.case.key(),
                is_finished: case.next().is_none(),
                reason: reason.cloned().unwrap_or_default(),
                rounds: series.pairs.len(),
                ..of_knob(knob)
            };
            if let Some(answer) = answer {
                let (change, low, high) = search.change_pct(&answer);
                let (measured, before, tried) = if search.is_of_round_trips() {
                    ("round_trip_ns", answer.before_ns, answer.tried_ns)
                } else {
                    ("pps", 1e9 / answer.before_ns, 1e9 / answer.tried_ns)
                };
                row.measured = measured;
                row.before_value = Some(before.round());
                row.tried_value = Some(tried.round());
                row.change_pct = number(change);
                row.change_pct_low = number(low);
                row.change_pct_high = number(high);
                row.p_value = Some(answer.p_value);
                row.verdict = answer.verdict.text();
            }
            rows.push(row);
        }
    }
    rows.extend(left_out.into_iter().map(|knob| Row {
        knob: knob.name.text(),
        is_finished: true,
        reason: knob.reason,
        ..Row::default()
    }));
    rows
}

fn of_knob(knob: &Knob) -> Row {
    let joined = |texts: Vec<String>| texts.join("; ");
    let settings = || knob.settings.iter();
    Row {
        knob: knob.name.text(),
        places: joined(settings().map(|it| it.place.to_string()).collect()),
        set_before: joined(settings().map(|it| it.before.clone()).collect()),
        set_tried: joined(settings().map(|it| it.tried.clone()).collect()),
        ..Row::default()
    }
}

/// In percent, to a hundredth.
fn number(value: f64) -> Option<f64> {
    value.is_finite().then(|| (100.0 * value).round() / 100.0)
}
