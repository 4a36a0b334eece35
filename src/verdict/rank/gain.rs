//! Numbers behind the answer, one line per engine, as a table row and as a sentence.

use std::fmt::{self, Write as _};

use super::measure::Measure;
use crate::term::digits::signed;
use crate::term::table::{Columns, Table};

/// The best engine of a technique except std, with its gains and losses under some conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gain {
    /// Technique of moving datagrams.
    pub technique: &'static str,
    /// The engine's label.
    pub engine: String,
    /// Conditions, such as `1460 B`, or the number of combinations of them, such as `6 combinations`.
    pub at: String,
    /// Unit of the value: `times std`, or `kpps` where std was not measured. If only CPU time was requested: `times
    /// std's CPU time`, or `CPU ns`.
    pub unit: &'static str,
    /// The value, or the lowest and the highest value.
    pub value: String,
    /// Reach of the 95 % interval, in percent: half of the interval, or both sides. Empty if unknown.
    pub interval_text: String,
    /// Comparison with std. `None`: std, or std was not measured.
    pub than_std: Option<ThanStd>,
    /// CPU time per datagram, as a ratio to std or in nanoseconds. Empty if unknown or not requested.
    pub cpu: String,
    /// Datagrams lost, in percent of the datagrams sent. Empty if unknown.
    pub lost_pct: String,
}

impl Gain {
    /// Returns a table of gains. A technique is named once, and columns without any value are left out.
    pub fn table(gains: &[Self]) -> Table {
        let unit = gains.first().map_or("", |it| it.unit);
        let columns = Columns::<Self>::default()
            .word("technique", |it| it.technique.to_owned())
            .word("engine", |it| it.engine.clone())
            .word("at", |it| it.at.clone())
            .number(unit, |it| it.value.clone())
            .spare(1, "+-%", |it| it.interval_text.clone())
            .spare(3, "verdict", |it| {
                it.than_std.map_or_else(String::new, |it| it.to_string())
            })
            .spare(2, "CPU time", |it| it.cpu.clone())
            .number("lost %", |it| it.lost_pct.clone())
            .known_of(gains);
        let mut table = columns.empty();
        for alike in gains.chunk_by(|one, other| one.technique == other.technique) {
            for (n, gain) in alike.iter().enumerate() {
                let technique = if n == 0 { gain.technique } else { "" };
                let gain = gain.clone();
                table.row(columns.cells(&Self { technique, ..gain }));
            }
        }
        table
    }

    /// Returns the gain as a sentence, for places without columns.
    pub fn sentence(&self) -> String {
        let Self {
            technique,
            engine,
            at,
            unit,
            value,
            interval_text,
            than_std,
            cpu,
            lost_pct,
        } = self;
        let mut text = format!("{technique}: {engine} at {at}, {value} {unit}");
        let reach = (!interval_text.is_empty()).then(|| format!("{} %", signed(interval_text)));
        let than_std = than_std.map(|it| it.to_string());
        let said: Vec<String> = reach.into_iter().chain(than_std).collect();
        if !said.is_empty() {
            let _ = write!(text, " ({})", said.join(", "));
        }
        if !cpu.is_empty() {
            let _ = write!(text, ", CPU time {cpu}");
        }
        if !lost_pct.is_empty() {
            let _ = write!(text, ", {lost_pct} % lost");
        }
        text
    }
}

/// How an engine compares with std by a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThanStd {
    /// Surely better by this measure.
    Better(Measure),
    /// Surely worse by this measure.
    Worse(Measure),
    /// Better by its own interval alone, not round by round.
    Perhaps,
    /// They differ by less than a choice needs.
    Tie,
    /// They may differ by more.
    Unclear,
    /// It lost too much for its value to count.
    Lossy,
    /// Its uncertainty is not known.
    NoInterval,
}

impl fmt::Display for ThanStd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Better(Measure::Speed) => "faster",
            Self::Better(Measure::RoundTrip) => "sooner",
            Self::Better(Measure::Cpu) => "less",
            Self::Worse(Measure::Speed) => "slower",
            Self::Worse(Measure::RoundTrip) => "later",
            Self::Worse(Measure::Cpu) => "more",
            Self::Perhaps => "perhaps",
            Self::Tie => "a tie",
            Self::Unclear => "unclear",
            Self::Lossy => "lossy",
            Self::NoInterval => "no interval",
        })
    }
}

/// Returns the gains of an engine in a few words: `3.4 times std at 26 B, 3.0 at 1460 B; 0.32, 0.36 of its CPU time`.
pub(super) fn in_short(gains: &[&Gain]) -> String {
    let unit = |n: usize| if n == 0 { gains[n].unit } else { "" };
    let values = gains.iter().enumerate().map(|(n, gain)| {
        let value = format!("{} {}", gain.value, unit(n));
        format!("{} at {}", value.trim_end(), gain.at)
    });
    let values: Vec<String> = values.collect();
    let cpu = gains.iter().map(|gain| gain.cpu.as_str());
    let cpu: Vec<&str> = cpu.filter(|cpu| !cpu.is_empty()).collect();
    let mut text = values.join(", ");
    if !cpu.is_empty() {
        let cpu = cpu.join(", ");
        let _ = if gains[0].than_std.is_some() {
            write!(text, "; {cpu} of its CPU time")
        } else {
            write!(text, "; CPU time {cpu}")
        };
    }
    text
}
