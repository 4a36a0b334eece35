//! The answers for people, as wide as the terminal.

use std::fmt::Write as _;

use self::burst::{BURST, burst_legend, burst_row};
use self::idle::{IDLE, curve, idle_legend, idle_rows};
use super::log::{Header, Question};
use super::lossless::Lossless;
use super::{Record, Search, Searched, cliff, knob, lossless};
use crate::columns::{Columns, trimmed};
use crate::duration;
use crate::fold;

mod burst;
mod idle;

/// The longest key that leaves all columns within 100.
const LONGEST: usize = 44;

const LOSSLESS: Columns = Columns {
    headings: &[
        "case",
        "without loss\nk/s",
        "95 % interval\nk/s",
        "arrives\nMbit/s",
        "gave way first",
    ],
    words: 1,
    leaves: &[3],
    longest: LONGEST,
};

const CLIFF: Columns = Columns {
    headings: &[
        "case",
        "from\nbyte",
        "before\nus",
        "behind\nus",
        "more\n%",
        "95 % interval\n%",
    ],
    words: 1,
    leaves: &[5],
    longest: LONGEST,
};

/// The answers: a table, and what is to be known about it.
#[derive(Clone, Debug)]
pub struct Answers {
    /// What is above the columns.
    pub columns: &'static Columns<'static>,
    /// A cell for each column.
    pub rows: Vec<Vec<String>>,
    /// What else was measured, if anything is told.
    pub measured: String,
    /// What the columns mean.
    pub legend: String,
    /// What is not answered, and why.
    pub notes: String,
}

/// What a search says.
pub fn answers(record: &Record) -> Answers {
    let header = record.header();
    let (columns, legend) = match header.question {
        Question::Lossless(asked) => (&LOSSLESS, lossless_legend(asked)),
        Question::Cliff(asked) => (&CLIFF, cliff_legend(asked)),
        Question::Burst(asked) => (&BURST, burst_legend(asked)),
        Question::Idle(asked) => (&IDLE, idle_legend(header, asked)),
        Question::Knob(asked) => (&knob::table::ANSWERS, knob::table::legend(asked)),
    };
    let searched = record.cases().iter().filter(|case| case.refusal.is_none());
    let rows = match header.question {
        Question::Knob(_) => knob::table::rows(record),
        _ => searched.flat_map(|case| rows_of(case, header)).collect(),
    };
    Answers {
        columns,
        rows,
        measured: record.cases().iter().map(curve_of).collect(),
        legend,
        notes: knob::table::notes(record) + &notes(record),
    }
}

/// Draws it, in so many columns of the terminal.
pub fn draw(record: &Record, width: u16) -> String {
    let room = usize::from(width);
    let answers = answers(record);
    let mut text = String::new();
    if !answers.rows.is_empty() {
        let drawn = answers.columns.draw(&answers.rows, room);
        text += &trimmed(&drawn.header);
        for row in &drawn.rows {
            text += &trimmed(row);
        }
        text += &drawn.not_shown;
        text += &fold::text(&answers.measured, room);
        text += &fold::text(&answers.legend, room);
    }
    text + &fold::text(&answers.notes, room)
}

fn curve_of(case: &Searched) -> String {
    match &case.search {
        Search::Idle(search) => curve(&case.case.key(), search),
        _ => String::new(),
    }
}

fn rows_of(case: &Searched, header: &Header) -> Vec<Vec<String>> {
    let key = case.case.key();
    match &case.search {
        Search::Lossless(search) => vec![lossless_row(key, case, search)],
        Search::Cliff(search) => cliff_rows(&key, search),
        Search::Idle(search) => idle_rows(&key, search),
        Search::Burst(search) => vec![burst_row(case, search, header)],
        Search::Knob(_) => Vec::new(),
    }
}

fn lossless_row(key: String, case: &Searched, search: &Lossless) -> Vec<String> {
    let found = search.found();
    let kilo = |load: Option<u32>| load.map(|load| f64::from(load) / 1000.0);
    let (low, high) = found.interval;
    let decimals = match kilo(low) {
        Some(low) if low >= 100.0 => 0,
        Some(low) if low >= 10.0 => 1,
        _ => 3,
    };
    let number = |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
    };
    let bits = 8.0 * f64::from(u32::from(case.case.payload));
    vec![
        key,
        number(kilo(found.load), decimals) + mark(case),
        format!(
            "{} to {}",
            number(kilo(low), decimals),
            number(kilo(high), decimals)
        ),
        number(found.throughput.map(|pps| pps * bits / 1e6), 1),
        search.gave_way().unwrap_or("-").to_owned(),
    ]
}

/// What marks an answer that the notes call unsure.
fn mark(case: &Searched) -> &'static str {
    if case.search.doubt().is_some() {
        "?"
    } else {
        ""
    }
}

/// One that has no jump has a row, too.
fn cliff_rows(key: &str, search: &cliff::Cliff) -> Vec<Vec<String>> {
    let jumps = search.jumps();
    if jumps.is_empty() {
        let dash = || "-".to_owned();
        return vec![vec![
            key.to_owned(),
            "none".to_owned(),
            dash(),
            dash(),
            dash(),
            dash(),
        ]];
    }
    let row = |jump: &cliff::Jump| {
        let (low, high) = jump.interval;
        let more = jump.behind_ns / jump.before_ns - 1.0;
        vec![
            key.to_owned(),
            jump.at.to_string(),
            format!("{:.1}", jump.before_ns / 1e3),
            format!("{:.1}", jump.behind_ns / 1e3),
            format!("{:+.0}", 100.0 * more),
            format!("{:+.0} to {:+.0}", 100.0 * low, 100.0 * high),
        ]
    };
    jumps.iter().map(row).collect()
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

/// What is said of a CPU that gave way and was not as fast in one trial as in another.
fn unsteady(record: &Record) -> String {
    let times = record.cases().iter().filter_map(|case| {
        let Search::Lossless(search) = &case.search else {
            return None;
        };
        let times = search.cpu_times().filter(|times| !times.are_steady())?;
        let (low, high) = (times.low_ns / 1e3, times.high_ns / 1e3);
        Some(format!("{low:.2} to {high:.2} us ({})", case.case.key()))
    });
    let times: Vec<String> = times.collect();
    if times.is_empty() {
        return String::new();
    }
    format!(
        "\nNot steady: from trial to trial, the same work took the CPU that gave way {}. Where something else uses its core, or \
         its clock changes, another search may find another rate.\n",
        times.join(", ")
    )
}

fn lossless_legend(asked: lossless::Asked) -> String {
    let lossless::Asked {
        goal_pct,
        exceed_pct,
        trial,
        sum,
        width_pct,
    } = asked;
    let what = if goal_pct > 0.0 {
        format!("more than {goal_pct} % are lost")
    } else {
        "any is lost".to_owned()
    };
    format!(
        "\nwithout loss: the highest rate, of thousands of datagrams or requests per second, at which in no more than \
         {exceed_pct} % of the trials {what}, within {width_pct} %: trials of {}, of each bound {} together (RFC 9971). \
         95 % interval: in 95 of 100 searches or more it holds that rate, as long as the machine stays as it was. gave way \
         first: where most was lost just above it.\n",
        duration::text(trial),
        duration::text(sum),
    )
}

fn cliff_legend(asked: cliff::Asked) -> String {
    format!(
        "\nfrom byte: the first payload, of {} to {}, that takes so much more than the one before it. Changes of {} % or more \
         are looked for; what changes gradually is none. before, behind: microseconds of a round trip, or for each datagram.\n",
        asked.from, asked.to, asked.jump_pct
    )
}
