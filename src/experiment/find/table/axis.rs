//! Table of a search along a parameter.

use std::fmt::Write as _;

use super::super::axis::{AxisQuestion, AxisSearch, Finding, Parameter, TimeChange};
use super::super::header::SearchQuestion;
use super::super::{Record, Search};
use super::{or_dash, searched};
use crate::results::command_line::CommandLine;
use crate::term::table::{Columns, Table};
use crate::verdict::judge::Metric;

/// Loss from which on the receivers or the path limit the speed, and no longer the calls of the senders.
const LOSSY: f64 = 0.01;
/// What may delay the first datagram after a silence.
const CAUSES: &str = " CPUs enter: the idle state, and the share of their time in it. What may make a step, such as the \
                      governor, energy-efficient Ethernet and power save of Wi-Fi: udpbench check.";
/// Loss that is mentioned.
const NOTICED: f64 = 0.005;

/// Name of a case, its search, and a finding. `None`: nothing was found.
type FindingLine<'a> = (String, &'a AxisSearch, Option<Finding>);

/// Returns the table of findings. A case without any also has a row.
pub(super) fn table(record: &Record, asked: AxisQuestion) -> Table {
    let cell = |of: fn(&Finding) -> String| {
        move |(_, _, found): &FindingLine| found.as_ref().map_or_else(String::new, of)
    };
    let is_knee = asked.parameter == Parameter::Call;
    let columns = Columns::<FindingLine>::default()
        .word("case", |(name, ..)| name.clone())
        .word("of", |(_, search, _)| search.parameter().to_owned())
        .word("\nfrom", |line| from(line, asked.parameter))
        .number("may be\nfrom, to", |(.., found)| {
            let range = found.as_ref().map(|found| found.range);
            let range = range.filter(|_| is_knee);
            range.map_or_else(String::new, |(low, high)| format!("{low} to {high}"))
        })
        .number("before\nus", cell(|it| or_dash(it.ns.0.map(us))))
        .number("behind\nus", cell(|it| or_dash(it.ns.1.map(us))))
        .number("longer, 95 %\ninterval %", cell(|it| percents(it.change)))
        .number(
            "beyond, 95 %\ninterval %",
            cell(|it| {
                it.beyond
                    .map_or_else(String::new, |(_, change)| percents(Some(change)))
            }),
        )
        .number("lost before,\nbehind %", cell(lost))
        .spare(1, "CPUs enter", cell(idle_state));
    let lines: Vec<FindingLine> = searches(record)
        .flat_map(|(name, search)| {
            let found = search.found_or_none().into_iter();
            found.map(move |found| (name.clone(), search, found))
        })
        .collect();
    columns.known_of(&lines).table(lines)
}

/// Returns the searches, each with the name of its case.
fn searches(record: &Record) -> impl Iterator<Item = (String, &AxisSearch)> {
    let names = record.names();
    searched(record).filter_map(move |case| match &case.search {
        Search::Axis(search) => Some((names.name(&case.case), search)),
        _ => None,
    })
}

/// Returns the value of a finding, or the size from which on there is none. A dash: it is not known yet.
fn from((_, search, found): &FindingLine, parameter: Parameter) -> String {
    let is_knee = parameter == Parameter::Call;
    let size = |part: f64| format!("no step of {:.0} % or more", (100.0 * part).ceil());
    match found {
        None => or_dash(search.detectable().map(size)),
        Some(found) if is_knee && found.range == search.range() => or_dash(None::<u64>),
        Some(found) if is_knee && found.at == 1 => "none".to_owned(),
        Some(found) => parameter.text(found.at),
    }
}

fn lost(found: &Finding) -> String {
    let pct = |loss: Option<f64>| or_dash(loss.map(|loss| format!("{:.0}", 100.0 * loss)));
    let losses = [found.loss.0, found.loss.1];
    if losses.iter().flatten().all(|loss| *loss < NOTICED) {
        return String::new();
    }
    losses.map(pct).join(", ")
}

fn idle_state(found: &Finding) -> String {
    found.idle_state.as_ref().map_or_else(String::new, |share| {
        let (before, after) = (100.0 * share.before, 100.0 * share.after);
        format!("{} ({before:.0} to {after:.0} %)", share.name)
    })
}

