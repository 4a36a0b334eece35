//! What is going to be tried, and the answers, for people.

use std::fmt::Write as _;

use super::judge::{Answer, MARGIN};
use super::{Asked, Knob, judge};
use crate::columns::{Columns, trimmed};
use crate::find::{Record, Search};
use crate::fold;
use crate::platform::knob::{Knob as Setting, Knobs, Name, Place};

const PLAN: Columns = Columns {
    headings: &["knob", "where", "now", "tried", "why it might help"],
    words: 5,
    leaves: &[],
    longest: 40,
};

pub(in crate::find) const ANSWERS: Columns = Columns {
    headings: &[
        "case",
        "knob",
        "as it is",
        "change\n%",
        "95 % interval\n%",
        "verdict",
    ],
    words: 2,
    leaves: &[2],
    longest: 34,
};

/// What would be changed, in so many columns of the terminal.
pub fn plan(knobs: &Knobs, width: u16) -> String {
    let room = usize::from(width);
    let mut text = String::new();
    if !knobs.tried.is_empty() {
        let rows: Vec<Vec<String>> = knobs.tried.iter().map(plan_row).collect();
        let drawn = PLAN.draw(&rows, room);
        text += &trimmed(&drawn.header);
        for row in &drawn.rows {
            text += &trimmed(row);
        }
        text.push('\n');
    }
    text + &fold::text(&left_out(knobs), room)
}

fn plan_row(knob: &Setting) -> Vec<String> {
    let settings = &knob.settings;
    let (place, now, tried) = match (knob.name, &settings[..]) {
        (Name::Rcvbuf, _) => ["the trials' sockets", "--rcvbuf", "4 times it"]
            .map(str::to_owned)
            .into(),
        (_, []) => ["nowhere", "-", "-"].map(str::to_owned).into(),
        (_, [one]) => (short(&one.place), one.before.clone(), one.tried.clone()),
        (_, [first, others @ ..]) => (
            format!("{} and {} more", short(&first.place), others.len()),
            different(settings.iter().map(|it| &*it.before)),
            different(settings.iter().map(|it| &*it.tried)),
        ),
    };
    vec![
        knob.name.text().to_owned(),
        place,
        now,
        tried,
        knob.name.why().to_owned(),
    ]
}

/// Without the directories that all of its kind have.
fn short(place: &Place) -> String {
    let text = place.to_string();
    let known = ["/sys/class/net/", "/sys/devices/system/cpu/cpufreq/"];
    let rest = known.iter().find_map(|known| text.strip_prefix(known));
    rest.map_or(text.clone(), str::to_owned)
}

fn different<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let mut values: Vec<&str> = values.collect();
    values.dedup();
    match &values[..] {
        [first, _, ..] => format!("{first}, .."),
        all => all.concat(),
    }
}

/// Each reason once.
fn left_out(knobs: &Knobs) -> String {
    let mut text = String::new();
    for alike in knobs
        .left_out
        .chunk_by(|one, other| one.reason == other.reason)
    {
        let names: Vec<&str> = alike.iter().map(|knob| knob.name.text()).collect();
        let reason = &alike[0].reason;
        let _ = writeln!(text, "not tried: {}: {reason}", names.join(", "));
    }
    text
}

/// The answers.
pub(in crate::find) fn rows(record: &Record) -> Vec<Vec<String>> {
    let knobs = tried(record);
    let mut rows = Vec::new();
    for (case, answers) in record.cases().iter().zip(judge(record)) {
        if let Search::Knob(search) = &case.search {
            for (knob, answer) in knobs.iter().zip(answers) {
                let row = |answer| row(&case.case.key(), knob.name.text(), search, &answer);
                rows.extend(answer.map(row));
            }
        }
    }
    rows
}

/// What was given up, and what is not tried.
pub(in crate::find) fn notes(record: &Record) -> String {
    let mut notes = String::new();
    for case in record.cases() {
        let Search::Knob(search) = &case.search else {
            continue;
        };
        for (knob, series) in tried(record).iter().zip(search.series()) {
            if let Some(reason) = &series.given_up {
                let (key, name) = (case.case.key(), knob.name.text());
                let _ = writeln!(notes, "{key}: {name} was given up: {reason}");
            }
        }
    }
    notes += &record
        .header()
        .knobs
        .as_ref()
        .map_or_else(String::new, left_out);
    if !notes.is_empty() {
        notes.insert(0, '\n');
    }
    notes
}

fn tried(record: &Record) -> &[Setting] {
    let knobs = record.header().knobs.as_ref();
    knobs.map_or(&[], |knobs| &knobs.tried)
}

fn row(key: &str, knob: &str, search: &Knob, answer: &Answer) -> Vec<String> {
    let (unit, before) = search.as_it_is(answer);
    let (change, low, high) = search.change_pct(answer);
    let pct = |pct: f64| {
        if pct.is_finite() {
            format!("{pct:+.1}")
        } else {
            "?".to_owned()
        }
    };
    vec![
        key.to_owned(),
        knob.to_owned(),
        format!("{before:.1} {unit}"),
        pct(change),
        format!("{} to {}", pct(low), pct(high)),
        answer.verdict.text().to_owned(),
    ]
}

impl Knob {
    /// In which unit, and how much: thousands per second, or microseconds.
    fn as_it_is(&self, answer: &Answer) -> (&'static str, f64) {
        if self.is_of_round_trips() {
            ("us", answer.before_ns / 1e3)
        } else {
            ("k/s", 1e6 / answer.before_ns)
        }
    }

    /// By how much that changes, with its interval. A round trip that becomes shorter changes by less than 0.
    pub(super) fn change_pct(&self, answer: &Answer) -> (f64, f64, f64) {
        let Answer {
            faster, low, high, ..
        } = *answer;
        let pct = |faster: f64| 100.0 * faster.exp_m1();
        // Without the ends of intervals that there are too few rounds for.
        let end = |it: f64| if it.is_finite() { pct(it) } else { it };
        if self.is_of_round_trips() {
            (pct(-faster), end(-high), end(-low))
        } else {
            (pct(faster), end(low), end(high))
        }
    }

    /// Whether those are measured, and not a rate.
    pub(super) fn is_of_round_trips(&self) -> bool {
        self.case.asks()
    }
}

pub(in crate::find) fn legend(asked: Asked) -> String {
    let margin = 100.0 * MARGIN;
    format!(
        "\nas it is: datagrams received per second, or the round trip than which half take no longer, in {} pairs of \
         trials of each. helps, hurts: the value that is tried is better or worse, by more than {margin} %; at most 1 of 100 \
         that are called so is neither. no difference: none that is sure; how large one may hide, the interval says.\n",
        asked.rounds
    )
}
