//! Plan and results of a search for settings, for people.

use std::fmt::Write as _;

use super::judge::SettingEffect;
use super::{TuningQuestion, judge};
use crate::experiment::find::{Record, Search, tuning};
use crate::host::tuning::{Location, Name, Setting, Tuning, Tunings};
use crate::term::fold;
use crate::term::table::{Columns, Table};
use crate::verdict::judge::Threshold;

/// Draws the plan for a terminal of `width` columns: each setting with its current and its tried value.
pub fn plan(tunings: &Tunings, width: u16) -> String {
    let columns = Columns::<Tuning>::default()
        .word("setting", |tuning| tuning.name.text().to_owned())
        .word("where", location)
        .word("now", |tuning| value(tuning, "--rcvbuf", |it| &it.before))
        .word("tried", |tuning| {
            value(tuning, "4 times it", |it| &it.tried)
        })
        .text("why it might help", |tuning| tuning.name.why().to_owned());
    let mut table = columns.table(&tunings.tried);
    if !table.is_empty() {
        table.text("");
    }
    table.draw(width.into()) + &fold::text(&left_out(tunings), width.into())
}

fn location(tuning: &Tuning) -> String {
    match (tuning.name, &tuning.settings[..]) {
        (Name::Rcvbuf, _) => "the trials' sockets".to_owned(),
        (_, []) => "nowhere".to_owned(),
        (_, [one]) => short(&one.location),
        (_, [first, others @ ..]) => {
            format!("{} and {} more", short(&first.location), others.len())
        }
    }
}

/// Returns the value of all places of a setting, or `rcvbuf` for the receive buffer.
fn value(tuning: &Tuning, rcvbuf: &str, of: fn(&Setting) -> &str) -> String {
    let mut values: Vec<&str> = tuning.settings.iter().map(of).collect();
    values.dedup();
    match (tuning.name, &values[..]) {
        (Name::Rcvbuf, _) => rcvbuf.to_owned(),
        (_, []) => "-".to_owned(),
        (_, [first, _, ..]) => format!("{first}, .."),
        (_, [one]) => (*one).to_owned(),
    }
}

/// Returns the path without the directory that all paths of its kind share.
fn short(location: &Location) -> String {
    let text = location.to_string();
    let known = ["/sys/class/net/", "/sys/devices/system/cpu/cpufreq/"];
    let rest = known.iter().find_map(|known| text.strip_prefix(known));
    rest.map_or(text.clone(), str::to_owned)
}

/// Lists the settings that are not tried, each reason once.
fn left_out(tunings: &Tunings) -> String {
    let mut text = String::new();
    for alike in tunings
        .left_out
        .chunk_by(|one, other| one.reason == other.reason)
    {
        let names: Vec<&str> = alike.iter().map(|tuning| tuning.name.text()).collect();
        let reason = &alike[0].reason;
        let _ = writeln!(text, "not tried: {}: {reason}", names.join(", "));
    }
    text
}

/// Returns the table of the results.
pub(in crate::experiment::find) fn table(record: &Record) -> Table {
    let columns = Columns::<(String, &str, &tuning::Tuning, SettingEffect)>::default()
        .word("case", |(name, ..)| name.clone())
        .word("setting", |(_, tuning, ..)| (*tuning).to_owned())
        .spare(1, "as it is", |(.., search, answer)| {
            let (unit, before) = search.as_it_is(answer);
            format!("{before:.1} {unit}")
        })
        .number("change\n%", |(.., search, answer)| {
            percent(search.change_pct(answer).0)
        })
        .number("95 % interval\n%", |(.., search, answer)| {
            let (_, low, high) = search.change_pct(answer);
            format!("{} to {}", percent(low), percent(high))
        })
        .number("would show\n%", |(.., answer)| {
            or_unknown(answer.detectable_pct().map(|pct| format!("{pct:.1}")))
        })
        .number("verdict", |(.., answer)| answer.verdict.text().to_owned());
    let (names, mut table) = (record.names(), columns.empty());
    for (case, answers) in record.cases().iter().zip(judge(record)) {
        let Search::Tuning(search) = &case.search else {
            continue;
        };
        for (tuning, answer) in tried(record).iter().zip(answers) {
            if let Some(answer) = answer {
                let case = names.name(&case.case);
                table.row(columns.cells(&(case, tuning.name.text(), search, answer)));
            }
        }
    }
    table
}

