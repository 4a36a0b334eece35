//! Findings from the numbers of each source, for the summary and the log.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::row::{time_of_day, utc};
use crate::data::sequence::{Doubt, SequenceCounts, Series};
use crate::text::digits::counted;

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
    /// Difference between this number and the one before it.
    pub numbers: u64,
    /// Time since the number before it.
    pub ms: f64,
    /// Numbers that can have been sent in this time, at the most.
    pub possible: u64,
}

impl Sequence {
    /// Returns the fewest and the most missing numbers that were lost before the socket, which dropped `drops` datagrams
    /// in all.
    pub fn lost_before_socket(&self, drops: u64) -> (u64, u64) {
        let (mut least, mut most, mut missing) = (0, 0, 0);
        for source in &self.sources {
            let of_source = source.missing();
            let at_socket = source.dropped_at_socket_most.unwrap_or(0);
            let exact = source.lost_before_socket;
            missing += of_source;
            least += exact.unwrap_or_else(|| of_source.saturating_sub(at_socket));
            most += exact.unwrap_or(of_source);
        }
        // Sources share the drops.
        (least.max(missing.saturating_sub(drops)).min(most), most)
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
                counted(self.not_followed, "datagram")
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
    /// `late_drops`: drops that the socket may have counted later than they came, as of a wrong checksum, which it
    /// finds when it is read; `drops`: all of the socket.
    pub fn new(
        source: String,
        series: Result<Series, Doubt>,
        is_exact: bool,
        (late_drops, drops): (u64, u64),
    ) -> Self {
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
        let is_matched = is_exact && series.possible_drops == series.matched_drops;
        let at_socket = if is_matched {
            series.matched_drops
        } else {
            missing.min(drops).min(series.possible_drops + late_drops)
        };
        let is_exact = at_socket == 0 || is_matched;
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

    fn missing(&self) -> u64 {
        let missing = self.counts.map_or(0, |counts| counts.missing);
        u64::try_from(missing).unwrap_or(0)
    }

    fn lines(&self) -> Vec<String> {
        let Some(counts) = self.counts else {
            let doubt = self.doubt.as_deref().unwrap_or("unknown");
            return vec![format!("losses cannot be known: {doubt}")];
        };
        let missing = self.missing();
        let mut first = format!(
            "{missing} of {} missing",
            counted(counts.received + missing, "number")
        );
        if missing > 0 {
            let places = u64::try_from(counts.places).unwrap_or(0);
            let _ = write!(first, ", in {}", counted(places, "place"));
        }
        let _ = write!(first, "; {} late, {} twice", counts.late, counts.duplicates);
        let mut lines = vec![first];
        let began_again = counts.restarts - self.jumps.min(counts.restarts);
        if began_again > 0 {
            let at = self.first_restart_at.as_deref().map_or("", time_of_day);
            let first = if began_again > 1 { ", first" } else { "," };
            lines.push(format!(
                "the numbers began again in {}{first} at {at} UTC: what was lost there cannot be known",
                counted(began_again, "place")
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
            _ if most >= missing => {
                format!("up to {missing} of the missing were dropped at the socket")
            }
            _ => format!(
                "up to {most} of the {missing} missing were dropped at the socket, all others were lost before it"
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
            "the numbers jumped over {} in {ms:.1} ms at {} UTC (at its pace, at most {possible} were sent then): its \
             counter began again, or losses there cannot be known{more}",
            numbers.saturating_sub(1),
            time_of_day(at)
        )
    }
}

/// Returns the text about where numbers were lost before the socket, and the next step. `lost` are the fewest and the
/// most of them; this host dropped `here` packets before the socket meanwhile, and `links` happened to its interfaces.
/// `None`: none were lost there.
pub fn before_socket(
    lost: (u64, u64),
    here: u64,
    links: &[String],
    all_is_looked_at: bool,
) -> Option<String> {
    let on_the_way = "the cable, its plugs and switches; at the sender: tc -s qdisc; ip -s link; or it left them out: \
                      tcpdump there";
    let text = match lost {
        (_, 0) => return None,
        (0, _) if links.is_empty() => {
            let dropped = match here {
                0 => String::new(),
                _ => format!("; this host dropped up to {here} besides (below)"),
            };
            format!("none has to be lost there: the socket dropped as many as are missing{dropped}")
        }
        _ if !links.is_empty() => {
            let dropped = match here {
                0 => String::new(),
                _ => format!("; this host dropped up to {here} besides"),
            };
            format!(
                "{} meanwhile (below){dropped}; others on the way: {on_the_way}",
                links.join(", ")
            )
        }
        (least, most) if (least..=2 * most).contains(&here) => {
            "on this host, which dropped as many then (below), or on the way".to_owned()
        }
        (least, _) if least <= here => format!(
            "on the way, or among the {here} that this host dropped then for any program (below). On the way: {on_the_way}"
        ),
        (least, _) if here > 0 && !all_is_looked_at => format!(
            "this host dropped up to {here} (below); at least {} on the way, or at a place of this host that was not \
             looked at (below). On the way: {on_the_way}",
            least - here
        ),
        (least, _) if here > 0 => format!(
            "this host dropped up to {here} (below); at least {} did not reach it: {on_the_way}",
            least - here
        ),
        _ if !all_is_looked_at => format!(
            "on the way, or at a place of this host that was not looked at (below). On the way: {on_the_way}"
        ),
        (least, most) => {
            let number = if least < most {
                format!("at least {least} ")
            } else {
                String::new()
            };
            format!(
                "{number}not on this host, whose counters did not move, but before it: {on_the_way}"
            )
        }
    };
    Some(format!("before it: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::sequence::SequenceCounts;

    /// Numbers of which 999 are missing, and 983 of them may have been dropped by the stamps of the socket.
    fn series() -> Series {
        let counts = SequenceCounts {
            received: 4000,
            missing: 999,
            ..SequenceCounts::default()
        };
        Series {
            counts,
            matched_drops: 983,
            possible_drops: 983,
            jumps: 0,
            first_restart_ns: None,
            first_jump: None,
        }
    }

    fn sequence(late_drops: u64) -> Sequence {
        let source =
            SourceNumbers::new("camera".to_owned(), Ok(series()), false, (late_drops, 1000));
        Sequence {
            sources: vec![source],
            ..Sequence::default()
        }
    }

    #[test]
    fn wrong_checksums_that_explain_all_missing_numbers_leave_none_for_the_cable() {
        let sequence = sequence(1000);
        let text = sequence.lines().join("\n");
        let all = "up to 999 of the missing were dropped at the socket";
        assert!(text.contains(all), "{text}");
        assert_eq!(sequence.lost_before_socket(1000), (0, 999));
        let before = before_socket((0, 999), 0, &[], true).expect("it is not exact");
        assert!(
            !before.contains("cable") && !before.contains("way"),
            "{before}"
        );
    }

    #[test]
    fn drops_of_the_socket_that_are_fewer_than_the_missing_numbers_leave_the_others_for_the_way() {
        for (late_drops, drops, least) in [(0, 983, 16), (10, 993, 6), (1000, 900, 99)] {
            let lost = sequence(late_drops).lost_before_socket(drops);
            assert_eq!(lost, (least, 999), "{late_drops} {drops}");
        }
        for (lost, here, expected) in [
            (
                (16, 999),
                0,
                "at least 16 not on this host, whose counters did not move, but before it: the cable",
            ),
            ((16, 16), 0, "before it: not on this host"),
            (
                (16, 999),
                20,
                "on this host, which dropped as many then (below), or on the way",
            ),
            (
                (9, 9),
                60,
                "on the way, or among the 60 that this host dropped",
            ),
            (
                (16, 999),
                6,
                "this host dropped up to 6 (below); at least 10 did not reach it: the cable",
            ),
        ] {
            let text = before_socket(lost, here, &[], true).expect("some were lost");
            assert!(text.contains(expected), "{text}");
        }
        assert_eq!(before_socket((0, 0), 5, &[], true), None);
    }

    #[test]
    fn an_interface_of_this_host_that_was_set_down_comes_before_the_way() {
        let links = ["wan0 was set down here".to_owned()];
        for (here, dropped) in [(0, ""), (1, "; this host dropped up to 1 besides")] {
            let text = before_socket((1956, 1956), here, &links, true).expect("some were lost");
            let expected = format!(
                "before it: wan0 was set down here meanwhile (below){dropped}; others on the way: "
            );
            assert!(text.starts_with(&expected), "{text}");
        }
        assert_eq!(before_socket((0, 0), 0, &links, true), None);
    }
}
