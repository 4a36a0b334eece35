//! The answers for programs: a row per case, or per jump.

use serde::Serialize;

use super::burst::{self, Burst};
use super::held::held;
use super::log::Question;
use super::lossless::{self, Lossless};
use super::{Record, Search, Searched, cliff, idle, knob};
use crate::export::csv;

/// Of a rate without loss. Empty: not known.
#[derive(Debug, Serialize)]
struct LosslessRow<'a> {
    case: String,
    goal_loss_pct: f64,
    exceed_pct: f64,
    lossless_pps: Option<u32>,
    too_much_pps: Option<u32>,
    lossless_pps_low: Option<u32>,
    lossless_pps_high: Option<u32>,
    conditional_throughput_pps: Option<f64>,
    gave_way: &'a str,
    doubt: String,
    cpu_ns_per_packet_p10: Option<f64>,
    cpu_ns_per_packet_p90: Option<f64>,
    trials: u64,
    trials_s: f64,
    is_finished: bool,
    reason: &'a str,
}

/// Of a jump. A case without one has a row of which these columns are empty.
#[derive(Debug, Serialize)]
struct CliffRow<'a> {
    case: String,
    from_bytes: u32,
    to_bytes: u32,
    jump_at_bytes: Option<u32>,
    before_ns: Option<f64>,
    behind_ns: Option<f64>,
    change_pct: Option<f64>,
    change_pct_low: Option<f64>,
    change_pct_high: Option<f64>,
    trials: u64,
    trials_s: f64,
    is_finished: bool,
    reason: &'a str,
}

/// Of a silence. A case without a step has a row of which these columns are empty.
#[derive(Debug, Serialize)]
struct IdleRow<'a> {
    case: String,
    from_ns: u64,
    to_ns: u64,
    step_before_ns: Option<u64>,
    step_at_ns: Option<u64>,
    rtt_p50_us_before: Option<f64>,
    rtt_p50_us_behind: Option<f64>,
    change_pct_low: Option<f64>,
    change_pct_high: Option<f64>,
    loss_pct_before: Option<f64>,
    loss_pct_behind: Option<f64>,
    idle_state: String,
    trials: u64,
    trials_s: f64,
    is_finished: bool,
    reason: &'a str,
}

/// Of a train. Empty: not known.
#[derive(Debug, Serialize)]
struct BurstRow<'a> {
    case: String,
    pause_ms: f64,
    longest_train_packets: Option<u32>,
    too_long_packets: Option<u32>,
    longest_train_packets_low: Option<u32>,
    longest_train_packets_high: Option<u32>,
    buffers_hold_packets: Option<u64>,
    gave_way: &'a str,
    doubt: String,
    trials: u64,
    trials_s: f64,
    is_finished: bool,
    reason: &'a str,
}

/// As CSV, with a header.
///
/// # Errors
/// None that is known: it is written to memory.
pub fn csv(record: &Record) -> anyhow::Result<String> {
    let bytes = match record.header().question {
        Question::Lossless(asked) => csv::shape(&lossless_rows(record, asked))?,
        Question::Cliff(asked) => csv::shape(&cliff_rows(record, asked))?,
        Question::Idle(asked) => csv::shape(&idle_rows(record, asked))?,
        Question::Burst(asked) => csv::shape(&burst_rows(record, asked))?,
        Question::Knob(_) => csv::shape(&knob::rows::rows(record))?,
    };
    Ok(String::from_utf8(bytes)?)
}

/// As a JSON array.
///
/// # Errors
/// None that is known: it is written to memory.
pub fn json(record: &Record) -> anyhow::Result<String> {
    let text = match record.header().question {
        Question::Lossless(asked) => serde_json::to_string_pretty(&lossless_rows(record, asked))?,
        Question::Cliff(asked) => serde_json::to_string_pretty(&cliff_rows(record, asked))?,
        Question::Idle(asked) => serde_json::to_string_pretty(&idle_rows(record, asked))?,
        Question::Burst(asked) => serde_json::to_string_pretty(&burst_rows(record, asked))?,
        Question::Knob(_) => serde_json::to_string_pretty(&knob::rows::rows(record))?,
    };
    Ok(text + "\n")
}

fn lossless_rows(record: &Record, asked: lossless::Asked) -> Vec<LosslessRow<'_>> {
    let mut rows = Vec::new();
    for case in record.cases() {
        if let Search::Lossless(search) = &case.search {
            rows.push(lossless_row(case, search, asked));
        }
    }
    rows
}

fn lossless_row<'a>(
    case: &'a Searched,
    search: &Lossless,
    asked: lossless::Asked,
) -> LosslessRow<'a> {
    let found = search.found();
    let (low, high) = found.interval;
    let cpu_times = search.cpu_times();
    let whole = |ns: f64| rounded(ns, 1.0);
    LosslessRow {
        case: case.case.key(),
        goal_loss_pct: asked.goal_pct,
        exceed_pct: asked.exceed_pct,
        lossless_pps: found.load,
        too_much_pps: found.too_much,
        lossless_pps_low: low,
        lossless_pps_high: high,
        conditional_throughput_pps: found.throughput.map(|pps| rounded(pps, 10.0)),
        gave_way: search.gave_way().unwrap_or_default(),
        doubt: search
            .doubt()
            .map_or_else(String::new, |doubt| doubt.to_string()),
        cpu_ns_per_packet_p10: cpu_times.map(|times| whole(times.low_ns)),
        cpu_ns_per_packet_p90: cpu_times.map(|times| whole(times.high_ns)),
        trials: case.trials,
        trials_s: rounded(case.time.as_secs_f64(), 1000.0),
        is_finished: case.next().is_none(),
        reason: case.refusal.as_deref().unwrap_or_default(),
    }
}

