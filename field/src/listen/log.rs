//! The log of a listener: JSON Lines, each written as soon as it is known. The first line is the [`ListenHeader`], each
//! other one an [`Entry`].

use std::ops::Deref;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::row::{Row, Shown};
use crate::data::listened::Gap;
use crate::log::{Kind, Log, Run};
use crate::term::{escape, fold};
use crate::text::digits::number;
use crate::text::digits::{counted, counted_with_verb};
use crate::text::duration::{self, ns};
use crate::time::{seconds_between, time_of_day, utc};

/// First line of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListenHeader {
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

impl Kind for ListenHeader {
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

impl From<Gap> for Silence {
    fn from(gap: Gap) -> Self {
        Self {
            began_at: utc(gap.began_ns),
            ms: gap.ns as f64 / 1e6,
            dropped: gap.dropped,
        }
    }
}

impl Silence {
    /// Returns the moment and the length.
    pub fn text(&self) -> String {
        let dropped = match self.dropped {
            0 => String::new(),
            some => format!(
                ", in which {} dropped at the socket",
                counted_with_verb(some, "datagram")
            ),
        };
        let (moment, ms) = (time_of_day(&self.began_at), number(Some(self.ms), 3));
        format!("{moment} UTC {ms} ms{dropped}")
    }
}

/// Lines of a summary, each with its name. The name is empty if it is that of the line before.
pub type Lines = Vec<(String, String)>;

/// Returns the text of a summary's lines. `width` is in terminal columns.
pub fn text(lines: &[(String, String)], width: usize) -> String {
    let lines = lines.iter();
    let lines = lines.map(|(name, line)| format!("{name:<10}{}\n", escape::line(line)));
    fold::text(&lines.collect::<String>(), width)
}

/// Returns the first line of a summary: how much came in some seconds. `from`: its sources, if they are known.
pub fn came(datagrams: u64, bytes: u64, seconds: f64, from: &str) -> String {
    let seconds = seconds.max(1e-9);
    format!(
        "{} in {seconds:.1} s{from}: {} per second, {} Mb/s of payload",
        counted(datagrams, "datagram"),
        number(Some(datagrams as f64 / seconds), 1),
        number(Some(bytes as f64 * 8.0 / seconds / 1e6), 2),
    )
}

/// A log that was read.
#[derive(Clone, Debug)]
pub struct ListenLog(Log<ListenHeader>);

impl From<Log<ListenHeader>> for ListenLog {
    fn from(log: Log<ListenHeader>) -> Self {
        Self(log)
    }
}

impl Deref for ListenLog {
    type Target = Log<ListenHeader>;

    fn deref(&self) -> &Log<ListenHeader> {
        &self.0
    }
}

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

    /// Returns the text for people: the windows, and the lines of the summary. `width` is in terminal columns.
    pub fn text(&self, width: u16) -> String {
        let shown = Shown {
            silences: self.header.gap_ns.is_some(),
            sequence: self.header.is_numbered,
            buffer_bytes: self.header.buffer_bytes,
        };
        let rows: Vec<&Row> = self.rows().collect();
        let (table, width) = (shown.table(&rows), width.into());
        table.header(width) + &table.body(width) + &text(&self.summary(), width)
    }

    /// Returns the lines of the summary: those that the listener wrote at its end, else what its windows tell.
    pub fn summary(&self) -> Lines {
        let on = &self.header.listens_on;
        let written = self.ended().and_then(|ended| ended.get("lines"));
        let written = written.and_then(|lines| Lines::deserialize(lines).ok());
        let cut_off = if written.is_some() {
            ""
        } else {
            "; the log ends before its end"
        };
        let listened = ("listened".to_owned(), format!("on {on}{cut_off}"));
        let lines = written.unwrap_or_else(|| self.lines_of_windows());
        std::iter::once(listened).chain(lines).collect()
    }

    fn lines_of_windows(&self) -> Lines {
        let sum = |of: fn(&Row) -> u64| self.rows().map(of).sum::<u64>();
        let seconds = self.rows().map(|row| row.seconds).sum();
        let came = came(sum(|row| row.datagrams), sum(|row| row.bytes), seconds, "");
        let silences = self.header.gap_ns.map(|ns| {
            let gap = duration::text(Duration::from_nanos(ns));
            format!("{} of {gap} or longer", sum(|row| row.silences))
        });
        let missing: i64 = self.rows().map(|row| row.missing_numbers).sum();
        let sequence = self
            .header
            .is_numbered
            .then(|| format!("{missing} missing, of all sources whose numbers follow each other"));
        let drops = format!(
            "socket {}; for any program: kernel {}, interfaces {}",
            sum(|row| row.dropped_socket),
            sum(Row::dropped_kernel),
            sum(|row| row.dropped_nic)
        );
        let lines = [
            ("silences", silences),
            ("sequence", sequence),
            ("drops", Some(drops)),
        ];
        let known = lines
            .into_iter()
            .filter_map(|(name, line)| Some((name, line?)));
        let all = std::iter::once(("came", came)).chain(known);
        all.map(|(name, line)| (name.to_owned(), line)).collect()
    }

    /// Returns the seconds from the first window to a time in RFC 3339.
    pub fn seconds_to(&self, utc: &str) -> f64 {
        let first = self.rows().next();
        first.map_or(0.0, |first| seconds_between(&first.opened_at, utc))
    }
}
