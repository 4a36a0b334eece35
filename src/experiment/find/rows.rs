//! Results for programs: a row per case, or per jump. `null`: unknown.

use serde_json::{Value, json};

use super::buffer_capacity::buffer_capacity;
use super::burst::{self, Burst};
use super::cliff::{Cliff, CliffQuestion, Jump};
use super::header::Question;
use super::idle::{Idle, IdleQuestion, Step};
use super::knee::{Gain, Knee, KneeQuestion};
use super::lossless::{self, Lossless};
use super::{Record, Search, Searched};
use crate::results::export::row_of;

/// Returns the rows of a search: objects with the same keys.
pub fn rows(record: &Record) -> Vec<Value> {
    let question = record.header().question;
    let rows = record.cases().iter().flat_map(|case| {
        let rows = match (&case.search, question) {
            (Search::Lossless(search), Question::Lossless(asked)) => {
                vec![lossless(case, search, asked)]
            }
            (Search::Burst(search), Question::Burst(asked)) => {
                vec![burst(record, case, search, asked)]
            }
            (Search::Cliff(search), Question::Cliff(asked)) => {
                or_none(&search.jumps(), |jump| cliff(search, jump, asked))
            }
            (Search::Idle(search), Question::Idle(asked)) => {
                or_none(&search.steps(), |step| idle(search, step, asked))
            }
            (Search::Knee(search), Question::Knee(asked)) => vec![knee(search, asked)],
            _ => Vec::new(),
        };
        rows.into_iter().map(|row| whole(case, row))
    });
    rows.collect()
}

/// Returns a row for each finding, or one row if nothing was found.
fn or_none<T>(found: &[T], row: impl Fn(Option<&T>) -> Value) -> Vec<Value> {
    if found.is_empty() {
        return vec![row(None)];
    }
    found.iter().map(Some).map(row).collect()
}

/// Puts the fields that every search has around the fields of one search.
fn whole(case: &Searched, row: Value) -> Value {
    let ended = json!({
        "trials": case.trials,
        "trials_s": rounded(case.time.as_secs_f64(), 1000.0),
        "is_finished": case.next().is_none(),
        "reason": case.refusal.as_deref().unwrap_or_default(),
    });
    row_of(&[json!({ "case": case.case.key() }), row, ended])
}

fn lossless(case: &Searched, search: &Lossless, asked: lossless::LosslessQuestion) -> Value {
    let found = search.found();
    let (low, high) = found.interval;
    let seen = search.seen();
    let cpu_times = search.cpu_times();
    json!({
        "goal_loss_pct": asked.goal_pct,
        "exceed_pct": asked.exceed_pct,
        "lossless_pps": found.load,
        "too_much_pps": found.too_much,
        "lossless_pps_low": low,
        "lossless_pps_high": high,
        "is_steady": search.is_steady(),
        "lowest_lossy_pps": seen.lost,
        "highest_passing_pps": seen.passed,
        "conditional_throughput_pps": found.throughput.map(|pps| rounded(pps, 10.0)),
        "limiting_place": case.search.limiting_place().unwrap_or_default(),
        "doubt": case.doubt().map_or_else(String::new, |doubt| doubt.to_string()),
        "cpu_ns_per_packet_p10": cpu_times.map(|times| times.low_ns.round()),
        "cpu_ns_per_packet_p90": cpu_times.map(|times| times.high_ns.round()),
    })
}

fn cliff(search: &Cliff, jump: Option<&Jump>, asked: CliffQuestion) -> Value {
    json!({
        "from_bytes": u32::from(asked.from),
        "to_bytes": u32::from(asked.to),
        "jump_at_bytes": jump.map(|jump| jump.at),
        "before_ns": jump.map(|jump| rounded(jump.before_ns, 10.0)),
        "behind_ns": jump.map(|jump| rounded(jump.after_ns, 10.0)),
        "change_pct": jump.map(|jump| pct(jump.after_ns / jump.before_ns - 1.0)),
        "change_pct_low": jump.map(|jump| pct(jump.interval.0)),
        "change_pct_high": jump.map(|jump| pct(jump.interval.1)),
        "detectable_pct": search.detectable().map(pct),
    })
}

