//! A line of the numbers behind the answer, as cells of a table and as a sentence.

use std::fmt::Write as _;

use crate::columns::{Columns, trimmed};

const REACH: &str = "+-%";
const VS_STD: &str = "vs std";
const CPU_TIME: &str = "CPU time";

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
    /// What the columns are called, and the cells of each row: for people, who are told a technique once. Columns of which
    /// nothing is known are left out.
    pub fn table(gains: &[Self]) -> (Vec<&'static str>, Vec<Vec<&str>>) {
        type Cell = fn(&Gain) -> &str;
        let all: [(&str, Cell); 8] = [
            ("technique", |it| it.technique),
            ("engine", |it| &it.engine),
            ("at", |it| &it.at),
            (gains.first().map_or("", |it| it.unit), |it| &it.value),
            (REACH, |it| &it.reach_pct),
            (VS_STD, |it| it.than_std),
            (CPU_TIME, |it| &it.cpu),
            ("lost %", |it| &it.lost_pct),
        ];
        let is_known = |(_, cell): &(&str, Cell)| gains.iter().any(|it| !cell(it).is_empty());
        let (headings, cells): (Vec<&str>, Vec<Cell>) = all.into_iter().filter(is_known).unzip();
        let mut last = "";
        let rows = gains.iter().map(|gain| {
            let mut row: Vec<&str> = cells.iter().map(|cell| cell(gain)).collect();
            if std::mem::replace(&mut last, gain.technique) == gain.technique {
                row[0] = "";
            }
            row
        });
        let rows = rows.collect();
        (headings, rows)
    }

    /// The table in so many columns of the terminal, a line each.
    pub(super) fn draw(gains: &[Self], room: usize) -> String {
        let (headings, rows) = Self::table(gains);
        let place = |heading: &str| headings.iter().position(|it| *it == heading);
        let leaves: Vec<usize> = [REACH, VS_STD, CPU_TIME]
            .into_iter()
            .filter_map(place)
            .collect();
        let columns = Columns {
            headings: &headings,
            words: 3,
            leaves: &leaves,
            longest: 42,
        };
        if rows.is_empty() {
            return String::new();
        }
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(ToString::to_string).collect())
            .collect();
        let drawn = columns.draw(&rows, room);
        let rows: String = drawn.rows.iter().map(|row| trimmed(row)).collect();
        trimmed(&drawn.header) + &rows + &drawn.not_shown
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
