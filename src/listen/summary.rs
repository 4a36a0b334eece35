//! The summary that follows from a log, whether or not it is complete.

use serde::Deserialize;

use super::log::{ListenLog, Silence, SilentSource};
use super::row::{Row, time_of_day};
use super::sequence::Sequence;
use crate::results::export::table::number;
use crate::term::{escape, fold};
use crate::text::digits::counted;

/// Silences whose moments are listed.
const LISTED: usize = 10;

impl ListenLog {
    /// Returns the text for people: the windows, and the lines of the summary. `width` is in terminal columns.
    pub fn text(&self, width: u16) -> String {
        let rows: Vec<&Row> = self.rows().collect();
        let lines = self.lines().into_iter();
        let lines = lines.map(|(name, line)| format!("{name:<10}{}\n", escape::line(&line)));
        let table = self.shown().table(&rows);
        let (table, width) = (&table, width.into());
        let lines = fold::text(&lines.collect::<String>(), width);
        table.header(width) + &table.body(width) + &lines
    }

    /// Returns the lines of the summary, each with its name.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let header = &self.header;
        let cut_off = match self.ended() {
            Some(_) => "",
            None => "; the log ends before its end",
        };
        let mut lines = vec![
            ("listened", format!("on {}{cut_off}", header.listens_on)),
            ("came", self.came()),
        ];
        lines.extend(self.gaps().map(|text| ("gaps", text)));
        lines.extend(self.clock_sets().map(|text| ("clock", text)));
        if header.gap_ns.is_some() {
            lines.push(("silences", self.all_silences()));
            let mut longest: Vec<&Silence> = self.silences().collect();
            longest.sort_by(|one, other| other.ms.total_cmp(&one.ms));
            longest.truncate(LISTED);
            longest.sort_by(|one, other| one.began_at.cmp(&other.began_at));
            lines.extend(longest.into_iter().map(|it| ("", it.text())));
            lines.extend(self.quiet_end().map(|text| ("", text)));
        }
        lines.extend(self.silent_sources().map(|it| ("silent", it.text())));
        if header.is_numbered {
            let labels = std::iter::once("sequence").chain(std::iter::repeat(""));
            lines.extend(labels.zip(self.sequence()));
        }
        let [socket, backlog, protocols, nic] = [
            self.sum(|row| row.dropped_socket),
            self.sum(|row| row.dropped_backlog),
            self.sum(|row| row.dropped_protocols),
            self.sum(|row| row.dropped_nic),
        ];
        lines.push((
            "drops",
            format!(
                "socket {socket}; for any program: backlog {backlog}, IP and UDP {protocols}, interfaces {nic}"
            ),
        ));
        lines.extend(self.not_looked_at().map(|text| ("", text)));
        lines
    }

    fn not_looked_at(&self) -> Option<String> {
        let places = self.ended()?.pointer("/drops/not_looked_at")?;
        let places = Vec::<String>::deserialize(places).ok()?;
        (!places.is_empty()).then(|| format!("not looked at: {}", places.join(", ")))
    }

    fn sum(&self, of: fn(&Row) -> u64) -> u64 {
        self.rows().map(of).sum()
    }

    fn came(&self) -> String {
        let datagrams = self.sum(|row| row.datagrams);
        let bytes = self.sum(|row| row.bytes);
        let seconds: f64 = self.rows().map(|row| row.seconds).sum();
        let per_second = |count: u64| count as f64 / seconds.max(1e-9);
        format!(
            "{} in {seconds:.1} s: {} per second, {} Mb/s of payload",
            counted(datagrams, "datagram"),
            number(Some(per_second(datagrams)), 1),
            number(Some(per_second(bytes) * 8.0 / 1e6), 2),
        )
    }

    /// Returns the longest gap, and the others as far as the summary of the run tells them.
    fn gaps(&self) -> Option<String> {
        let length = |row: &&Row| row.gap_max_us.unwrap_or(-1.0);
        let longest = self
            .rows()
            .max_by(|one, other| length(one).total_cmp(&length(other)))?;
        let (us, began_at) = longest
            .gap_max_us
            .zip(longest.gap_max_began_at.as_deref())?;
        let known = |path: &str| self.ended()?.pointer(path)?.as_f64();
        let others = known("/gaps/p50_us").zip(known("/gaps/p99_us"));
        let others = others.map(|(p50, p99)| {
            let us = |value| number(Some(value), 1);
            format!("p50 {} us, p99 {} us, ", us(p50), us(p99))
        });
        Some(format!(
            "{}longest {} ms from {} UTC on",
            others.unwrap_or_default(),
            number(Some(us / 1e3), 3),
            time_of_day(began_at)
        ))
    }

    /// Returns how often somebody set the clock, and when first. `None`: nobody did.
    fn clock_sets(&self) -> Option<String> {
        let first = self.rows().find(|row| row.clock_sets > 0)?;
        let times = self.sum(|row| row.clock_sets.into());
        Some(format!(
            "the clock of this host was set {}, first in the window of {} UTC, by {} ms",
            counted(times, "time"),
            time_of_day(&first.opened_at),
            first.clock_set_ms
        ))
    }

    fn all_silences(&self) -> String {
        let count = self.sum(|row| row.silences);
        let shortest_ms = self.header.gap_ns.unwrap_or(0) as f64 / 1e6;
        let longest = if self.silences().nth(LISTED).is_some() {
            ", the longest of them at"
        } else {
            ""
        };
        format!("{count} of {shortest_ms} ms or longer{longest}")
    }

    /// Returns the silence that the end cut off.
    fn quiet_end(&self) -> Option<String> {
        let ms = self.ended()?.pointer("/silences/quiet_end_ms")?.as_f64()?;
        let shortest_ms = self.header.gap_ns? as f64 / 1e6;
        (ms >= shortest_ms).then(|| quiet_end_text(ms))
    }

    fn silent_sources(&self) -> impl Iterator<Item = SilentSource> {
        let all = self.ended().and_then(|it| it.get("silent_sources"));
        let all = all.and_then(|it| Vec::deserialize(it).ok());
        all.unwrap_or_default().into_iter().take(LISTED)
    }

    /// Returns what the numbers tell. A log that was cut off has only the windows' sums over all believed sources.
    fn sequence(&self) -> Vec<String> {
        let ended = self.ended().and_then(|it| it.get("sequence"));
        if let Some(sequence) = ended.and_then(|it| Sequence::deserialize(it).ok()) {
            let before = self.ended().and_then(|it| it.get("lost_before_socket"));
            let before = before.and_then(|it| it.as_str()).map(str::to_owned);
            return sequence.lines().into_iter().chain(before).collect();
        }
        let missing: i64 = self.rows().map(|row| row.missing_numbers).sum();
        let [late, twice] = [
            self.sum(|row| row.late_datagrams),
            self.sum(|row| row.duplicates),
        ];
        vec![format!(
            "{} missing; {late} late, {twice} twice, of all sources whose numbers follow each other",
            counted(missing, "number"),
        )]
    }
}

/// Returns the text of a silence that the end cut off.
pub fn quiet_end_text(ms: f64) -> String {
    format!("and the last {} ms before the end", number(Some(ms), 3))
}

impl SilentSource {
    /// Returns the source and the moment.
    pub fn text(&self) -> String {
        format!(
            "{} since {} UTC, {:.1} s before the end",
            self.source,
            time_of_day(&self.since),
            self.ms / 1e3
        )
    }
}

impl Silence {
    /// Returns the moment and the length.
    pub fn text(&self) -> String {
        let moment = time_of_day(&self.began_at);
        let ms = number(Some(self.ms), 3);
        match self.dropped {
            0 => format!("{moment} UTC {ms} ms"),
            1 => format!("{moment} UTC {ms} ms, in which 1 datagram was dropped at the socket"),
            dropped => format!(
                "{moment} UTC {ms} ms, in which {dropped} datagrams were dropped at the socket"
            ),
        }
    }
}
