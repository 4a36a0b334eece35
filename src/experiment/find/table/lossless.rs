//! Table, answer and notes of a search for the highest rate without loss.

use std::fmt::Write as _;

use super::super::lossless::{Lossless, LosslessQuestion};
use super::super::names::Names;
use super::super::{Record, Search, Searched};
use super::quality::{self, Quality};
use super::{bounds_so_far, grouped, labelled, mark, or_dash, searched};
use crate::results::command_line::CommandLine;
use crate::term::table::{Columns, Table};
use crate::text::duration;

pub(super) fn table(record: &Record) -> Table {
    let names = record.names();
    let columns = Columns::<(&Searched, &Lossless)>::default()
        .word("engine", |(case, _)| case.case.label())
        .word("at", |(case, _)| names.own(&case.case))
        .number("lossless\nk/s", |(case, search)| {
            thousands(search.found().load, search) + mark(case)
        })
        .number("95 % interval\nk/s", |(case, search)| {
            interval(case, search)
        })
        .spare(1, "arrives\nMb/s", |(case, search)| {
            or_dash(mbits(case, search).map(|mbits| format!("{mbits:.1}")))
        })
        .word("quality", |(case, search)| {
            Quality::of(record, case, search).name().to_owned()
        })
        .word("limit", |(case, _)| or_dash(record.limit(case)));
    columns.table(cases(record))
}

fn cases(record: &Record) -> impl Iterator<Item = (&Searched, &Lossless)> {
    searched(record).filter_map(|case| match &case.search {
        Search::Lossless(search) => Some((case, search)),
        _ => None,
    })
}

/// Returns the payload that arrives per second at the highest rate without loss, in megabits.
fn mbits(case: &Searched, search: &Lossless) -> Option<f64> {
    let bits = 8.0 * f64::from(u32::from(case.case.payload));
    search.found().throughput.map(|pps| pps * bits / 1e6)
}

/// Returns the interval, or the reason why there is none.
fn interval(case: &Searched, search: &Lossless) -> String {
    if !search.load_search.is_steady() {
        return "not steady".to_owned();
    }
    match search.found().interval {
        (None, None) if case.trials == 0 => "not begun".to_owned(),
        (None, None) => "none yet".to_owned(),
        (Some(low), None) => format!("at least {}", thousands(Some(low), search)),
        (None, Some(high)) => format!("at most {}", thousands(Some(high), search)),
        (low, high) => format!("{} to {}", thousands(low, search), thousands(high, search)),
    }
}

/// Returns a load in thousands. The highest load without loss decides the number of decimals.
fn thousands(load: Option<u32>, search: &Lossless) -> String {
    let decimals = match search.found().load {
        Some(found) if found >= 100_000 => 0,
        Some(found) if found >= 10_000 => 1,
        _ => 3,
    };
    or_dash(load.map(|load| format!("{:.decimals$}", f64::from(load) / 1000.0)))
}

/// Returns the closing lines: the engine with the highest rate at each payload, the quality, and the next step. Empty
/// if no case is searched.
pub(super) fn answer(record: &Record) -> String {
    let names = record.names();
    let mut found: Vec<_> = cases(record)
        .filter(|(_, search)| search.found().load.is_some())
        .collect();
    found.sort_by_key(|(_, search)| std::cmp::Reverse(search.found().load));
    let mut text = String::new();
    let mut answered: Vec<String> = Vec::new();
    for &(case, search) in &found {
        let own = names.own(&case.case);
        if !answered.contains(&own) {
            let label = if answered.is_empty() { "lossless" } else { "" };
            let fastest = fastest(record, &found, (case, search));
            let _ = writeln!(text, "{label:<8}  {own}: {fastest}");
            answered.push(own);
        }
    }
    if cases(record).next().is_none() {
        return text;
    }
    if text.is_empty() {
        text += "lossless  no rate is found yet\n";
    }
    text + &quality_and_next(record, &names)
}

/// Describes the fastest case at its settings: its rate, the cases that are not slower for sure, and its limit.
fn fastest(
    record: &Record,
    found: &[(&Searched, &Lossless)],
    (case, search): (&Searched, &Lossless),
) -> String {
    let names = record.names();
    let rate = thousands(search.found().load, search) + mark(case);
    let (at_least, so_far) = match case.next() {
        Some(_) => ("perhaps ", " so far, not confirmed"),
        None => ("", ""),
    };
    let mut text = format!("{}, {at_least}{rate} k/s", case.case.label());
    if let Some(mbits) = mbits(case, search) {
        let _ = write!(text, " ({mbits:.0} Mb/s)");
    }
    text += so_far;
    let ties = ties(&names, found, (case, search));
    if !ties.is_empty() {
        let _ = write!(text, "; may be as fast: {}", ties.join(", "));
    }
    if let Some(limit) = record.limit(case) {
        let _ = write!(text, "; limit: {limit}");
    }
    text
}

