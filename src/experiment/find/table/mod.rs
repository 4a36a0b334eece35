//! Results for people, in the width of the terminal.

use std::fmt::Write as _;

use self::idle::curve;
use super::header::Question;
use super::lossless::Lossless;
use super::{Record, Search, Searched, cliff, lossless, tuning};
use crate::term::duration;
use crate::term::fold;
use crate::term::table::{Columns, Table};

mod burst;
mod idle;

/// Results of a search: a table and its explanations.
#[derive(Clone, Debug)]
pub struct SearchReport {
    /// Table of the findings.
    pub table: Table,
    /// Other measurements, in sentences. May be empty.
    pub measured: String,
    /// Explanation of the columns.
    pub legend: String,
    /// Cases without a result, with the reason, and doubts.
    pub notes: String,
}

/// Returns the results of a search.
pub fn answers(record: &Record) -> SearchReport {
    let header = record.header();
    let (table, legend) = match header.question {
        Question::Lossless(asked) => (lossless_table(record), lossless_legend(asked)),
        Question::Cliff(asked) => (cliff_table(record), cliff_legend(asked)),
        Question::Burst(asked) => (burst::table(record), burst::legend(asked)),
        Question::Idle(asked) => (idle::table(record), idle::legend(header, asked)),
        Question::Tuning(asked) => (tuning::table::table(record), tuning::table::legend(asked)),
    };
    SearchReport {
        table,
        measured: record.cases().iter().map(curve_of).collect(),
        legend,
        notes: tuning::table::notes(record) + &notes(record),
    }
}

/// Draws the results for a terminal of `width` columns.
pub fn draw(record: &Record, width: u16) -> String {
    let answers = answers(record);
    let mut text = answers.table.draw(width.into());
    let below = [answers.measured, answers.legend];
    for below in below.iter().filter(|_| !answers.table.is_empty()) {
        text += &fold::text(below, width.into());
    }
    text + &fold::text(&answers.notes, width.into())
}

fn curve_of(case: &Searched) -> String {
    match &case.search {
        Search::Idle(search) => curve(&case.case.key(), search),
        _ => String::new(),
    }
}

/// Returns the cases that are searched.
fn searched(record: &Record) -> impl Iterator<Item = &Searched> {
    let cases = record.cases().iter();
    cases.filter(|case| case.refusal.is_none())
}

/// Returns the value, or a dash if it is unknown.
fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn lossless_table(record: &Record) -> Table {
    let columns = Columns::<(&Searched, &Lossless)>::default()
        .word("case", |(case, _)| case.case.key())
        .number("without loss\nk/s", |(case, search)| {
            thousands(search.found().load, search) + mark(case)
        })
        .number("95 % interval\nk/s", |(_, search)| {
            if !search.is_steady() {
                return "not steady".to_owned();
            }
            let (low, high) = search.found().interval;
            format!("{} to {}", thousands(low, search), thousands(high, search))
        })
        .spare(1, "arrives\nMbit/s", |(case, search)| {
            let bits = 8.0 * f64::from(u32::from(case.case.payload));
            let mbits = search.found().throughput.map(|pps| pps * bits / 1e6);
            or_dash(mbits.map(|mbits| format!("{mbits:.1}")))
        })
        .number("gave way first", |(case, _)| {
            or_dash(case.search.limiting_place())
        });
    columns.table(searched(record).filter_map(|case| match &case.search {
        Search::Lossless(search) => Some((case, search)),
        _ => None,
    }))
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

/// Returns the mark of a result that the notes call unsure.
fn mark(case: &Searched) -> &'static str {
    if case.search.doubt().is_some() {
        "?"
    } else {
        ""
    }
}

/// Returns the table of jumps. A case without a jump also has a row.
fn cliff_table(record: &Record) -> Table {
    let columns = Columns::<Found<cliff::Jump>>::default()
        .word("case", |(key, _)| key.clone())
        .number("from\nbyte", |(_, jump)| from(jump, "jump", |it| it.at))
        .number("before\nus", known(|it: &cliff::Jump| us(it.before_ns)))
        .number("behind\nus", known(|it: &cliff::Jump| us(it.after_ns)))
        .number(
            "more\n%",
            known(|it: &cliff::Jump| percent(it.after_ns / it.before_ns - 1.0)),
        )
        .spare(
            1,
            "95 % interval\n%",
            known(|it: &cliff::Jump| percents(it.interval)),
        );
    columns.table(found(record, |search| match search {
        Search::Cliff(search) => (search.jumps(), search.detectable()),
        _ => (Vec::new(), None),
    }))
}

