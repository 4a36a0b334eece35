//! A line of the numbers behind the answer, as cells of a table and as a sentence.

use std::fmt::Write as _;

use crate::term::table::{Columns, Table};

/// The best engine of a technique beside std, and what it gains and loses under some conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gain {
    /// How it moves datagrams.
    pub technique: &'static str,
    /// Its label.
    pub engine: String,
    /// Under which conditions: `1460 B`.
    pub at: String,
    /// What the value is: `times std`, or `kpps` where std was not measured; CPU time where only that was asked for.
    pub unit: &'static str,
    /// The value, or the lowest and the highest.
    pub value: String,
    /// How far its 95 % interval reaches, in percent: half of it, or both sides. Empty: not known.
    pub reach_pct: String,
    /// Whether that is surely faster or slower than std; or that it loses too much for that to count.
    pub than_std: &'static str,
    /// CPU time per datagram, and what that is: `times std`, or `ns`. Empty: not known, or not asked for.
    pub cpu: String,
    /// Datagrams lost, in percent of the sent ones. Empty: not known.
    pub lost_pct: String,
}

impl Gain {
    /// A table of gains, which tells a technique once. Columns of which nothing is known are left out.
    pub fn table(gains: &[Self]) -> Table {
        let unit = gains.first().map_or("", |it| it.unit);
        let columns = Columns::<Self>::default()
            .word("technique", |it| it.technique.to_owned())
            .word("engine", |it| it.engine.clone())
            .word("at", |it| it.at.clone())
            .number(unit, |it| it.value.clone())
            .spare(1, "+-%", |it| it.reach_pct.clone())
            .spare(2, "vs std", |it| it.than_std.to_owned())
            .spare(3, "CPU time", |it| it.cpu.clone())
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

    /// The same in words, for places without columns.
    pub fn sentence(&self) -> String {
        let Self {
            technique,
            engine,
            at,
            unit,
            value,
            reach_pct,
            than_std,
            cpu,
            lost_pct,
        } = self;
        let mut text = format!("{technique}: {engine} at {at}, {value} {unit}");
        let reach = (!reach_pct.is_empty()).then(|| format!("+-{reach_pct} %"));
        let said = [reach.as_deref().unwrap_or_default(), than_std];
        let said: Vec<&str> = said.into_iter().filter(|it| !it.is_empty()).collect();
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
