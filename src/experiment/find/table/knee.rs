//! Table of a search for a knee.

use std::fmt::Write as _;

use super::super::knee::{Found, Gain, Knee, KneeQuestion};
use super::super::{Record, Search};
use super::{or_dash, searched};
use crate::results::command_line::CommandLine;
use crate::term::table::{Columns, Table};
use crate::verdict::judge::By;

/// Returns the table of knees.
pub(super) fn table(record: &Record, asked: KneeQuestion) -> Table {
    type Line<'a> = (String, &'a Knee, Option<Found>);
    let cell = |of: fn(&Found) -> String| move |line: &Line| or_dash(line.2.as_ref().map(of));
    let columns = Columns::<Line>::default()
        .word("case", |(name, ..)| name.clone())
        .word("of", |(_, search, _)| search.call().name().to_owned())
        .number("\nknee", cell(knee))
        .number("may be\nfrom, to", cell(|found| range(*found)));
    let columns = match asked.by {
        By::Speed => columns.number(
            "received\nk/s",
            cell(|found| format!("{:.1}", 1e6 / found.ns)),
        ),
        By::Cpu => columns.number("CPU ns\neach", cell(|found| format!("{:.0}", found.ns))),
    };
    let columns = columns
        .number("gain over 1,\n95 %", cell(|found| gain(found.over_one)))
        .number("gain beyond,\n95 %", cell(|found| gain(found.beyond)));
    let names = record.names();
    columns.table(searched(record).filter_map(|case| {
        let Search::Knee(search) = &case.search else {
            return None;
        };
        Some((names.name(&case.case), search, search.found()))
    }))
}

/// Lists the speeds by value, in a sentence.
pub(super) fn curve(name: &str, search: &Knee, asked: KneeQuestion) -> String {
    let (what, text): (&str, fn(f64) -> String) = match asked.by {
        By::Speed => ("k/s", |ns| format!("{:.0}", 1e6 / ns)),
        By::Cpu => ("CPU ns per datagram", |ns| format!("{ns:.0}")),
    };
    let points = search.curve().into_iter();
    let points: Vec<String> = points
        .map(|(value, ns)| format!("{value} {}", text(ns)))
        .collect();
    let call = search.call().name();
    format!("\n{name}, {what} by {call}: {}\n", points.join(", "))
}

pub(super) fn legend(asked: KneeQuestion) -> String {
    let by = match asked.by {
        By::Speed => "datagrams received per second",
        By::Cpu => "less CPU time per datagram",
    };
    format!(
        "\nknee: the smallest number of datagrams per call over which no larger one, of 1, 2, 4 and so on, seems \
         to gain more than {} %, in {by}. none: 1 does as well. the most: the largest surely gains more. may be: these hold the knee in 95 of \
         100 searches. gain over 1: of the knee. gain beyond: of the best larger number over the knee.\n",
        asked.threshold_pct
    )
}

/// Returns a note about each search whose senders are not the limit.
pub(super) fn notes(record: &Record) -> String {
    let (names, mut notes) = (record.names(), String::new());
    for case in record.cases() {
        if let Search::Knee(search) = &case.search {
            if let Some((value, loss_pct)) = search.lossy() {
                let (name, call) = (names.name(&case.case), search.call().name());
                let flag = format!("--{call}");
                let command = CommandLine(&record.header().run.command_line)
                    .find_lossless(&[(&flag, value.to_string())]);
                let _ = writeln!(
                    notes,
                    "\n{name}: with --{call} {value}, {loss_pct:.0} % of what was sent was lost: the receivers or the \
                     path are the limit there, not the calls of the senders. Another --receiver may move the knee. \
                     The rate that arrives whole:\n  udpbench {command}"
                );
            }
        }
    }
    notes
}

fn knee(found: &Found) -> String {
    let unknown = gain(None);
    let is_open = found.range.0 < found.range.1;
    if is_open && [found.over_one, found.beyond].map(gain) == [unknown.clone(), unknown.clone()] {
        return unknown;
    }
    match *found {
        Found { knee: 1, .. } => "none".to_owned(),
        Found {
            knee,
            range: (low, _),
            ..
        } if low == knee && found.beyond.is_none() => format!("the most, {knee}"),
        Found { knee, .. } => knee.to_string(),
    }
}

fn range(found: Found) -> String {
    let (low, high) = found.range;
    if low == high {
        low.to_string()
    } else {
        format!("{low} to {high}")
    }
}

fn gain(gain: Option<Gain>) -> String {
    let gain = gain.filter(|gain| gain.interval.0.is_finite() && gain.interval.1.is_finite());
    or_dash(gain.map(|gain| {
        let (low, high) = gain.interval;
        format!("{:+.1} to {:+.1} %", 100.0 * low, 100.0 * high)
    }))
}
