//! The summary of a soak: follows from its log alone, live or read again. Its size does not grow.

use std::collections::BTreeMap;
use std::time::Duration;

use super::event::{Event, Kind, Remark};
use super::log::{Entry, Header, Note, SoakLog};
use super::minute::Probes;
use super::one_way::{OneWaySummary, quantiles};
use super::time_text;
use crate::data::Histogram;
use crate::stats::whole;
use crate::term::table::{Columns, Table};
use crate::term::{escape, fold};
use crate::text::digits::counted;

/// Classes of events: those of silences by their upper ends, in nanoseconds, and other kinds.
const CLASSES: [(u64, &str); 8] = [
    (100_000_000, "silence of less than 100 ms"),
    (1_000_000_000, "silence of 100 ms to 1 s"),
    (10_000_000_000, "silence of 1 s to 10 s"),
    (60_000_000_000, "silence of 10 s to 1 min"),
    (u64::MAX, "silence of more than 1 min"),
    (0, "loss"),
    (0, "delay"),
    (0, "unsent"),
];
/// Number of classes of silences.
const SILENCES: usize = 5;
/// Places that the summary has a next step for, at most.
const NEXT_STEPS: usize = 5;

/// Summary of the entries so far.
#[derive(Clone, Debug)]
pub struct Summary {
    header: Header,
    /// Events of each class.
    tallies: [Tally; CLASSES.len()],
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
    /// What happened beside the events, by its name: how often, and the last time in words.
    said: BTreeMap<&'static str, (u64, String)>,
    /// Why the other end's program is gone, if it is.
    gone: Option<String>,
    /// True if the log ends without the end of the soak.
    is_cut_off: bool,
    /// True if a silence was not over at the end of the log.
    broke_off_in_silence: bool,
    /// A moment of the part of the soak that goes on, as in RFC 3339 and in nanoseconds of the soak. The start in the
    /// header has no fractions.
    part: (String, u64),
}

/// Number of events, the sum of their lengths, and the longest.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    number: u64,
    together_ns: u64,
    longest_ns: u64,
    lost: u64,
}

impl SoakLog {
    /// Returns the summary of all entries.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::new(self.header.clone());
        self.lines.iter().for_each(|entry| summary.take(entry));
        summary.settle();
        summary
    }
}

