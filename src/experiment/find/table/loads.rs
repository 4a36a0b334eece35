//! Table, answer and notes of a search for the highest rate without loss, or for the longest train.

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::super::header::{BurstQuestion, LosslessQuestion};
use super::super::lossless::Lossless;
use super::super::{Record, Search, SearchedCase};
use super::quality::RateQuality;
use super::{labelled, mark, or_dash, searched};
use crate::term::table::{Columns, Table};
use crate::text::duration;

/// Case with its search.
type LoadResult<'a> = (&'a SearchedCase, &'a Lossless);

pub(super) fn table(record: &Record) -> Table {
    let names = record.names();
    let is_rate = cases(record).any(|(case, _)| is_rate(case));
    let [load, range, with] = if is_rate {
        ["lossless\nk/s", "95 % interval\nk/s", "arrives\nMb/s"]
    } else {
        [
            "longest train\ndatagrams",
            "95 % interval\ndatagrams",
            "buffers\nhold",
        ]
    };
    let columns = Columns::<LoadResult>::default()
        .word("engine", |(case, _)| case.case.label())
        .word("at", |(case, _)| names.own(&case.case))
        .number(load, |&(case, search)| {
            let found = search.found();
            if !is_rate && search.next().is_none() && found.too_much.is_none() {
                return "any".to_owned();
            }
            number((case, search), found.load) + mark(case)
        })
        .number(range, |it| interval(*it))
        .spare(1, with, |&(case, search)| {
            if is_rate {
                return or_dash(mbits((case, search)).map(|mbits| format!("{mbits:.1}")));
            }
            let header = &record.header;
            or_dash(header.buffer_capacity(&case.case, search.rcvbuf_bytes))
        })
        .word("quality", |(case, _)| {
            let name = is_rate.then(|| RateQuality::of(record, case).name());
            name.unwrap_or_default().to_owned()
        })
        .word("limit", |(case, _)| or_dash(record.limit(case)));
    let cases: Vec<LoadResult> = cases(record).collect();
    columns.known_of(&cases).table(cases)
}

fn cases(record: &Record) -> impl Iterator<Item = LoadResult<'_>> {
    searched(record).filter_map(|case| Some((case, case.search.of_loads()?)))
}

fn is_rate(case: &SearchedCase) -> bool {
    matches!(case.search, Search::Lossless(_))
}

/// Returns the payload that arrives per second at the highest rate without loss, in megabits.
fn mbits((case, search): LoadResult) -> Option<f64> {
    let bits = 8.0 * f64::from(u32::from(case.case.payload));
    search.found().throughput.map(|pps| pps * bits / 1e6)
}

/// Returns the interval, or the reason why there is none.
fn interval((case, search): LoadResult) -> String {
    let text = |load| number((case, search), load);
    match search.found().interval {
        (None, None) if case.trials == 0 => "not begun".to_owned(),
        (None, None) if !search.load_search.is_steady() => "not steady".to_owned(),
        (None, None) => "none yet".to_owned(),
        (low, None) => format!("at least {}", text(low)),
        (None, high) => format!("at most {}", text(high)),
        (low, high) => format!("{} to {}", text(low), text(high)),
    }
}

/// Returns a rate in thousands, or the length of a train. The highest rate without loss decides the number of decimals.
fn number((case, search): LoadResult, load: Option<u32>) -> String {
    if !is_rate(case) {
        return or_dash(load);
    }
    let decimals = match search.found().load {
        Some(found) if found >= 100_000 => 0,
        Some(found) if found >= 10_000 => 1,
        _ => 3,
    };
    or_dash(load.map(|load| format!("{:.decimals$}", f64::from(load) / 1000.0)))
}

/// Returns the closing lines: the engine with the highest rate at each payload. Empty if no case is searched.
pub(super) fn answer(record: &Record) -> String {
    let names = record.names();
    let found = cases(record).filter(|(_, search)| search.found().load.is_some());
    let mut found: Vec<LoadResult> = found.collect();
    found.sort_by_key(|(_, search)| Reverse(search.found().load));
    let mut answered: Vec<String> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for &fastest in &found {
        let own = names.own(&fastest.0.case);
        if !answered.contains(&own) {
            let alike = found.iter().filter(|it| names.own(&it.0.case) == own);
            let ties = alike.filter(|other| may_be_as_fast(**other, fastest));
            let ties: Vec<String> = ties.map(|(other, _)| other.case.label()).collect();
            lines.push(format!("{own}: {}", described(record, fastest, &ties)));
            answered.push(own);
        }
    }
    if lines.is_empty() && searched(record).next().is_some() {
        lines.push("no rate is found yet".to_owned());
    }
    let mut text = String::new();
    labelled(&mut text, "lossless", lines);
    text
}

