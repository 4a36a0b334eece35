//! The log of a listener: JSON Lines, each written as soon as it is known. The first line is the [`Header`], each other
//! one an [`Entry`].

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::row::{Row, seconds_between, utc};
use super::table::Shown;
use crate::data::listened::Gap;
use crate::results::log::{Kind, Log, Run};
use crate::text::duration::ns;

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
    /// Port, address or group, and the buffer, for people.
    pub listens_on: String,
    /// Size of the receive buffer as the kernel counts it, in bytes.
    pub buffer_bytes: u32,
    /// Length of a window.
    #[serde(rename = "window_ns", with = "ns")]
    pub window: Duration,
    /// Shortest gap that counts as a silence. `None`: not asked for.
    pub gap_ns: Option<u64>,
    /// Datagrams have sequence numbers.
    pub is_numbered: bool,
}

impl Kind for Header {
    type Event = Entry;
    const NAME: &'static str = "listen";
    const WHAT: &'static str = "the log of a listener";
}

/// Any other line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A window is over.
    Window(Box<Row>),
    /// A silence of the window before this line: its first 20.
    Silence(Silence),
    /// The listener ended in good order: its summary, as `--format json` writes it.
    Ended(Value),
}

/// A gap between arrivals of at least `--gap`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Silence {
    /// Time of the last datagram before it, in UTC.
    pub began_at: String,
    /// Length in milliseconds.
    pub ms: f64,
    /// Datagrams that the socket dropped meanwhile: with some, the sender was not silent.
    pub dropped: u32,
}

/// A source that sent nothing any more at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SilentSource {
    /// Its name.
    pub source: String,
    /// UTC of its last datagram.
    pub since: String,
    /// Time from then to the end.
    pub ms: f64,
}

impl From<Gap> for Silence {
    fn from(gap: Gap) -> Self {
        Self {
            began_at: utc(gap.began_ns),
            ms: gap.ns as f64 / 1e6,
            dropped: gap.dropped,
        }
    }
}

/// A log that was read.
pub type ListenLog = Log<Header>;

impl ListenLog {
    /// Returns the windows in the order of time.
    pub fn rows(&self) -> impl Iterator<Item = &Row> + Clone {
        self.lines.iter().filter_map(|entry| match entry {
            Entry::Window(row) => Some(&**row),
            _ => None,
        })
    }

    /// Returns the silences in the order of time.
    pub fn silences(&self) -> impl Iterator<Item = &Silence> {
        self.lines.iter().filter_map(|entry| match entry {
            Entry::Silence(silence) => Some(silence),
            _ => None,
        })
    }

    /// Returns the summary. `None`: the log was cut off.
    pub fn ended(&self) -> Option<&Value> {
        self.lines.iter().find_map(|entry| match entry {
            Entry::Ended(summary) => Some(summary),
            _ => None,
        })
    }

    /// Returns the columns of its table.
    pub fn shown(&self) -> Shown {
        Shown {
            silences: self.header.gap_ns.is_some(),
            sequence: self.header.is_numbered,
            buffer_bytes: self.header.buffer_bytes,
        }
    }

    /// Returns the seconds from the first window to a time in RFC 3339.
    pub fn seconds_to(&self, utc: &str) -> f64 {
        let first = self.rows().next();
        first.map_or(0.0, |first| seconds_between(&first.opened_at, utc))
    }
}