impl Summary {
    /// Returns the summary of a soak that has just begun.
    pub fn new(header: Header) -> Self {
        Self {
            part: (header.run.started_at.clone(), 0),
            header,
            tallies: [Tally::default(); CLASSES.len()],
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
            said: BTreeMap::new(),
            gone: None,
            is_cut_off: true,
            broke_off_in_silence: false,
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
        let what = note.what.to_string();
        let (name, text) = match &note.what {
            Remark::StartedAgain { .. } | Remark::Restarted { .. } => ("other end", what),
            Remark::ProgramEnded { .. } | Remark::NotStarted { .. } => {
                self.gone = Some(what);
                return;
            }
            Remark::ClockSet { .. } => ("clock", format!("{what}, at {}", note.at)),
            Remark::Resumed => {
                self.settle();
                ("resumed", self.interruption(note))
            }
            _ => return,
        };
        if name != "clock" {
            self.gone = None;
        }
        let (times, last) = self.said.entry(name).or_default();
        (*times, *last) = (*times + 1, text);
    }

    /// Counts what was not over when something ended the soak.
    pub fn settle(&mut self) {
        self.probes.add(&std::mem::take(&mut self.so_far));
        if let Some(event) = self.open.take() {
            self.take_event(&event, true);
        }
    }

    /// Returns from when to when nothing was measured.
    fn interruption(&mut self, resumed: &Note) -> String {
        let (began_at, start_ns) = &self.part;
        let lasted = Duration::from_nanos(resumed.start_ns.saturating_sub(*start_ns));
        let began = humantime::parse_rfc3339(began_at).ok();
        let ended = began.and_then(|it| it.checked_add(lasted));
        let from = ended.map_or_else(String::new, |it| {
            format!(" from {}", humantime::format_rfc3339_millis(it))
        });
        self.part = (resumed.at.clone(), resumed.start_ns);
        format!("not measured{from} to {}", resumed.at)
    }

    /// Adds an event. `is_open`: the log ends in it.
    fn take_event(&mut self, event: &Event, is_open: bool) {
        if !event.at.is_empty() {
            self.part = (event.at.clone(), event.start_ns);
        }
        for (step, by) in event.steps(&self.header, is_open) {
            let (number, lost) = self.steps.entry((event.kind, step)).or_default();
            *number += 1;
            *lost += by;
        }
        self.broke_off_in_silence |= is_open && event.kind == Kind::Silence;
        self.silent_ns += event.silent_ns;
        self.longest_silence_ns = self.longest_silence_ns.max(event.longest_silence_ns);
        let class = match event.kind {
            Kind::Silence => {
                let mut classes = CLASSES[..SILENCES - 1].iter();
                let class = classes.position(|(end_ns, _)| event.longest_silence_ns < *end_ns);
                class.unwrap_or(SILENCES - 1)
            }
            Kind::Loss => SILENCES,
            Kind::Delay => SILENCES + 1,
            Kind::Unsent => SILENCES + 2,
        };
        let tally = &mut self.tallies[class];
        let (number, together_ns, longest_ns) = match event.kind {
            Kind::Silence => (event.silences, event.silent_ns, event.longest_silence_ns),
            _ => (1, event.length_ns, event.length_ns),
        };
        tally.number += number;
        tally.together_ns += together_ns;
        tally.longest_ns = tally.longest_ns.max(longest_ns);
        tally.lost += event.lost;
    }

    /// Returns the number of events so far.
    pub fn events(&self) -> u64 {
        let listed: u64 = self.tallies.iter().map(|tally| tally.number).sum();
        listed + self.unlisted
    }

    /// Returns the text for people: the lines and the table. `width` is in terminal columns.
    pub fn text(&self, width: u16) -> String {
        let lines = self.lines().into_iter();
        let lines = lines.map(|(name, line)| format!("{name:<11}{}\n", escape::line(&line)));
        let text = fold::text(&lines.collect::<String>(), width.into());
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
            .number("together", |(_, it)| time_text(it.together_ns))
            .number("longest", |(_, it)| time_text(it.longest_ns))
            .number("lost", |(_, it)| it.lost.to_string());
        let names = CLASSES.iter().map(|(_, name)| *name);
        let rows = names.zip(self.tallies).filter(|(_, it)| it.number > 0);
        columns.table(rows)
    }

    /// Returns the lines of the summary, each with its name.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let header = &self.header;
        let to = match &header.to {
            Some(to) => format!("to {to} ({})", header.address),
            None => "over loopback".to_owned(),
        };
        let soaked = format!(
            "{} at {} probes of {} B per second {to}{}",
            time_text(self.probes.length_ns),
            header.rate,
            u32::from(header.payload),
            if self.is_cut_off {
                ", not to its end"
            } else {
                ""
            }
        );
        let mut lines = vec![
            ("soak", soaked),
            ("available", self.availability()),
            ("lost", self.losses()),
        ];
        if self.rtt.count() > 0 {
            let longest = time_text(self.longest_rtt_ns);
            let round_trip = format!("{}, longest {longest}", quantiles(&self.rtt));
            lines.push(("round trip", round_trip));
        }
        if header.to.is_some() {
            lines.push(("one way", self.one_way.line()));
        }
        for (name, (times, last)) in &self.said {
            let text = match times {
                1 => last.clone(),
                _ => format!("{times} times; the last: {last}"),
            };
            lines.push((name, text));
        }
        lines.extend(self.gone.iter().map(|why| ("other end", why.clone())));
        if self.unlisted > 0 {
            let text = "more events than the log lists for each hour; their silence is counted";
            lines.push(("unlisted", format!("{} {text}", self.unlisted)));
        }
        lines.extend(self.next().into_iter().map(|step| ("next", step)));
        lines
    }

    fn losses(&self) -> String {
        let probes = &self.probes;
        let all = probes.sent + probes.refused;
        let lost = all - probes.returned;
        let share = 100.0 * lost as f64 / all.max(1) as f64;
        let more = match probes.unsent {
            0 => String::new(),
            unsent => format!("; this host was too late to send {unsent} more"),
        };
        format!("{lost} of {all} probes ({share:.4} %){more}")
    }

    /// Returns what to type next: the places where most probes were lost first.
    fn next(&self) -> Vec<String> {
        let mut steps: Vec<_> = self.steps.iter().collect();
        steps.sort_by_key(|(_, (number, lost))| std::cmp::Reverse((*lost, *number)));
        let rest = steps.split_off(steps.len().min(NEXT_STEPS));
        let line = |((kind, step), (number, _)): (&(Kind, String), &(u64, u64))| match number {
            1 => format!("{}, {step}", kind.word()),
            _ => format!("{}, {number} times, {step}", kind.word()),
        };
        let mut lines: Vec<String> = steps.into_iter().map(line).collect();
        if !rest.is_empty() {
            let lost: u64 = rest.iter().map(|(_, (_, lost))| lost).sum();
            let places = counted(rest.len(), "more place");
            lines.push(format!(
                "{places} with {lost} lost: the log has their events"
            ));
        }
        lines
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
        let number: u64 = self.tallies[..SILENCES].iter().map(|it| it.number).sum();
        if number == 0 {
            return format!("{share:.4} % of the time: no silence");
        }
        let between = time_text(whole((measured - silent).max(0.0) / number as f64));
        let longest = time_text(self.longest_silence_ns);
        let not_over = if self.broke_off_in_silence {
            "; one was not over at the end, and may have lasted longer"
        } else {
            ""
        };
        format!(
            "{share:.4} % of the time: {}, longest {longest}, one every {between} without silence, on average{not_over}",
            counted(number, "silence")
        )
    }
}

#[cfg(test)]
mod tests;
