//! The summary of a soak: follows from its log alone, live or read again. Its size does not grow.

use std::collections::BTreeMap;
use std::time::Duration;

use super::event::{Event, Kind, Remark};
use super::log::{Entry, Header, Note, SoakLog};
use super::minute::Probes;
use super::one_way::OneWaySummary;
use super::time_text;
use crate::data::Histogram;
use crate::stats::whole;
use crate::term::table::{Columns, Table};
use crate::term::{escape, fold};
use crate::text::digits::counted;

/// Upper ends of the classes of silences, in nanoseconds, and their names.
const CLASSES: [(u64, &str); 5] = [
    (100_000_000, "silence of less than 100 ms"),
    (1_000_000_000, "silence of 100 ms to 1 s"),
    (10_000_000_000, "silence of 1 s to 10 s"),
    (60_000_000_000, "silence of 10 s to 1 min"),
    (u64::MAX, "silence of more than 1 min"),
];

/// Places that the summary has a next step for, at most.
const NEXT_STEPS: usize = 5;

/// Summary of the entries so far.
#[derive(Clone, Debug)]
pub struct Summary {
    header: Header,
    silences: [Tally; CLASSES.len()],
    /// Losses, delays and unsent probes.
    others: [Tally; 3],
    /// Places and what to type next, and the number of events and of lost probes for each.
    steps: BTreeMap<(Kind, String), (u64, u64)>,
    /// Events that the log does not list.
    unlisted: u64,
    silent_ns: u64,
    longest_silence_ns: u64,
    probes: Probes,
    /// Counts of the minute that is not over.
    so_far: Probes,
    /// The event that is not over.
    open: Option<Event>,
    longest_rtt_ns: u64,
    rtt: Histogram,
    one_way: OneWaySummary,
    /// Times that the other end's program was started again, and the last one.
    restarts: u64,
    last_restart: Option<Note>,
    /// Why the other end's program is gone, if it is.
    gone: Option<Note>,
    /// Times that somebody set this host's clock, and the last one.
    clock_sets: u64,
    last_clock_set: Option<Note>,
    /// True if the log ends without the end of the soak.
    is_cut_off: bool,
    /// True if a silence was not over at the end of the log: it may have lasted longer.
    broke_off_in_silence: bool,
    /// A moment of the part of the soak that goes on, as in RFC 3339 and in nanoseconds of the soak. The start in the
    /// header has no fractions.
    part: (String, u64),
    /// Number of interruptions, and the sentence about the last one.
    interruptions: u64,
    last_interruption: String,
}

/// Number of events, the sum of their lengths, and the longest.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    number: u64,
    together_ns: u64,
    longest_ns: u64,
    lost: u64,
    /// True if the log ends in one of them.
    is_least: bool,
}

impl Tally {
    /// Returns a length of these for people.
    fn shown(&self, ns: u64) -> String {
        least(self.is_least, ns)
    }

    fn add(&mut self, number: u64, [together_ns, longest_ns]: [u64; 2], lost: u64) {
        self.number += number;
        self.together_ns += together_ns;
        self.longest_ns = self.longest_ns.max(longest_ns);
        self.lost += lost;
    }
}

/// Returns a length for people. `is_least`: it may have been longer.
fn least(is_least: bool, ns: u64) -> String {
    let prefix = if is_least { "at least " } else { "" };
    format!("{prefix}{}", time_text(ns))
}

impl SoakLog {
    /// Returns the summary of all entries.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::new(self.header.clone());
        self.lines.iter().for_each(|entry| summary.take(entry));
        summary.settled()
    }
}

impl Summary {
    /// Returns the summary of a soak that has just begun.
    pub fn new(header: Header) -> Self {
        Self {
            part: (header.run.started_at.clone(), 0),
            header,
            silences: [Tally::default(); CLASSES.len()],
            others: [Tally::default(); 3],
            steps: BTreeMap::new(),
            unlisted: 0,
            silent_ns: 0,
            longest_silence_ns: 0,
            probes: Probes::default(),
            so_far: Probes::default(),
            open: None,
            longest_rtt_ns: 0,
            rtt: Histogram::default(),
            one_way: OneWaySummary::default(),
            restarts: 0,
            last_restart: None,
            gone: None,
            clock_sets: 0,
            last_clock_set: None,
            is_cut_off: true,
            broke_off_in_silence: false,
            interruptions: 0,
            last_interruption: String::new(),
        }
    }

    /// Adds a line of the log.
    pub fn take(&mut self, entry: &Entry) {
        self.is_cut_off = !entry.is_end();
        match entry {
            Entry::Open(event) => self.open = Some((**event).clone()),
            Entry::Event(event) => {
                self.open = None;
                self.take_event(event, false);
            }
            Entry::SoFar(probes) => self.so_far = *probes,
            Entry::Minute(minute) => {
                self.so_far = Probes::default();
                self.probes.add(&minute.probes);
                self.unlisted += minute.unlisted;
                self.silent_ns += minute.unlisted_silent_ns;
                self.longest_rtt_ns = self.longest_rtt_ns.max(minute.longest_ns);
                self.rtt.add(&minute.rtt);
                let rtt = minute.rtt.quantile(0.5).map(whole);
                if let Some((one_way, rtt_ns)) = minute.one_way.as_ref().zip(rtt) {
                    self.one_way.take(one_way, rtt_ns);
                }
            }
            Entry::Remark(note) => self.take_note(note),
        }
    }