/// Returns the cases at the settings of this one that are not slower for sure.
fn ties(
    names: &Names,
    found: &[(&Searched, &Lossless)],
    (case, search): (&Searched, &Lossless),
) -> Vec<String> {
    let low = reach(search).0;
    let ties = found.iter().filter(|(other, of_other)| {
        let is_slower = low.zip(reach(of_other).1);
        other.case != case.case
            && names.own(&other.case) == names.own(&case.case)
            // An interval without this end reaches everything.
            && is_slower.is_none_or(|(low, high)| high >= low)
    });
    ties.map(|(other, _)| other.case.label()).collect()
}

/// Returns the interval or, where it has no end, the lowest rate that lost and the highest that passed.
fn reach(search: &Lossless) -> (Option<u32>, Option<u32>) {
    let ((low, high), seen) = (search.found().interval, search.load_search.seen());
    (low.or(seen.lost), high.or(seen.passed))
}

fn quality_and_next(record: &Record, names: &Names) -> String {
    let cases = cases(record);
    let grades = cases.map(|(case, search)| (Quality::of(record, case, search), &case.case));
    let grades = grouped(grades.map(|(quality, case)| (quality, names.name(case))));
    let mut text = String::new();
    let graded = grades.iter().map(|(quality, of)| {
        let reasons = quality.reasons();
        let gap = if reasons.is_empty() { "" } else { ": " };
        format!("{}{of}{gap}{reasons}", quality.name())
    });
    labelled(&mut text, "quality", graded);
    // The command that resumes an interrupted search follows, and is its only next step.
    if !record.is_interrupted() {
        let mut fixes = quality::next(record, grades.iter().map(|(quality, _)| quality));
        fixes.extend(over_a_cable(record));
        labelled(&mut text, "next", fixes);
    }
    text
}

/// Returns the lines that advise the same search over a cable. Empty: it was over a wire, no rate was found, or what was
/// searched does not go between hosts.
fn over_a_cable(record: &Record) -> Vec<String> {
    let header = record.header();
    let is_found = cases(record).any(|(_, search)| search.found().load.is_some());
    let is_local = cases(record).any(|(case, _)| case.case.transport.is_some());
    if header.wire.is_some() || !is_found || is_local {
        return Vec::new();
    }
    let mut senders = cases(record).map(|(case, _)| case.case.sender);
    let most = if senders.any(|sender| sender.as_str() == "gso") {
        ", most of all of gso"
    } else {
        ""
    };
    let is_too_short = cases(record).any(|(case, _)| case.next().is_some());
    let limit = is_too_short.then(|| ("--max-case-time", duration::text(record.enough_time())));
    let command = CommandLine(&header.run.command_line).find_lossless(limit.as_slice());
    vec![
        format!("over a cable to HOST the rates differ{most}:"),
        format!("udpbench wire HOST --deploy {command}"),
    ]
}

/// Returns the bounds of a search that is not finished.
pub(super) fn so_far(search: &Lossless) -> String {
    bounds_so_far(search.found(), |load| {
        format!("{} k/s", thousands(Some(load), search))
    })
}

/// Returns a note on the cases whose capacity or limiting CPU was not the same in all trials. Empty: there are none.
pub(super) fn notes(record: &Record) -> String {
    let names = record.names();
    let cases = cases(record).filter(|(_, search)| !search.load_search.is_steady());
    let cases = cases.map(|(case, search)| {
        let seen = search.load_search.seen();
        let (lost, passed) = (thousands(seen.lost, search), thousands(seen.passed, search));
        let name = names.name(&case.case);
        let mut text = format!("{name}: {lost} k/s lost, {passed} k/s passed");
        if let Some(times) = search
            .load_search
            .cpu_times()
            .filter(|times| !times.are_steady())
        {
            let (low, high) = (times.low_ns / 1e3, times.high_ns / 1e3);
            let _ = write!(
                text,
                ", the CPU that is the limit took {low:.2} to {high:.2} us for the same work"
            );
        }
        text
    });
    let cases: Vec<String> = cases.collect();
    if cases.is_empty() {
        return String::new();
    }
    format!(
        "\nNot steady, so there is no interval: {}. Where something else uses its core, or its clock changes, another search \
         finds another rate.\n",
        cases.join("; ")
    )
}

pub(super) fn legend(record: &Record, asked: LosslessQuestion) -> String {
    let LosslessQuestion {
        goal_pct,
        exceed_pct,
        trial,
        sum,
        width_pct,
        recheck,
    } = asked;
    let what = if goal_pct > 0.0 {
        format!("more than {goal_pct} % are lost")
    } else {
        "any is lost".to_owned()
    };
    let again = if recheck.is_zero() {
        String::new()
    } else {
        format!(", both tried again over {}", duration::text(recheck))
    };
    let what_is_sent = if cases(record).any(|(case, _)| case.case.is_rr()) {
        "requests"
    } else {
        "datagrams"
    };
    format!(
        "\nlossless: the highest rate, in thousands of {what_is_sent} per second, at which in no more than {exceed_pct} % of \
         the trials {what}, within {width_pct} %: trials of {}, {} of them just below it and just above it (RFC 9971){again}. 95 % interval: \
         in 95 of 100 searches or more it holds that rate. not steady: good and bad trials came in runs, or the CPU was not \
         equally fast. limit: where most was lost just above the rate.\n",
        duration::text(trial),
        duration::text(sum),
    )
}
