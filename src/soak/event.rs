//! Events of a soak: their kind, place, size and text.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::remark::{Counter, Remark};
use super::time_text;
use crate::sys::loss_places::{Layer, LossPlace, PLACES};

/// Kinds of events. An event of several has the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nothing returned for a while: an outage.
    Silence,
    /// Probes were lost, with others between them that returned.
    Loss,
    /// Round trips were much longer than before.
    Delay,
    /// This host could not send at the rate. What the path did meanwhile is not known.
    Unsent,
}

/// Place where most of an event's probes were lost or delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// This host: it refused to send, its socket was full, or the program did not run.
    Here,
    /// The interface of this host: its carrier changed, or it was set down.
    Link,
    /// The path to the other end.
    Forward,
    /// The path back.
    Back,
    /// Both paths, or which of them is not known.
    Path,
    /// The other end: its program did not read in time, or did not run.
    FarEnd,
}

/// An event: faults that are less than a second apart. Times are in nanoseconds since the start of the soak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Time by this host's clock when it began, as in RFC 3339.
    #[serde(default)]
    pub at: String,
    /// Kind.
    pub kind: Kind,
    /// Place.
    pub place: Place,
    /// True if a full receive buffer at that place lost most of it.
    #[serde(default)]
    pub is_full: bool,
    /// Due time of the first probe that it touched.
    pub start_ns: u64,
    /// Time from `start_ns` to the first probe that it did not touch any more.
    pub length_ns: u64,
    /// Probes that were due in it.
    pub due: u64,
    /// Probes lost in it, with refused ones.
    pub lost: u64,
    /// Probes lost before the other end's program received them. `None`: not known.
    pub lost_forward: Option<u64>,
    /// Probes that this host's kernel refused to send.
    pub refused: u64,
    /// Error number of the last refusal. 0: none.
    pub refused_errno: i32,
    /// Probes that this host was too late to send.
    pub unsent: u64,
    /// Silences in it: runs of lost probes that last as long as an outage.
    pub silences: u64,
    /// Longest of these.
    pub longest_silence_ns: u64,
    /// Sum of these.
    pub silent_ns: u64,
    /// Usual round-trip time before.
    pub usual_rtt_ns: u64,
    /// Highest median of the round-trip times in a tenth of a second.
    pub rtt_ns: u64,
    /// What happened from a second before to a second after the event.
    #[serde(default)]
    pub notes: Vec<Remark>,
}

impl Kind {
    /// All kinds, in their order.
    pub const ALL: [Self; 4] = [Self::Silence, Self::Loss, Self::Delay, Self::Unsent];

    /// Returns the word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Silence => "silence",
            Self::Loss => "loss",
            Self::Delay => "delay",
            Self::Unsent => "unsent",
        }
    }
}

impl Event {
    /// Returns the line for people, which does not begin with the time of day. `host` is the other end.
    pub fn line(&self, host: &str) -> String {
        let mut parts = vec![self.size()];
        if self.lost > 0 {
            parts.push(format!("{} of {} lost", self.lost, self.due));
        }
        if self.unsent > 0 {
            parts.push(format!("{} not sent", self.unsent));
        }
        if self.rtt_ns > 0 {
            let (rtt, usual) = (time_text(self.rtt_ns), time_text(self.usual_rtt_ns));
            parts.push(format!("round trip {rtt} instead of {usual}"));
        }
        parts.push(self.place_text(host));
        let is_said = |note: &Remark| self.place == Place::Link && Some(note) == self.set_down();
        let notes = self.notes.iter().filter(|note| !is_said(note));
        let notes = notes.map(Remark::to_string);
        let parts = std::iter::once(parts.join(", ")).chain(notes);
        let text = parts.collect::<Vec<_>>().join("; ");
        format!("{:<8}{text}", self.kind.word())
    }

    /// Returns the row for programs: an object without lists.
    pub fn row(&self) -> Value {
        let mut row = serde_json::to_value(self).unwrap_or_default();
        let codes: Vec<&str> = self.notes.iter().map(Remark::code).collect();
        row["note_codes"] = codes.join(" ").into();
        row["notes"] = self.notes_text().into();
        row
    }

    /// Returns the notes for people.
    pub fn notes_text(&self) -> String {
        let notes: Vec<String> = self.notes.iter().map(Remark::to_string).collect();
        notes.join("; ")
    }

    fn size(&self) -> String {
        let length = time_text(self.length_ns);
        match self.kind {
            Kind::Silence if self.silences > 1 => {
                let longest = time_text(self.longest_silence_ns);
                format!("{length} ({} times, longest {longest})", self.silences)
            }
            Kind::Silence if self.length_ns > 2 * self.longest_silence_ns => {
                let silence = time_text(self.longest_silence_ns);
                format!("{silence} within {length}")
            }
            Kind::Silence => time_text(self.longest_silence_ns),
            _ => length,
        }
    }

    /// Returns the note that somebody set this host's interface down. `None`: nobody did.
    pub(super) fn set_down(&self) -> Option<&Remark> {
        let is_set_down = |note: &&Remark| matches!(note, Remark::SetDown { .. });
        self.notes.iter().find(is_set_down)
    }

    /// Returns the place at the other end's socket that dropped most of what was lost, unless it was a full buffer.
    pub(super) fn dropped_at_its_socket(&self) -> Option<&'static LossPlace> {
        let counted = self.notes.iter().filter_map(|note| match note {
            Remark::Counted {
                counter: Counter::There(name),
                by,
            } => Some((name, *by)),
            _ => None,
        });
        let mut counted = counted.filter(|(_, by)| 2 * by > self.lost);
        counted.find_map(|(name, _)| {
            let mut places = PLACES.iter().filter(|place| place.layer == Layer::Socket);
            places.find(|place| place.what == *name)
        })
    }

    /// Returns the place for people.
    pub fn place_text(&self, host: &str) -> String {
        match self.place {
            Place::Here if self.refused > 0 => {
                let error = io::Error::from_raw_os_error(self.refused_errno);
                format!("here: sending failed: {error}")
            }
            Place::Here if self.is_full => {
                "here: this program's receive buffer was full".to_owned()
            }
            Place::Here => "here: this program did not get to run".to_owned(),
            Place::Link => match self.set_down() {
                Some(note) => note.to_string(),
                None => "at this host's link".to_owned(),
            },
            Place::Forward => format!("on the way to {host}"),
            Place::Back => format!("on the way from {host}"),
            Place::Path => "on the way there or back".to_owned(),
            Place::FarEnd if self.kind == Kind::Delay => {
                format!("at {host}: its program answered late")
            }
            Place::FarEnd if self.is_full => match self.dropped_at_its_socket() {
                Some(place) => format!("at {host}: {}", place.what),
                // A program that runs, however slowly, would have answered.
                None if self.kind == Kind::Silence => {
                    format!(
                        "at {host}: its program did not read, until its receive buffer was full"
                    )
                }
                None => format!("at {host}: its program's receive buffer was full"),
            },
            Place::FarEnd => format!("at {host}: its program did not answer"),
        }
    }
}