    fn take_note(&mut self, note: &Note) {
        match &note.what {
            Remark::StartedAgain { .. } | Remark::Restarted { .. } => {
                self.restarts += 1;
                self.last_restart = Some(note.clone());
                self.gone = None;
            }
            Remark::ProgramEnded { .. } | Remark::NotStarted { .. } => {
                self.gone = Some(note.clone());
            }
            Remark::ClockSet { .. } => {
                self.clock_sets += 1;
                self.last_clock_set = Some(note.clone());
            }
            Remark::Resumed => {
                self.gone = None;
                self.settle();
                self.interrupted(note);
            }
            _ => {}
        }
    }

    /// Counts what was not over when something ended the soak.
    #[must_use]
    pub fn settled(mut self) -> Self {
        self.settle();
        self
    }

    fn settle(&mut self) {
        self.probes.add(&std::mem::take(&mut self.so_far));
        if let Some(event) = self.open.take() {
            self.take_event(&event, true);
        }
    }

    /// Notes from when to when nothing was measured.
    fn interrupted(&mut self, resumed: &Note) {
        let (started_at, start_ns) = &self.part;
        let lasted = Duration::from_nanos(resumed.start_ns.saturating_sub(*start_ns));
        let began = humantime::parse_rfc3339(started_at).ok();
        let ended = began.and_then(|it| it.checked_add(lasted));
        let from = ended.map_or_else(
            || "a time that is not known".to_owned(),
            |it| humantime::format_rfc3339_millis(it).to_string(),
        );
        self.interruptions += 1;
        self.last_interruption = format!("from {from} to {}", resumed.at);
        self.part = (resumed.at.clone(), resumed.start_ns);
    }

    /// Adds an event. `is_open`: the log ends in it.
    fn take_event(&mut self, event: &Event, is_open: bool) {
        if !event.at.is_empty() {
            self.part = (event.at.clone(), event.start_ns);
        }
        let steps = if is_open {
            event.steps(&self.header, true)
        } else {
            event.steps(&self.header, false)
        };
        for (step, by) in steps {
            let (number, lost) = self.steps.entry((event.kind, step)).or_default();
            *number += 1;
            *lost += by;
        }
        self.broke_off_in_silence |= is_open && event.kind == Kind::Silence;
        self.silent_ns += event.silent_ns;
        self.longest_silence_ns = self.longest_silence_ns.max(event.longest_silence_ns);
        let longest = event.longest_silence_ns;
        let whole = (1, [event.length_ns; 2]);
        let (tally, (number, lengths_ns)) = match event.kind {
            Kind::Silence => {
                let class = CLASSES.iter().position(|(end_ns, _)| longest < *end_ns);
                let class = class.unwrap_or(CLASSES.len() - 1);
                let lengths_ns = [event.silent_ns, longest];
                (&mut self.silences[class], (event.silences, lengths_ns))
            }
            Kind::Loss => (&mut self.others[0], whole),
            Kind::Delay => (&mut self.others[1], whole),
            Kind::Unsent => (&mut self.others[2], whole),
        };
        tally.add(number, lengths_ns, event.lost);
        tally.is_least |= is_open;
    }

    /// Returns the number of events so far.
    pub fn events(&self) -> u64 {
        let all = self.silences.iter().chain(&self.others);
        all.map(|tally| tally.number).sum::<u64>() + self.unlisted
    }

    /// Returns the text for people: the lines and the table. `width` is in terminal columns.
    pub fn text(&self, width: u16) -> String {
        let lines = self.lines().into_iter();
        let lines = lines.map(|(name, line)| format!("{name:<11}{}", escape::line(&line)));
        let text = lines.collect::<Vec<_>>().join("\n") + "\n";
        let text = fold::text(&text, width.into());
        let table = self.table();
        if table.is_empty() {
            return text;
        }
        text + "\n" + &table.draw(width.into())
    }

    /// Returns the table of the events by kind, without kinds that did not happen.
    pub fn table(&self) -> Table {
        let columns = Columns::<(&str, Tally)>::default()
            .word("event", |(name, _)| (*name).to_owned())
            .number("number", |(_, it)| it.number.to_string())
            .number("together", |(_, it)| it.shown(it.together_ns))
            .number("longest", |(_, it)| it.shown(it.longest_ns))
            .number("lost", |(_, it)| it.lost.to_string());
        columns.table(self.rows())
    }