fn cliff_rows(record: &Record, asked: cliff::Asked) -> Vec<CliffRow<'_>> {
    let mut rows = Vec::new();
    for case in record.cases() {
        if let Search::Cliff(search) = &case.search {
            let jumps = search.jumps();
            let none = jumps.is_empty().then_some(None);
            let row = |jump| cliff_row(case, jump, asked);
            rows.extend(jumps.into_iter().map(Some).chain(none).map(row));
        }
    }
    rows
}

fn cliff_row(case: &Searched, jump: Option<cliff::Jump>, asked: cliff::Asked) -> CliffRow<'_> {
    let pct = |part: f64| rounded(100.0 * part, 100.0);
    CliffRow {
        case: case.case.key(),
        from_bytes: asked.from.into(),
        to_bytes: asked.to.into(),
        jump_at_bytes: jump.map(|jump| jump.at),
        before_ns: jump.map(|jump| rounded(jump.before_ns, 10.0)),
        behind_ns: jump.map(|jump| rounded(jump.behind_ns, 10.0)),
        change_pct: jump.map(|jump| pct(jump.behind_ns / jump.before_ns - 1.0)),
        change_pct_low: jump.map(|jump| pct(jump.interval.0)),
        change_pct_high: jump.map(|jump| pct(jump.interval.1)),
        trials: case.trials,
        trials_s: rounded(case.time.as_secs_f64(), 1000.0),
        is_finished: case.next().is_none(),
        reason: case.refusal.as_deref().unwrap_or_default(),
    }
}

fn idle_rows(record: &Record, asked: idle::Asked) -> Vec<IdleRow<'_>> {
    let mut rows = Vec::new();
    for case in record.cases() {
        if let Search::Idle(search) = &case.search {
            let steps = search.steps();
            let none = steps.is_empty().then_some(None);
            let row = |step: Option<&idle::Step>| idle_row(case, step, asked);
            rows.extend(steps.iter().map(Some).chain(none).map(row));
        }
    }
    rows
}

fn idle_row<'a>(case: &'a Searched, step: Option<&idle::Step>, asked: idle::Asked) -> IdleRow<'a> {
    let pct = |part: f64| rounded(100.0 * part, 100.0);
    let us = |ns: f64| rounded(ns / 1000.0, 100.0);
    IdleRow {
        case: case.case.key(),
        from_ns: asked.from.ns,
        to_ns: asked.to.ns,
        step_before_ns: step.map(|step| step.before.ns),
        step_at_ns: step.map(|step| step.at.ns),
        rtt_p50_us_before: step.and_then(|step| step.round_trip_ns.0.map(us)),
        rtt_p50_us_behind: step.and_then(|step| step.round_trip_ns.1.map(us)),
        change_pct_low: step.and_then(|step| step.interval.map(|(low, _)| pct(low))),
        change_pct_high: step.and_then(|step| step.interval.map(|(_, high)| pct(high))),
        loss_pct_before: step.map(|step| pct(step.loss.0)),
        loss_pct_behind: step.map(|step| pct(step.loss.1)),
        idle_state: step
            .and_then(|step| step.idle_state.as_ref())
            .map_or_else(String::new, |entered| entered.name.clone()),
        trials: case.trials,
        trials_s: rounded(case.time.as_secs_f64(), 1000.0),
        is_finished: case.next().is_none(),
        reason: case.refusal.as_deref().unwrap_or_default(),
    }
}

fn burst_rows(record: &Record, asked: burst::Asked) -> Vec<BurstRow<'_>> {
    let mut rows = Vec::new();
    for case in record.cases() {
        if let Search::Burst(search) = &case.search {
            rows.push(burst_row(record, case, search, asked));
        }
    }
    rows
}

fn burst_row<'a>(
    record: &Record,
    case: &'a Searched,
    search: &Burst,
    asked: burst::Asked,
) -> BurstRow<'a> {
    let found = search.found();
    let (low, high) = found.interval;
    BurstRow {
        case: case.case.key(),
        pause_ms: rounded(1000.0 * asked.pause.as_secs_f64(), 1000.0),
        longest_train_packets: found.load,
        too_long_packets: found.too_much,
        longest_train_packets_low: low,
        longest_train_packets_high: high,
        buffers_hold_packets: held(record.header(), &case.case, search.rcvbuf_bytes()),
        gave_way: search.gave_way().unwrap_or_default(),
        doubt: search
            .doubt()
            .map_or_else(String::new, |doubt| doubt.to_string()),
        trials: case.trials,
        trials_s: rounded(case.time.as_secs_f64(), 1000.0),
        is_finished: case.next().is_none(),
        reason: case.refusal.as_deref().unwrap_or_default(),
    }
}

/// To a part of so many.
fn rounded(value: f64, parts: f64) -> f64 {
    (parts * value).round() / parts
}
