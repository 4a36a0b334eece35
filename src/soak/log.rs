//! The log of a soak: JSON Lines, each written as soon as it is known. The first line is the [`Header`], each other one
//! an [`Entry`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::event::{Event, Remark};
use super::minute::{Minute, Probes};
use crate::data::{Payload, Rate};
use crate::host::facts::InterfaceKind;
use crate::results::log::{Kind, Log, Run};
use crate::results::row::Network;
use crate::text::duration::ns;
use crate::workload::Probing;

/// Time after which a probe counts as lost, in nanoseconds.
const TIMEOUT_NS: u64 = 1_000_000_000;
/// Events that the log has for each hour, at most. The others are counted in the minute that follows.
const EVENTS_PER_HOUR: u32 = 500;
/// An hour, in nanoseconds.
const HOUR_NS: u64 = 3_600_000_000_000;

/// First line of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
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

impl Kind for Header {
    type Event = Entry;
    const NAME: &'static str = "soak";
    const WHAT: &'static str = "the log of a soak";
}

impl Header {
    /// Returns the name of the other end for messages.
    pub fn far_end(&self) -> &str {
        self.to.as_deref().unwrap_or("the other end")
    }

    /// Returns what is between the ends.
    pub fn network(&self) -> Network {
        match (&self.to, self.interface_kind) {
            (None, _) => Network::Loopback,
            (Some(_), InterfaceKind::Veth) => Network::Veth,
            (Some(_), _) => Network::Wire,
        }
    }

    /// Returns the time between two probes, in nanoseconds.
    pub fn gap_ns(&self) -> f64 {
        1e9 / self.rate.per_second()
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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
pub type SoakLog = Log<Header>;

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

impl Header {
    /// Returns the probes of the time that is left after `elapsed_ns`.
    pub fn probing(&self, elapsed_ns: u64) -> Probing {
        let left = self.length.as_secs_f64() - elapsed_ns as f64 / 1e9;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a day of the highest rate is far below 2^64"
        )]
        let probes = (left * self.rate.per_second()).max(1.0) as u64;
        Probing {
            gap_ns: self.gap_ns(),
            probes,
            payload_bytes: u32::from(self.payload) as usize,
            timeout_ns: TIMEOUT_NS,
        }
    }
}

/// Settings of the clock that the log has for each hour, at most.
const CLOCK_SETS_PER_HOUR: u32 = 20;

/// Counter that keeps the log small when there are very many events.
#[derive(Debug, Default)]
pub struct Quota {
    hour: u64,
    listed: u32,
    unlisted: u64,
    unlisted_silent_ns: u64,
    /// Hour and number of the last settings of the clock.
    clock_sets: (u64, u32),
}

impl Quota {
    /// Returns whether the log takes a note that somebody set the clock, at this time of the soak.
    pub fn admits_clock_set(&mut self, start_ns: u64) -> bool {
        let (hour, listed) = &mut self.clock_sets;
        let now = start_ns / HOUR_NS;
        if now != *hour {
            (*hour, *listed) = (now, 0);
        }
        *listed += 1;
        *listed <= CLOCK_SETS_PER_HOUR
    }

    /// Returns whether the log would take this event, which is the next.
    pub fn has_room(&mut self, event: &Event) -> bool {
        let hour = event.start_ns / HOUR_NS;
        if hour != self.hour {
            (self.hour, self.listed) = (hour, 0);
        }
        self.listed < EVENTS_PER_HOUR
    }

    /// Returns whether the log takes this event.
    pub fn admits(&mut self, event: &Event) -> bool {
        let has_room = self.has_room(event);
        if has_room {
            self.listed += 1;
        } else {
            self.unlisted += 1;
            self.unlisted_silent_ns += event.silent_ns;
        }
        has_room
    }

    /// Moves the count of the events that were not admitted into a minute.
    pub fn add_to(&mut self, minute: &mut Minute) {
        minute.unlisted += std::mem::take(&mut self.unlisted);
        minute.unlisted_silent_ns += std::mem::take(&mut self.unlisted_silent_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::summary::Summary;
    use crate::sys::clock_watch::ClockSet;

    #[test]
    fn a_clock_that_is_set_over_and_over_is_noted_twenty_times_an_hour_and_summed_up() {
        let mut quota = Quota::default();
        let half_minutes = (0..240).map(|n| n * 30_000_000_000);
        let noted: Vec<u64> = half_minutes
            .filter(|at| quota.admits_clock_set(*at))
            .collect();
        assert_eq!(noted.len(), 40);
        let header = r#"{"version":"0","started_at":"","command_line":[],"machine":"","board":"","to":null,"address":"",
            "interface":"lo","interface_kind":"loopback","rate":1000,"payload":64,"length_ns":1,"outage_ns":1,
            "delay_ns":1}"#;
        let header: Header = serde_json::from_str(header).expect("a header");
        let mut summary = Summary::new(header);
        for at in ["10:00", "11:00"] {
            let set = ClockSet {
                at_ns: 0,
                by_ns: -3_000_000,
                suspended_ns: 0,
            };
            let (at, start_ns, what) = (at.to_owned(), 0, Remark::ClockSet { set });
            summary.take(&Entry::Remark(Note { at, start_ns, what }));
        }
        let lines = summary.lines();
        let clock = lines
            .iter()
            .find(|(name, _)| *name == "clock")
            .expect("a line");
        let last = "the clock of this host was set back by 3.000 ms, at 11:00";
        assert_eq!(clock.1, format!("set 2 times; the last: {last}"));
    }
}