/// Key of a case, with a finding. `Err`: nothing was found; the smallest change that would have been, if it is known.
type Found<T> = (String, Result<T, Option<f64>>);

/// Returns the findings of each case, or one empty finding. `of` returns the findings of a search, and the smallest
/// change that it would find.
fn found<T>(
    record: &Record,
    of: fn(&Search) -> (Vec<T>, Option<f64>),
) -> impl Iterator<Item = Found<T>> {
    searched(record).flat_map(move |case| {
        let (found, detectable) = of(&case.search);
        let nothing = found.is_empty().then_some(Err(detectable));
        let found = found.into_iter().map(Ok).chain(nothing);
        found.map(|found| (case.case.key(), found))
    })
}

fn known<T>(cell: fn(&T) -> String) -> impl Fn(&Found<T>) -> String {
    move |(_, found)| or_dash(found.as_ref().ok().map(cell))
}

/// Returns the start of a change, or the size from which on there is none.
fn from<T, A: ToString>(found: &Result<T, Option<f64>>, change: &str, at: fn(&T) -> A) -> String {
    match found {
        Ok(found) => at(found).to_string(),
        Err(None) => "none".to_owned(),
        Err(Some(part)) => format!("no {change} of {:.0} % or more", (100.0 * part).ceil()),
    }
}

fn us(ns: f64) -> String {
    format!("{:.1}", ns / 1e3)
}

fn percent(part: f64) -> String {
    format!("{:+.0}", 100.0 * part)
}

/// Returns an interval in percent: `+5 to +7`.
fn percents((low, high): (f64, f64)) -> String {
    format!("{} to {}", percent(low), percent(high))
}

fn notes(record: &Record) -> String {
    let mut notes = String::new();
    for case in record.cases() {
        if let Some(reason) = &case.refusal {
            let _ = writeln!(notes, "\n{}: {reason}", case.case.key());
        } else if case.next().is_some() {
            let _ = writeln!(
                notes,
                "\n{}: not finished after {} trials; its bounds are those so far",
                case.case.key(),
                case.trials
            );
        }
    }
    for case in record.cases() {
        if let Some(doubt) = case.search.doubt() {
            let _ = writeln!(
                notes,
                "\n?: unsure, {}: {doubt}. Stop what else runs (udpbench check), and search again.",
                case.case.key()
            );
        }
    }
    notes += &unsteady(record);
    let repeated: u64 = record.cases().iter().map(|case| case.repeated).sum();
    if repeated > 0 {
        let _ = writeln!(
            notes,
            "\n{repeated} trials were made again: the log says why"
        );
    }
    notes
}

/// Returns a note on cases whose capacity or limiting CPU was not the same in all trials.
fn unsteady(record: &Record) -> String {
    let cases = record.cases().iter().filter_map(|case| {
        let Search::Lossless(search) = &case.search else {
            return None;
        };
        if search.is_steady() {
            return None;
        }
        let seen = search.seen();
        let (lost, passed) = (thousands(seen.lost, search), thousands(seen.passed, search));
        let mut text = format!("{}: {lost} k/s lost, {passed} k/s passed", case.case.key());
        if let Some(times) = search.cpu_times().filter(|times| !times.are_steady()) {
            let (low, high) = (times.low_ns / 1e3, times.high_ns / 1e3);
            let _ = write!(
                text,
                ", the CPU that gave way took {low:.2} to {high:.2} us for the same work"
            );
        }
        Some(text)
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

fn lossless_legend(asked: lossless::LosslessQuestion) -> String {
    let lossless::LosslessQuestion {
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
    format!(
        "\nwithout loss: the highest rate, of thousands of datagrams or requests per second, at which in no more than \
         {exceed_pct} % of the trials {what}, within {width_pct} %: trials of {}, of each bound {} together (RFC 9971), both \
         tried again over {}. 95 % interval: in 95 of 100 searches or more it holds that rate; it holds the bounds of all \
         tries. not steady: good and bad trials came in runs, or the CPU was not equally fast. gave way first: where most was \
         lost just above it.\n",
        duration::text(trial),
        duration::text(sum),
        duration::text(recheck),
    )
}

fn cliff_legend(asked: cliff::CliffQuestion) -> String {
    format!(
        "\nfrom byte: the first payload, of {} to {}, that takes so much more than the one before it. Changes of {} % or more \
         are looked for; what changes gradually is none. no jump of: at this scatter, 9 of 10 searches find such a jump. \
         before, behind: microseconds of a round trip, or for each datagram.\n",
        asked.from, asked.to, asked.jump_pct
    )
}