/// Describes the fastest case at its settings: its rate, the cases that are not slower for sure, and its limit.
fn described(record: &Record, (case, search): LoadResult, ties: &[String]) -> String {
    let rate = number((case, search), search.found().load) + mark(case);
    let mut text = format!("{}, {rate} k/s", case.case.label());
    if let Some(mbits) = mbits((case, search)) {
        let _ = write!(text, " ({mbits:.0} Mb/s)");
    }
    if case.next().is_some() {
        text += " so far, not confirmed";
    }
    if !ties.is_empty() {
        let _ = write!(text, "; may be as fast: {}", ties.join(", "));
    }
    if let Some(limit) = record.limit(case) {
        let _ = write!(text, "; limit: {limit}");
    }
    text
}

/// Returns whether a case is another one, and not slower for sure. Where an interval has no end, the lowest rate that
/// lost counts, and the highest that passed.
fn may_be_as_fast((other, of_other): LoadResult, (case, search): LoadResult) -> bool {
    let low = search.found().interval.0.or(search.load_search.seen().0);
    let high = of_other.found().interval.1;
    let high = high.or(of_other.load_search.seen().1);
    other.case != case.case && low.zip(high).is_none_or(|(low, high)| high >= low)
}

/// Returns the bounds of a search that is not finished.
pub(super) fn so_far(case: &SearchedCase) -> String {
    let Some(search) = case.search.of_loads() else {
        return String::new();
    };
    let (found, text) = (search.found(), |load| number((case, search), load));
    let unit = if is_rate(case) { "k/s" } else { "datagrams" };
    let bounds = match (found.load, found.too_much) {
        (None, None) => return String::new(),
        (low, None) => format!("at least {}", text(low)),
        (None, high) => format!("less than {}", text(high)),
        (low, high) => format!("from {} to {}", text(low), text(high)),
    };
    format!("; so far, not confirmed: {bounds} {unit}")
}

/// Returns a note on each case whose capacity or limiting CPU was not the same in all trials.
pub(super) fn notes(record: &Record) -> String {
    let (names, mut notes) = (record.names(), String::new());
    let unsteady =
        cases(record).filter(|(case, search)| is_rate(case) && !search.load_search.is_steady());
    for (case, search) in unsteady {
        let (lost, passed) = search.load_search.seen();
        let [lost, passed] = [lost, passed].map(|load| number((case, search), load));
        let times = search.load_search.cpu_times();
        let times = times.filter(|times| !times.are_steady()).map(|times| {
            let (low, high) = (times.low_ns / 1e3, times.high_ns / 1e3);
            format!(", the CPU that is the limit took {low:.2} to {high:.2} us for the same work")
        });
        let _ = writeln!(
            notes,
            "\n{}: not steady, so there is no interval: {lost} k/s lost, {passed} k/s passed{}. Where something else uses \
             its core, or its clock changes, another search finds another rate.",
            names.name(&case.case),
            times.unwrap_or_default()
        );
    }
    notes
}

pub(super) fn legend(asked: LosslessQuestion) -> String {
    format!(
        "\nlossless: the highest rate, in thousands of datagrams or requests per second, at which in no more than {} % of \
         the trials more than {} % are lost, within {} %: trials of {}, {} of them just below it and just above it (RFC \
         9971), both tried again over {}. 95 % interval: in 95 of 100 searches or more it holds that rate. not steady: \
         good and bad trials came in runs, or the CPU was not equally fast. limit: where most was lost just above the \
         rate.\n",
        asked.exceed_pct,
        asked.goal_pct,
        asked.width_pct,
        duration::text(asked.trial),
        duration::text(asked.sum),
        duration::text(asked.recheck),
    )
}

pub(super) fn legend_of_trains(asked: BurstQuestion) -> String {
    format!(
        "\nlongest train: the most datagrams or requests, sent back to back every {}, of which none is lost in more than half of \
         the trials, within {} %: trials of {}, {} of them just below it and just above it (RFC 9004, searched as in RFC 9971). buffers \
         hold: as many fit into the receive buffer, or into the token bucket at the sender's interface, as far as these are \
         known, if nobody takes any out meanwhile. any: a sender that goes on until the next train is due loses none; a full send \
         buffer holds it back, too. limit: where most was lost of trains just longer.\n",
        duration::text(asked.pause),
        asked.width_pct,
        duration::text(asked.trial),
        duration::text(asked.sum),
    )
}
