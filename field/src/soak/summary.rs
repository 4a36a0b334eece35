//! The summary of a soak: follows from its log alone, live or read again.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::event::{Event, Kind, Remark};
use super::log::{Entry, Note, SoakHeader, SoakLog, events};
use super::minute::{Minute, Probes};
use super::one_way::{one_way, quantiles};
use crate::data::Histogram;
use crate::term::table::{Columns, Table};
use crate::term::{escape, fold};
use crate::text::digits::counted;
use crate::text::digits::whole;
use crate::time::time_text;

/// Upper ends of the classes of silences, in nanoseconds, and their names.
const SILENCES: [(u64, &str); 5] = [
    (100_000_000, "silence of less than 100 ms"),
    (1_000_000_000, "silence of 100 ms to 1 s"),
    (10_000_000_000, "silence of 1 s to 10 s"),
    (60_000_000_000, "silence of 10 s to 1 min"),
    (u64::MAX, "silence of more than 1 min"),
];
/// Places that the summary has a next step for, at most.
const NEXT_STEPS: usize = 5;

/// Summary of some entries.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// Header of the log.
    pub header: &'a SoakHeader,
    /// Its other lines.
    pub entries: &'a [Entry],
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
    pub fn summary(&self) -> Summary<'_> {
        Summary {
            header: &self.header,
            entries: &self.lines,
        }
    }
}

