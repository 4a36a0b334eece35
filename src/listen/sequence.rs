//! What the numbers of each source tell, for the summary and the log.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::row::{time_of_day, utc};
use crate::data::sequence::{Doubt, SequenceCounts, Series};
use crate::term::digits::counted;

/// Sources whose losses have lines of their own.
const LISTED: usize = 8;

/// Numbers of all sources. Nothing is added up: sources have nothing to do with each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sequence {
    /// Sources with numbers.
    pub sources: Vec<SourceNumbers>,
    /// Datagrams without a number where one is expected.
    pub unnumbered: u64,
    /// Datagrams of other sources: there were too many.
    pub not_followed: u64,
}

/// Numbers of a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceNumbers {
    /// Name of the source.
    pub source: String,
    /// Reason for which its losses cannot be known. `None`: its numbers follow each other.
    pub doubt: Option<String>,
    /// Its counts. `None`: its numbers are not believed.
    pub counts: Option<SequenceCounts>,
    /// Missing numbers that the socket dropped. `None`: not known.
    pub dropped_at_socket: Option<u64>,
    /// The most of these that the drops of the socket at their time allow.
    pub dropped_at_socket_most: Option<u64>,
    /// Missing numbers that were lost before the socket. `None`: not known.
    pub lost_before_socket: Option<u64>,
    /// UTC of the first place where the numbers began again.
    #[serde(default)]
    pub first_restart_at: Option<String>,
    /// Restarts that are jumps forward too large for their time.
    #[serde(default)]
    pub jumps: u64,
    /// The first of these.
    #[serde(default)]
    pub first_jump: Option<Jump>,
}

/// A jump forward of the numbers that is too large for its time to be a loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jump {
    /// UTC of the first number after it.
    pub at: String,
    /// Numbers.
    pub numbers: u64,
    /// Time since the number before it.
    pub ms: f64,
    /// Numbers that can have been sent in this time, at the most.
    pub possible: u64,
}

impl Sequence {
    /// Returns the missing numbers that were lost before the socket, or may have been.
    pub fn lost_before_socket(&self) -> u64 {
        let all = self.sources.iter().filter_map(|source| {
            let exact = source.lost_before_socket;
            exact.or_else(|| Some(source.counts?.missing.try_into().unwrap_or(0)))
        });
        all.sum()
    }

    /// Returns the lines of the summary.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for numbers in self.sources.iter().take(LISTED) {
            if self.sources.len() > 1 || self.not_followed > 0 {
                lines.push(format!("{}:", numbers.source));
            }
            lines.extend(numbers.lines());
        }
        let more = self.sources.len().saturating_sub(LISTED);
        if more > 0 {
            lines.push(format!("and {}", counted(more, "more source")));
        }
        if self.not_followed > 0 {
            lines.push(format!(
                "losses of {} of other sources cannot be known: there are too many",
                of("datagram", self.not_followed)
            ));
        }
        if self.unnumbered > 0 {
            lines.push(format!("datagrams without a number: {}", self.unnumbered));
        }
        if lines.is_empty() {
            lines.push("no datagram had a number".to_owned());
        }
        lines
    }
}

impl SourceNumbers {
    /// Creates the numbers of a source. `is_exact`: each drop of the socket has a missing number of the same time.
    pub fn new(source: String, series: Result<Series, Doubt>, is_exact: bool) -> Self {
        let series = match series {
            Ok(series) => series,
            Err(doubt) => {
                return Self {
                    source,
                    doubt: Some(doubt.to_string()),
                    counts: None,
                    dropped_at_socket: None,
                    dropped_at_socket_most: None,
                    lost_before_socket: None,
                    first_restart_at: None,
                    jumps: 0,
                    first_jump: None,
                };
            }
        };
        let missing = u64::try_from(series.counts.missing).unwrap_or(0);
        let at_socket = series.possible_drops;
        let is_exact = at_socket == 0 || is_exact && at_socket == series.matched_drops;
        Self {
            source,
            doubt: None,
            counts: Some(series.counts),
            dropped_at_socket: is_exact.then_some(at_socket),
            dropped_at_socket_most: Some(at_socket),
            lost_before_socket: is_exact.then(|| missing - at_socket),
            first_restart_at: series.first_restart_ns.map(utc),
            jumps: series.jumps,
            first_jump: series.first_jump.map(|jump| Jump {
                at: utc(jump.at_ns),
                numbers: jump.numbers,
                ms: jump.ns as f64 / 1e6,
                possible: jump.possible,
            }),
        }
    }

    fn lines(&self) -> Vec<String> {
        let Some(counts) = self.counts else {
            let doubt = self.doubt.as_deref().unwrap_or("unknown");
            return vec![format!("losses cannot be known: {doubt}")];
        };
        let missing = u64::try_from(counts.missing).unwrap_or(0);
        let mut first = format!(
            "{missing} of {} missing",
            of("number", counts.received + missing)
        );
        if missing > 0 {
            let places = u64::try_from(counts.places).unwrap_or(0);
            let _ = write!(first, ", in {}", of("place", places));
        }
        let _ = write!(first, "; {} late, {} twice", counts.late, counts.duplicates);
        let mut lines = vec![first];
        let began_again = counts.restarts - self.jumps.min(counts.restarts);
        if began_again > 0 {
            let at = self.first_restart_at.as_deref().map_or("", time_of_day);
            let first = if began_again > 1 { ", first" } else { "," };
            lines.push(format!(
                "the numbers began again in {}{first} at {at} UTC: what was lost there cannot be known",
                of("place", began_again)
            ));
        }
        lines.extend(self.first_jump.as_ref().map(|jump| jump.line(self.jumps)));
        if counts.strays > 0 {
            lines.push(format!(
                "numbers far off: {}, of which some may be missing ones that came very late",
                counts.strays
            ));
        }
        if missing > 0 {
            lines.push(self.places(missing));
        }
        lines
    }

    fn places(&self, missing: u64) -> String {
        let most = self.dropped_at_socket_most.unwrap_or(0);
        match (self.dropped_at_socket, self.lost_before_socket) {
            (Some(here), Some(before)) => format!(
                "{here} of the missing were dropped at the socket, {before} were lost before it"
            ),
            _ => format!(
                "0 to {} of the {missing} missing were dropped at the socket, and the others were lost before it",
                most.min(missing)
            ),
        }
    }
}

impl Jump {
    /// Returns the line of the first of some jumps.
    fn line(&self, jumps: u64) -> String {
        let Self {
            at,
            numbers,
            ms,
            possible,
        } = self;
        let more = match jumps.saturating_sub(1) {
            0 => String::new(),
            more => format!("; {more} more such jumps"),
        };
        format!(
            "the numbers jumped by {numbers} in {ms:.1} ms at {} UTC (at its pace, at most {possible} were sent then): its \
             counter began again, or losses there cannot be known{more}",
            time_of_day(at)
        )
    }
}

fn of(noun: &str, count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), noun)
}
