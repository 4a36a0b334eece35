//! What the numbers of each source tell, for the summary.

use serde_json::{Value, json};

use crate::data::sequence::{Doubt, Series};
use crate::text::digits::counted;
use crate::time::{utc, utc_time};

/// Sources whose losses have lines of their own.
const LISTED: usize = 8;

/// Numbers of all sources. Nothing is added up: sources have nothing to do with each other.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// Sources with numbers.
    pub sources: Vec<SourceNumbers>,
    /// Datagrams without a number where one is expected.
    pub unnumbered: u64,
    /// Datagrams of other sources: there were too many.
    pub not_followed: u64,
}

/// Numbers of a source.
#[derive(Clone, Debug)]
pub struct SourceNumbers {
    /// Name of the source.
    source: String,
    /// Its numbers, or the reason for which its losses cannot be known.
    numbers: Result<Series, Doubt>,
    /// Missing numbers that the socket dropped, at most: as many as its drops at their time allow.
    at_socket: u64,
    /// It dropped as many as that.
    is_exact: bool,
}

impl Sequence {
    /// Returns the fewest and the most missing numbers that were lost before the socket, which dropped `drops`
    /// datagrams in all.
    pub fn lost_before_socket(&self, drops: u64) -> (u64, u64) {
        let (mut least, mut most, mut missing) = (0, 0, 0);
        for source in &self.sources {
            let of_source = source.missing();
            missing += of_source;
            least += of_source - source.at_socket;
            most += of_source - if source.is_exact { source.at_socket } else { 0 };
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
        if self.unnumbered > 0 || lines.is_empty() {
            lines.push(format!("datagrams without a number: {}", self.unnumbered));
        }
        lines
    }

    /// Returns the numbers for programs.
    pub fn json(&self) -> Value {
        let sources: Vec<Value> = self.sources.iter().map(SourceNumbers::json).collect();
        json!({"sources": sources, "unnumbered": self.unnumbered, "not_followed": self.not_followed})
    }
}

impl SourceNumbers {
    /// Creates the numbers of a source. `is_exact`: each drop of the socket has a missing number of the same time.
    /// `late_drops`: drops that the socket may have counted later than they came, as of a wrong checksum, which it
    /// finds when it is read; `drops`: all of the socket.
    pub fn new(
        source: String,
        numbers: Result<Series, Doubt>,
        is_exact: bool,
        (late_drops, drops): (u64, u64),
    ) -> Self {
        let at_socket = numbers.as_ref().map_or((0, false), |series| {
            let is_matched = is_exact && series.possible_drops == series.matched_drops;
            let possible = drops.min(series.possible_drops + late_drops);
            let at_socket = if is_matched {
                series.matched_drops
            } else {
                missing(series).min(possible)
            };
            (at_socket, at_socket == 0 || is_matched)
        });
        Self {
            source,
            numbers,
            at_socket: at_socket.0,
            is_exact: at_socket.1,
        }
    }

    fn missing(&self) -> u64 {
        self.numbers.as_ref().map_or(0, missing)
    }

    fn json(&self) -> Value {
        let series = self.numbers.as_ref().ok();
        let jump = series.and_then(|series| series.first_jump).map(|jump| {
            let (at, ms) = (utc(jump.at_ns), jump.ns as f64 / 1e6);
            json!({"at": at, "numbers": jump.numbers, "ms": ms, "possible": jump.possible})
        });
        json!({
            "source": self.source,
            "doubt": self.numbers.as_ref().err().map(Doubt::to_string),
            "counts": series.map(|it| it.counts),
            "dropped_at_socket": self.is_exact.then_some(self.at_socket),
            "dropped_at_socket_most": series.map(|_| self.at_socket),
            "lost_before_socket": self.is_exact.then(|| self.missing() - self.at_socket),
            "first_restart_at": series.and_then(|it| it.first_restart_ns).map(utc),
            "jumps": series.map_or(0, |it| it.jumps),
            "first_jump": jump,
        })
    }

    fn lines(&self) -> Vec<String> {
        let series = match &self.numbers {
            Ok(series) => series,
            Err(doubt) => return vec![format!("losses cannot be known: {doubt}")],
        };
        let (counts, missing) = (series.counts, missing(series));
        let places = match counts.places {
            0 => String::new(),
            places => format!(", in {}", counted(places, "place")),
        };
        let mut lines = vec![format!(
            "{missing} of {} missing{places}; {} late, {} twice",
            counted(counts.received + missing, "number"),
            counts.late,
            counts.duplicates
        )];
        let began_again = counts.restarts.saturating_sub(series.jumps);
        if let Some(first_ns) = series.first_restart_ns.filter(|_| began_again > 0) {
            let first = if began_again > 1 { ", first" } else { "," };
            lines.push(format!(
                "the numbers began again in {}{first} at {}: what was lost there cannot be known",
                counted(began_again, "place"),
                utc_time(first_ns)
            ));
        }
        if let Some(jump) = series.first_jump {
            let more = match series.jumps {
                0 | 1 => String::new(),
                jumps => format!("; {jumps} such jumps"),
            };
            lines.push(format!(
                "the numbers jumped over {} in {:.1} ms at {} (at its pace, at most {} were sent then): its counter \
                 began again, or losses there cannot be known{more}",
                jump.numbers.saturating_sub(1),
                jump.ns as f64 / 1e6,
                utc_time(jump.at_ns),
                jump.possible
            ));
        }
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
        let (at_socket, before) = (self.at_socket, missing - self.at_socket);
        if self.is_exact {
            return format!(
                "{at_socket} of the missing were dropped at the socket, {before} were lost before it"
            );
        }
        let others = match before {
            0 => "",
            _ => ", all others were lost before it",
        };
        format!("up to {at_socket} of the missing were dropped at the socket{others}")
    }
}

fn missing(series: &Series) -> u64 {
    u64::try_from(series.counts.missing).unwrap_or(0)
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
    let unseen = if all_is_looked_at {
        ""
    } else {
        ", or at a place of this host that was not looked at (below)"
    };
    let text = match lost {
        (_, 0) => return None,
        _ if !links.is_empty() => format!(
            "{} meanwhile, and this host dropped up to {here} packets (below); others on the way: {on_the_way}",
            links.join(", ")
        ),
        (0, _) => format!(
            "none has to be lost there: the socket dropped as many as are missing; this host dropped up to {here} besides \
             (below)"
        ),
        (least, _) if least <= here => format!(
            "on this host, which dropped up to {here} then for any program (below), or on the way: {on_the_way}"
        ),
        (least, _) if here > 0 => format!(
            "this host dropped up to {here} (below); at least {} on the way{unseen}: {on_the_way}",
            least - here
        ),
        _ if !all_is_looked_at => format!("on the way{unseen}: {on_the_way}"),
        _ => format!("not on this host, whose counters did not move, but on the way: {on_the_way}"),
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
            !before.contains("cable") && !before.contains("way:"),
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
                "before it: not on this host, whose counters did not move, but on the way: the cable",
            ),
            (
                (16, 999),
                20,
                "on this host, which dropped up to 20 then for any program (below), or on the way: the",
            ),
            (
                (16, 999),
                6,
                "this host dropped up to 6 (below); at least 10 on the way: the cable",
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
        let text = before_socket((1956, 1956), 1, &links, true).expect("some were lost");
        let expected = "before it: wan0 was set down here meanwhile, and this host dropped up to 1 packets (below); others ";
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(before_socket((0, 0), 0, &links, true), None);
    }
}