impl<'a> Summary<'a> {
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
        let rows = self.tallies().into_iter();
        columns.table(rows.filter(|(_, tally)| tally.number > 0))
    }

    /// Returns the events of each class.
    fn tallies(&self) -> Vec<(&'static str, Tally)> {
        let mut least_ns = 0;
        let silences = SILENCES.map(|(end_ns, name)| {
            let lengths_ns = std::mem::replace(&mut least_ns, end_ns)..end_ns;
            (name, Kind::Silence, lengths_ns)
        });
        let others = [Kind::Loss, Kind::Delay, Kind::Unsent];
        let others = others.map(|kind| (kind.word(), kind, 0..u64::MAX));
        let classes = silences.into_iter().chain(others);
        let tally = |(name, kind, lengths_ns): (_, Kind, std::ops::Range<u64>)| {
            let of_class = events(self.entries)
                .filter(|it| it.kind == kind && lengths_ns.contains(&it.longest_silence_ns));
            let mut tally = Tally::default();
            for event in of_class {
                let (number, together_ns, longest_ns) = match kind {
                    Kind::Silence => (event.silences, event.silent_ns, event.longest_silence_ns),
                    _ => (1, event.length_ns, event.length_ns),
                };
                tally.number += number;
                tally.together_ns += together_ns;
                tally.longest_ns = tally.longest_ns.max(longest_ns);
                tally.lost += event.lost;
            }
            (name, tally)
        };
        classes.map(tally).collect()
    }

    fn minutes(&self) -> impl Iterator<Item = &'a Minute> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Minute(minute) => Some(&**minute),
            _ => None,
        })
    }

    fn notes(&self) -> impl Iterator<Item = &'a Note> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Remark(note) => Some(note),
            _ => None,
        })
    }

    /// Returns the probes of all minutes, with those of the minutes that something cut off.
    fn probes(&self) -> Probes {
        let (mut sum, mut so_far) = (Probes::default(), Probes::default());
        for entry in self.entries {
            match entry {
                Entry::SoFar(probes) => so_far = *probes,
                Entry::Minute(minute) => {
                    so_far = Probes::default();
                    sum.add(&minute.probes);
                }
                Entry::Remark(note) if note.what == Remark::Resumed => {
                    sum.add(&std::mem::take(&mut so_far));
                }
                _ => {}
            }
        }
        sum.add(&so_far);
        sum
    }

    /// Returns the lines of the summary, each with its name.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let probes = self.probes();
        let mut lines = vec![
            ("soak", self.asked(&probes)),
            ("available", self.availability(&probes)),
            ("lost", losses(&probes)),
        ];
        let mut rtt = Histogram::default();
        self.minutes().for_each(|minute| rtt.add(&minute.rtt));
        if rtt.count() > 0 {
            let longest = time_text(self.minutes().map(|it| it.longest_ns).max().unwrap_or(0));
            let text = format!("{}, longest {longest}", quantiles(&rtt));
            lines.push(("round trip", text));
        }
        if self.header.to.is_some() {
            lines.push(("one way", one_way(self.minutes())));
        }
        lines.extend(self.said());
        let unlisted: u64 = self.minutes().map(|it| it.unlisted).sum();
        if unlisted > 0 {
            let text = "more events than the log lists for each hour; their silence is counted";
            lines.push(("unlisted", format!("{unlisted} {text}")));
        }
        lines.extend(self.next().into_iter().map(|step| ("next", step)));
        lines
    }

    fn asked(&self, probes: &Probes) -> String {
        let header = self.header;
        let to = match &header.to {
            Some(to) => format!("to {to} ({})", header.address),
            None => "over loopback".to_owned(),
        };
        let is_whole = self.entries.last().is_some_and(Entry::is_end);
        format!(
            "{} at {} probes of {} B per second {to}{}",
            time_text(probes.length_ns),
            header.rate,
            u32::from(header.payload),
            if is_whole { "" } else { ", not to its end" }
        )
    }

    /// Returns what happened beside the events: how often, and the last time in words.
    fn said(&self) -> Vec<(&'static str, String)> {
        let (mut said, mut gone) = (BTreeMap::<_, (u64, String)>::new(), None);
        for note in self.notes() {
            let what = note.what.to_string();
            let (name, text) = match &note.what {
                Remark::StartedAgain { .. } | Remark::Restarted { .. } => ("other end", what),
                Remark::ProgramEnded { .. } | Remark::NotStarted { .. } => {
                    gone = Some(("other end", what));
                    continue;
                }
                Remark::ClockSet { .. } => ("clock", format!("{what}, at {}", note.at)),
                Remark::Resumed => ("resumed", self.interruption(note)),
                _ => continue,
            };
            gone = gone.filter(|_| name == "clock");
            let (times, last) = said.entry(name).or_default();
            (*times, *last) = (*times + 1, text);
        }
        let said = said.into_iter().map(|(name, (times, last))| match times {
            1 => (name, last),
            _ => (name, format!("{times} times; the last: {last}")),
        });
        said.chain(gone).collect()
    }

    /// Returns from when to when nothing was measured: from the last moment before that has a time of day. The start in
    /// the header has no fractions.
    fn interruption(&self, resumed: &Note) -> String {
        let mut part = (&*self.header.run.started_at, 0);
        for entry in self.entries {
            match entry {
                Entry::Remark(note) if note == resumed => break,
                Entry::Remark(note) => part = (&note.at, note.start_ns),
                Entry::Event(event) | Entry::Open(event) if !event.at.is_empty() => {
                    part = (&event.at, event.start_ns);
                }
                _ => {}
            }
        }
        let (at, start_ns) = part;
        let lasted = Duration::from_nanos(resumed.start_ns.saturating_sub(start_ns));
        let ended = humantime::parse_rfc3339(at).ok().map(|it| it + lasted);
        let from = ended.map(|it| format!(" from {}", humantime::format_rfc3339_millis(it)));
        format!("not measured{} to {}", from.unwrap_or_default(), resumed.at)
    }

    /// Returns what to type next: the places where most probes were lost first.
    fn next(&self) -> Vec<String> {
        let mut steps = BTreeMap::<(Kind, String), (u64, u64)>::new();
        for event in events(self.entries) {
            for (step, by) in event.steps(self.header) {
                let (number, lost) = steps.entry((event.kind, step)).or_default();
                (*number, *lost) = (*number + 1, *lost + by);
            }
        }
        let mut steps: Vec<_> = steps.into_iter().collect();
        steps.sort_by_key(|(_, (number, lost))| Reverse((*lost, *number)));
        let rest = steps.split_off(steps.len().min(NEXT_STEPS));
        let line = |((kind, step), (number, _)): ((Kind, String), (u64, u64))| match number {
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
    fn availability(&self, probes: &Probes) -> String {
        let unsent_ns = probes.unsent as f64 * self.header.gap_ns();
        let measured = probes.length_ns as f64 - unsent_ns;
        if measured <= 0.0 {
            return "not known: the log ends too early".to_owned();
        }
        let of = |of: fn(&Event) -> u64| events(self.entries).map(of);
        let unlisted: u64 = self.minutes().map(|it| it.unlisted_silent_ns).sum();
        let silent = (of(|it| it.silent_ns).sum::<u64>() + unlisted) as f64;
        let share = 100.0 * (1.0 - silent / measured).max(0.0);
        let number: u64 = of(|it| it.silences).sum();
        if number == 0 {
            return format!("{share:.4} % of the time: no silence");
        }
        let between = time_text(whole((measured - silent).max(0.0) / number as f64));
        let longest = time_text(of(|it| it.longest_silence_ns).max().unwrap_or(0));
        let mut silences = events(self.entries).filter(|it| it.kind == Kind::Silence);
        let not_over = if silences.any(Event::is_open) {
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

fn losses(probes: &Probes) -> String {
    let all = probes.sent + probes.refused;
    let lost = all - probes.returned;
    let share = 100.0 * lost as f64 / all.max(1) as f64;
    let more = match probes.unsent {
        0 => String::new(),
        unsent => format!("; this host was too late to send {unsent} more"),
    };
    format!("{lost} of {all} probes ({share:.4} %){more}")
}

#[cfg(test)]
mod tests;
