//! Results for programs: a row per case, or per step. `null`: unknown.

use serde_json::{Value, json};

use super::axis::{AxisQuestion, AxisSearch, Finding, TimeChange};
use super::header::{BurstQuestion, LosslessQuestion, SearchQuestion};
use super::lossless::Lossless;
use super::{Record, Search, SearchedCase};
use crate::results::export::row_of;

/// Returns the rows of a search: objects with the same keys.
pub fn rows(record: &Record) -> Vec<Value> {
    let question = record.header.question;
    let rows = record.cases.iter().flat_map(|case| {
        let rows = match (&case.search, question) {
            (Search::Lossless(search), SearchQuestion::Lossless(asked)) => {
                vec![lossless(case, search, asked)]
            }
            (Search::Burst(search), SearchQuestion::Burst(asked)) => {
                vec![burst(record, case, search, asked)]
            }
            (Search::Axis(search), SearchQuestion::Axis(asked)) => {
                let found = search.found_or_none().into_iter();
                found
                    .map(|found| axis(search, found.as_ref(), asked))
                    .collect()
            }
            _ => Vec::new(),
        };
        rows.into_iter().map(|row| whole(case, row))
    });
    rows.collect()
}

/// Puts the fields that every search has around the fields of one search.
fn whole(case: &SearchedCase, row: Value) -> Value {
    let ended = json!({
        "trials": case.trials,
        "trials_s": rounded(case.time.as_secs_f64(), 1000.0),
        "is_finished": case.next().is_none(),
        "reason": case.refusal.as_deref().unwrap_or_default(),
    });
    row_of(&[json!({ "case": case.case.key() }), row, ended])
}

fn lossless(case: &SearchedCase, search: &Lossless, asked: LosslessQuestion) -> Value {
    let found = search.found();
    let (low, high) = found.interval;
    let (lost, passed) = search.load_search.seen();
    let cpu_times = search.load_search.cpu_times();
    json!({
        "goal_loss_pct": asked.goal_pct,
        "exceed_pct": asked.exceed_pct,
        "lossless_pps": found.load,
        "too_much_pps": found.too_much,
        "lossless_pps_low": low,
        "lossless_pps_high": high,
        "is_steady": search.load_search.is_steady(),
        "lowest_lossy_pps": lost,
        "highest_passing_pps": passed,
        "conditional_throughput_pps": found.throughput.map(|pps| rounded(pps, 10.0)),
        "limiting_place": search.load_search.limiting_place().unwrap_or_default(),
        "doubt": case.doubt().map(|doubt| doubt.why).unwrap_or_default(),
        "cpu_ns_per_packet_p10": cpu_times.map(|times| times.low_ns.round()),
        "cpu_ns_per_packet_p90": cpu_times.map(|times| times.high_ns.round()),
    })
}

fn axis(search: &AxisSearch, found: Option<&Finding>, asked: AxisQuestion) -> Value {
    let change = |name: &str, change: Option<TimeChange>| {
        let ends = change.map(|change| change.interval);
        let known = |end: f64| end.is_finite().then(|| pct(end));
        json!({
            format!("{name}_pct"): change.map(|change| pct(change.estimate)),
            format!("{name}_pct_low"): ends.and_then(|(low, _)| known(low)),
            format!("{name}_pct_high"): ends.and_then(|(_, high)| known(high)),
        })
    };
    let ns = |ns: f64| rounded(ns, 10.0);
    let idle_state = found.and_then(|found| found.idle_state.as_ref());
    let beyond = found.and_then(|found| found.beyond);
    row_of(&[
        json!({
            "parameter": search.parameter(),
            "from": search.range().0,
            "to": search.range().1,
            "measured": asked.by,
            "threshold_pct": asked.threshold_pct,
            "found_at": found.map(|found| found.at),
            "found_low": found.map(|found| found.range.0),
            "found_high": found.map(|found| found.range.1),
            "before_ns": found.and_then(|found| found.ns.0).map(ns),
            "behind_ns": found.and_then(|found| found.ns.1).map(ns),
        }),
        change("change", found.and_then(|found| found.change)),
        json!({
            "loss_pct_before": found.and_then(|found| found.loss.0).map(pct),
            "loss_pct_behind": found.and_then(|found| found.loss.1).map(pct),
            "idle_state": idle_state.map_or("", |share| share.name.as_str()),
            "beyond_at": beyond.map(|(at, _)| at),
        }),
        change("beyond", beyond.map(|(_, change)| change)),
        json!({ "detectable_pct": search.detectable().map(pct), "rounds": search.rounds() }),
    ])
}

fn burst(record: &Record, case: &SearchedCase, search: &Lossless, asked: BurstQuestion) -> Value {
    let found = search.found();
    let (low, high) = found.interval;
    json!({
        "pause_ms": rounded(1000.0 * asked.pause.as_secs_f64(), 1000.0),
        "longest_train_packets": found.load,
        "too_long_packets": found.too_much,
        "longest_train_packets_low": low,
        "longest_train_packets_high": high,
        "buffers_hold_packets": record.header.buffer_capacity(&case.case, search.rcvbuf_bytes),
        "limiting_place": search.load_search.limiting_place().unwrap_or_default(),
        "doubt": case.doubt().map(|doubt| doubt.why).unwrap_or_default(),
    })
}

/// Converts a fraction to percent, rounded to hundredths.
fn pct(part: f64) -> f64 {
    rounded(100.0 * part, 100.0)
}

/// Rounds to a multiple of one over `parts`.
fn rounded(value: f64, parts: f64) -> f64 {
    (parts * value).round() / parts
}