/// Returns an interval in percent: `+5.0 to +17`.
fn percents(change: Option<TimeChange>) -> String {
    let known = change.map(|change| change.interval);
    let known = known.filter(|(low, high)| low.is_finite() && high.is_finite());
    let percent = |part: f64| {
        let decimals = usize::from(part.abs() < 0.1);
        format!("{:+.decimals$}", 100.0 * part)
    };
    or_dash(known.map(|(low, high)| format!("{} to {}", percent(low), percent(high))))
}

/// Returns microseconds: more digits for the time of a datagram than for a round trip.
fn us(ns: f64) -> String {
    let decimals = if ns < 10_000.0 { 3 } else { 1 };
    format!("{:.decimals$}", ns / 1e3)
}

/// Lists the times of each case by value, in sentences.
pub(super) fn curves(record: &Record, asked: AxisQuestion) -> String {
    let what = match asked.by {
        Metric::Speed => "us",
        Metric::Cpu => "us of CPU time",
    };
    let mut text = String::new();
    for (name, search) in searches(record).filter(|(_, search)| search.rounds() > 0) {
        let points = search.curve().into_iter().map(|(value, ns, loss)| {
            let (value, us) = (asked.parameter.text(value), or_dash(ns.map(us)));
            match loss {
                Some(loss) if loss >= NOTICED => {
                    format!("{value} {us} ({:.0} % lost)", 100.0 * loss)
                }
                _ => format!("{value} {us}"),
            }
        });
        let points = points.collect::<Vec<String>>().join(", ");
        let _ = writeln!(text, "\n{name}, {what} by {}: {points}", search.parameter());
    }
    text
}

pub(super) fn legend(asked: AxisQuestion) -> String {
    let threshold = asked.threshold_pct;
    let time = match asked.by {
        Metric::Speed => "microseconds of half of the round trips, or for each datagram received",
        Metric::Cpu => "microseconds of CPU time for each datagram",
    };
    if asked.parameter == Parameter::Call {
        return format!(
            "\nfrom: the smallest number of datagrams per call over which no larger one seems to gain more than \
             {threshold} %. none: 1 does as well. may be: these hold it in 95 of 100 searches. before, behind: {time}, \
             with 1 and with that many, and longer: the change from the one to the other. beyond: change by the best \
             larger number.\n"
        );
    }
    let causes = match asked.parameter {
        Parameter::Silence { .. } => CAUSES,
        _ => "",
    };
    format!(
        "\nfrom: the first value from which on it takes so much longer, or more is lost, than just before. Times that \
         differ by {threshold} % or more, and lost requests that differ by 10 points or more, are steps; what changes \
         gradually is none. no step of: at this scatter, 9 of 10 searches find such a step of the time. before, behind: \
         {time}.{causes}\n",
    )
}

/// Returns a note about each search for a knee whose senders are not the limit, or that ends at its largest number.
pub(super) fn notes(record: &Record) -> String {
    let mut notes = String::new();
    let is_knee = matches!(record.header.question, SearchQuestion::Axis(asked) if asked.parameter == Parameter::Call);
    for (name, search) in searches(record).filter(|_| is_knee) {
        let ((_, most), call) = (search.range(), search.parameter());
        if search.found().iter().any(|it| it.at == most) {
            let _ = writeln!(
                notes,
                "\n{name}: {most} is the largest --{call} tried: a larger one may gain more."
            );
        }
        if let Some((value, loss)) = search.lossy(LOSSY) {
            let (flag, loss_pct) = (format!("--{call}"), 100.0 * loss);
            let command = CommandLine(&record.header.run.command_line)
                .find_lossless(&[(&flag, value.to_string())]);
            let _ = writeln!(
                notes,
                "\n{name}: with {flag} {value}, {loss_pct:.0} % of what was sent was lost: the receivers or the \
                 path are the limit there, not the calls of the senders. Another --receiver may move the knee. \
                 The rate that arrives whole:\n  {command}"
            );
        }
    }
    notes
}