fn percent(pct: f64) -> String {
    or_unknown(pct.is_finite().then(|| format!("{pct:+.1}")))
}

fn or_unknown(text: Option<String>) -> String {
    text.unwrap_or_else(|| "?".to_owned())
}

/// Change beyond the threshold that 9 of 10 searches for one setting show, in widths of its 95 % interval: 3.9 standard
/// errors. Without outliers, 3.5 would do: 2.2 for the error rate, 1.3 for 9 of 10.
const SHOWN_WIDTHS: f64 = 1.0;

impl SettingEffect {
    /// Returns the smallest change in percent that the same number of pairs with the same scatter shows in 9 of 10
    /// searches for one setting. `None`: there are too few pairs.
    pub(in crate::experiment::find) fn detectable_pct(&self) -> Option<f64> {
        let least = Threshold::default().fraction().ln_1p();
        let change = least + SHOWN_WIDTHS * (self.high - self.low);
        change.is_finite().then(|| 100.0 * change.exp_m1())
    }
}

/// Returns the notes: settings that were given up, and settings that are not tried.
pub(in crate::experiment::find) fn notes(record: &Record) -> String {
    let (names, mut notes) = (record.names(), String::new());
    for case in record.cases() {
        let Search::Tuning(search) = &case.search else {
            continue;
        };
        for (tuning, series) in tried(record).iter().zip(search.series()) {
            if let Some(reason) = &series.given_up {
                let (case, name) = (names.name(&case.case), tuning.name.text());
                let _ = writeln!(notes, "{case}: {name} was given up: {reason}");
            }
        }
    }
    notes += &record
        .header()
        .tunings
        .as_ref()
        .map_or_else(String::new, left_out);
    if !notes.is_empty() {
        notes.insert(0, '\n');
    }
    notes
}

fn tried(record: &Record) -> &[Tuning] {
    let tunings = record.header().tunings.as_ref();
    tunings.map_or(&[], |tunings| &tunings.tried)
}

impl tuning::Tuning {
    /// Returns the speed with the current value, and its unit: thousands per second, or microseconds.
    fn as_it_is(&self, answer: &SettingEffect) -> (&'static str, f64) {
        if self.is_of_round_trips() {
            ("us", answer.before_ns / 1e3)
        } else {
            ("k/s", 1e6 / answer.before_ns)
        }
    }

    /// Returns the change in percent, with its interval. A round trip that becomes shorter has a change below 0.
    pub(super) fn change_pct(&self, answer: &SettingEffect) -> (f64, f64, f64) {
        let SettingEffect {
            faster, low, high, ..
        } = *answer;
        let pct = |faster: f64| 100.0 * faster.exp_m1();
        // An interval has infinite ends if there are too few rounds.
        let end = |it: f64| if it.is_finite() { pct(it) } else { it };
        if self.is_of_round_trips() {
            (pct(-faster), end(-high), end(-low))
        } else {
            (pct(faster), end(low), end(high))
        }
    }

    /// Returns whether the search measures round trips, not a rate.
    pub(super) fn is_of_round_trips(&self) -> bool {
        self.case.is_rr()
    }
}

pub(in crate::experiment::find) fn legend(asked: TuningQuestion) -> String {
    let threshold = Threshold::default().percent();
    format!(
        "\nas it is: datagrams received per second, or the round trip than which half take no longer, in {} pairs of \
         trials of each. helps, hurts: the value that is tried is better or worse, by more than {threshold} %; in 97 of 100 \
         searches, no other is called so. would show: a change this large is shown in 9 of 10 searches for one setting; \
         with more settings, it must be larger. not shown: a smaller one may hide.\n",
        asked.rounds
    )
}
