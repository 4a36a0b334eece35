//! The log of a soak: JSON Lines, each written as soon as it is known. The first line is the [`SoakHeader`], each other
//! one an [`Entry`].

use std::ops::Deref;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::event::{Event, Remark};
use super::minute::{Minute, Probes};
use crate::data::{Payload, Rate};
use crate::host::facts::InterfaceKind;
use crate::log::{Kind, Log, Run};
use crate::text::digits::whole;
use crate::text::duration::ns;
use crate::workload::Probing;

/// Time after which a probe counts as lost, in nanoseconds.
const TIMEOUT_NS: u64 = 1_000_000_000;
/// Events and settings of the clock that the log has for each hour, at most. The others are counted in the minute that
/// follows.
const LISTED_PER_HOUR: u32 = 500;
/// An hour, in nanoseconds.
const HOUR_NS: u64 = 3_600_000_000_000;

/// First line of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SoakHeader {
    /// Circumstances of the run.
    #[serde(flatten)]
    pub run: Run,
    /// This host.
    pub machine: String,
    /// Name of its board profile.
    pub board: String,
    /// The other host as it was typed. `None`: over loopback.
    pub to: Option<String>,
    /// Address of the other end.
    pub address: String,
    /// Interface of this host.
    pub interface: String,
    /// Its kind.
    pub interface_kind: InterfaceKind,
    /// Probes per second.
    pub rate: Rate,
    /// Length of a probe, in bytes.
    pub payload: Payload,
    /// Length of the soak.
    #[serde(rename = "length_ns", with = "ns")]
    pub length: Duration,
    /// Shortest silence that counts as an outage.
    #[serde(rename = "outage_ns", with = "ns")]
    pub outage: Duration,
    /// A delay is a round trip longer than twice the usual one and this.
    #[serde(rename = "delay_ns", with = "ns")]
    pub delay: Duration,
}

impl Kind for SoakHeader {
    type Event = Entry;
    const NAME: &'static str = "soak";
    const WHAT: &'static str = "the log of a soak";
}

impl SoakHeader {
    /// Returns the name of the other end for messages.
    pub fn far_end(&self) -> &str {
        self.to.as_deref().unwrap_or("the other end")
    }

    /// Returns the time between two probes, in nanoseconds.
    pub fn gap_ns(&self) -> f64 {
        1e9 / self.rate.per_second()
    }

    /// Returns the probes of the time that is left after `elapsed_ns`.
    pub fn probing(&self, elapsed_ns: u64) -> Probing {
        let left = self.length.as_secs_f64() - elapsed_ns as f64 / 1e9;
        Probing {
            gap_ns: self.gap_ns(),
            probes: whole(left * self.rate.per_second()).max(1),
            payload_bytes: u32::from(self.payload) as usize,
            timeout_ns: TIMEOUT_NS,
        }
    }
}

/// Any other line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// An event of more than two seconds is not over: as it would be if it was.
    Open(Box<Event>),
    /// An event is over.
    Event(Box<Event>),
    /// A minute is over.
    Minute(Box<Minute>),
    /// The minute that is not over, until this line: in case that no other one follows.
    SoFar(Probes),
    /// A remark that the summary counts.
    Remark(Note),
}

/// A remark and its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Time by this host's clock, as in RFC 3339.
    pub at: String,
    /// Nanoseconds since the start of the soak.
    pub start_ns: u64,
    /// What happened.
    pub what: Remark,
}

impl Entry {
    /// Returns whether the soak ended with it in good order.
    pub(super) fn is_end(&self) -> bool {
        matches!(self, Self::Remark(note) if note.what == Remark::Ended)
    }
}

/// A log that was read.
#[derive(Clone, Debug)]
pub struct SoakLog(Log<SoakHeader>);

impl From<Log<SoakHeader>> for SoakLog {
    fn from(log: Log<SoakHeader>) -> Self {
        Self(log)
    }
}

impl Deref for SoakLog {
    type Target = Log<SoakHeader>;

    fn deref(&self) -> &Log<SoakHeader> {
        &self.0
    }
}

impl SoakLog {
    /// Returns the events in the order of the log: also those that were not over when the log, or a part of it, ended.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        events(&self.lines)
    }

    /// Returns the time that the soak still has to run. Zero once it has ended.
    pub fn left(&self) -> Duration {
        if self.lines.last().is_some_and(Entry::is_end) {
            return Duration::ZERO;
        }
        let elapsed = Duration::from_nanos(self.elapsed_ns());
        self.header.length.saturating_sub(elapsed)
    }

    /// Returns the time that the soak has lasted, in nanoseconds.
    pub fn elapsed_ns(&self) -> u64 {
        let ends = self.lines.iter().map(|entry| match entry {
            Entry::Minute(minute) => minute.probes.end_ns(),
            Entry::SoFar(probes) => probes.end_ns(),
            Entry::Event(event) | Entry::Open(event) => event.start_ns + event.length_ns,
            Entry::Remark(note) => note.start_ns,
        });
        ends.max().unwrap_or(0)
    }
}

/// Returns the events of these lines: see [`SoakLog::events`].
pub(super) fn events(lines: &[Entry]) -> impl Iterator<Item = &Event> {
    let (mut events, mut open) = (Vec::new(), None);
    for entry in lines {
        match entry {
            Entry::Open(event) => open = Some(&**event),
            Entry::Event(event) => {
                open = None;
                events.push(&**event);
            }
            Entry::Remark(note) if note.what == Remark::Resumed => events.extend(open.take()),
            _ => {}
        }
    }
    events.into_iter().chain(open)
}

/// Counter that keeps the log small when there are very many events.
#[derive(Debug, Default)]
pub struct Quota {
    hour: u64,
    listed: u32,
    unlisted: u64,
    unlisted_silent_ns: u64,
}

impl Quota {
    /// Returns whether the log has room for a line at this time of the soak.
    pub fn has_room(&mut self, start_ns: u64) -> bool {
        let hour = start_ns / HOUR_NS;
        if hour != self.hour {
            (self.hour, self.listed) = (hour, 0);
        }
        self.listed < LISTED_PER_HOUR
    }

    /// Returns whether the log takes a line at this time, in which this much was silent.
    pub fn admits(&mut self, start_ns: u64, silent_ns: u64) -> bool {
        let has_room = self.has_room(start_ns);
        if has_room {
            self.listed += 1;
        } else {
            self.unlisted += 1;
            self.unlisted_silent_ns += silent_ns;
        }
        has_room
    }

    /// Moves the count of the events that were not admitted into a minute.
    pub fn add_to(&mut self, minute: &mut Minute) {
        minute.unlisted += std::mem::take(&mut self.unlisted);
        minute.unlisted_silent_ns += std::mem::take(&mut self.unlisted_silent_ns);
    }
}