fn idle(search: &Idle, step: Option<&Step>, asked: IdleQuestion) -> Value {
    let us = |ns: f64| rounded(ns / 1000.0, 100.0);
    let interval = step.and_then(|step| step.interval);
    let idle_share = step.and_then(|step| step.idle_state.as_ref());
    json!({
        "from_ns": asked.from.ns,
        "to_ns": asked.to.ns,
        "step_before_ns": step.map(|step| step.before.ns),
        "step_at_ns": step.map(|step| step.at.ns),
        "rtt_p50_us_before": step.and_then(|step| step.round_trip_ns.0).map(us),
        "rtt_p50_us_behind": step.and_then(|step| step.round_trip_ns.1).map(us),
        "change_pct_low": interval.map(|(low, _)| pct(low)),
        "change_pct_high": interval.map(|(_, high)| pct(high)),
        "detectable_pct": search.detectable().map(pct),
        "loss_pct_before": step.and_then(|step| step.loss.0).map(pct),
        "loss_pct_behind": step.and_then(|step| step.loss.1).map(pct),
        "idle_state": idle_share.map_or("", |share| share.name.as_str()),
    })
}

fn burst(record: &Record, case: &Searched, search: &Burst, asked: burst::BurstQuestion) -> Value {
    let found = search.found();
    let (low, high) = found.interval;
    json!({
        "pause_ms": rounded(1000.0 * asked.pause.as_secs_f64(), 1000.0),
        "longest_train_packets": found.load,
        "too_long_packets": found.too_much,
        "longest_train_packets_low": low,
        "longest_train_packets_high": high,
        "buffers_hold_packets": buffer_capacity(record.header(), &case.case, search.rcvbuf_bytes()),
        "limiting_place": case.search.limiting_place().unwrap_or_default(),
        "doubt": case.doubt().map_or_else(String::new, |doubt| doubt.to_string()),
    })
}

fn knee(search: &Knee, asked: KneeQuestion) -> Value {
    let found = search.found();
    let gain = |name: &str, gain: Option<Gain>| {
        let ends = gain.map(|gain| gain.interval);
        let known = |end: f64| end.is_finite().then(|| pct(end));
        json!({
            format!("{name}_pct"): gain.map(|gain| pct(gain.estimate)),
            format!("{name}_pct_low"): ends.and_then(|(low, _)| known(low)),
            format!("{name}_pct_high"): ends.and_then(|(_, high)| known(high)),
        })
    };
    let beyond = found.and_then(|found| found.beyond);
    row_of(&[
        json!({
            "parameter": search.call().name(),
            "measured": asked.by,
            "threshold_pct": asked.threshold_pct,
            "knee_packets": found.map(|found| found.knee),
            "knee_packets_low": found.map(|found| found.range.0),
            "knee_packets_high": found.map(|found| found.range.1),
            "knee_ns": found.map(|found| rounded(found.ns, 10.0)),
            "knee_loss_pct": found.and_then(|found| search.loss_pct(found.knee)).map(|pct| rounded(pct, 100.0)),
        }),
        gain("over_one", found.and_then(|found| found.over_one)),
        json!({ "beyond_packets": beyond.map(|gain| gain.at) }),
        gain("beyond", beyond),
        json!({ "rounds": search.rounds() }),
    ])
}

/// Converts a fraction to percent, rounded to hundredths.
fn pct(part: f64) -> f64 {
    rounded(100.0 * part, 100.0)
}

/// Rounds to a multiple of one over `parts`.
fn rounded(value: f64, parts: f64) -> f64 {
    (parts * value).round() / parts
}