    /// Returns the lines of the summary, each with its name.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let header = &self.header;
        let (rate, payload) = (header.rate, u32::from(header.payload));
        let to = match &header.to {
            Some(to) => format!("to {to} ({})", header.address),
            None => "over loopback".to_owned(),
        };
        let length = time_text(self.probes.length_ns);
        let cut_off = if self.is_cut_off {
            ", not to its end"
        } else {
            ""
        };
        let soaked = format!("{length} at {rate} probes of {payload} B per second {to}{cut_off}");
        let mut lines = vec![("soak", soaked), ("available", self.availability())];
        let probes = &self.probes;
        let all = probes.sent + probes.refused;
        let lost = all - probes.returned;
        let share = 100.0 * lost as f64 / all.max(1) as f64;
        let more = match probes.unsent {
            0 => String::new(),
            unsent => format!("; this host was too late to send {unsent} more"),
        };
        lines.push((
            "lost",
            format!("{lost} of {all} probes ({share:.4} %){more}"),
        ));
        if let Some((p50, p99)) = self.rtt.quantile(0.5).zip(self.rtt.quantile(0.99)) {
            let [p50, p99] = [p50, p99].map(|ns| time_text(whole(ns)));
            let longest = time_text(self.longest_rtt_ns);
            lines.push((
                "round trip",
                format!("median {p50}, 99th percentile {p99}, longest {longest}"),
            ));
        }
        if header.to.is_some() {
            lines.push(("one way", self.one_way.line(header.far_end())));
        }
        if let Some(Note { what, .. }) = &self.last_restart {
            let line = match self.restarts {
                1 => what.to_string(),
                number => format!("{number} restarts; the last: {what}"),
            };
            lines.push(("other end", line));
        }
        let gone = self.gone.iter().map(|note| note.what.to_string());
        lines.extend(gone.map(|line| ("other end", line)));
        if let Some(Note { at, what, .. }) = &self.last_clock_set {
            let line = match self.clock_sets {
                1 => format!("{what}, at {at}"),
                number => format!("set {number} times; the last: {what}, at {at}"),
            };
            lines.push(("clock", line));
        }
        let times = match self.interruptions {
            1 => "not measured".to_owned(),
            number => format!("not measured {number} times; the last:"),
        };
        if self.interruptions > 0 {
            lines.push(("resumed", format!("{times} {}", self.last_interruption)));
        }
        if self.unlisted > 0 {
            let text = "more events than the log lists for each hour; their silence is counted";
            lines.push(("unlisted", format!("{} {text}", self.unlisted)));
        }
        lines.extend(self.next());
        lines
    }

    /// Returns what to type next: the places where most probes were lost first.
    fn next(&self) -> Vec<(&'static str, String)> {
        let mut steps: Vec<_> = self.steps.iter().collect();
        steps.sort_by_key(|(_, (number, lost))| std::cmp::Reverse((*lost, *number)));
        let rest = steps.split_off(steps.len().min(NEXT_STEPS));
        let line = |((kind, step), (number, _)): (&(Kind, String), &(u64, u64))| {
            let times = if *number > 1 {
                format!(", {number} times")
            } else {
                String::new()
            };
            ("next", format!("{}{times}, {step}", kind.word()))
        };
        let lost: u64 = rest.iter().map(|(_, (_, lost))| lost).sum();
        let rest = (!rest.is_empty()).then(|| {
            let places = counted(rest.len(), "more place");
            (
                "next",
                format!("{places} with {lost} lost: the log has their events"),
            )
        });
        steps.into_iter().map(line).chain(rest).collect()
    }

    /// Returns the share of the time in which datagrams returned, and the times between silences.
    fn availability(&self) -> String {
        let unsent_ns = self.probes.unsent as f64 * self.header.gap_ns();
        let measured = self.probes.length_ns as f64 - unsent_ns;
        if measured <= 0.0 {
            return "not known: the log ends too early".to_owned();
        }
        let silent = self.silent_ns as f64;
        let share = 100.0 * (1.0 - silent / measured).max(0.0);
        let number: u64 = self.silences.iter().map(|tally| tally.number).sum();
        if number == 0 {
            return format!("{share:.4} % of the time: no silence");
        }
        let between = time_text(whole((measured - silent).max(0.0) / number as f64));
        let is_least = self.broke_off_in_silence;
        let longest = least(is_least, self.longest_silence_ns);
        let most = if is_least { " at most" } else { "" };
        let not_over = if is_least {
            "; one was not over at the end"
        } else {
            ""
        };
        let silences = counted(usize::try_from(number).unwrap_or(usize::MAX), "silence");
        format!(
            "{share:.4} % of the time{most}: {silences}, longest {longest}, one every {between} without silence, on \
             average{not_over}"
        )
    }

    fn rows(&self) -> Vec<(&'static str, Tally)> {
        let silences = CLASSES.iter().map(|(_, name)| *name).zip(self.silences);
        let names = ["loss", "delay", "unsent"];
        let all = silences.chain(names.into_iter().zip(self.others));
        all.filter(|(_, tally)| tally.number > 0).collect()
    }
}

#[cfg(test)]
mod tests;
