//! What each technique gains and loses against std, for each payload: the numbers behind the answer.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::choices::{NEEDED_PCT, is_clean, needs_spare_cpus};
use super::measure::{By, Measure, Unit};
use super::technique::Technique;
use super::{Averaged, BoardRanking, Conditions, Place, Standing};
use crate::columns::{Columns, trimmed};
use crate::data::EngineName;
use crate::digits::reach_pct;

/// More conditions are told by the lowest and the highest value in any.
const MOST_CONDITIONS: usize = 3;

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

/// The gains of one machine.
pub(super) struct Gains<'a> {
    pub(super) board: &'a BoardRanking,
    /// Which numbers are asked for.
    pub(super) by: By,
    /// The first of them, by which engines are sorted.
    pub(super) first: Measure,
    /// The words for conditions.
    pub(super) labels: &'a BTreeMap<Conditions, String>,
}

/// An engine under some conditions.
struct Found<'a> {
    averaged: &'a Averaged,
    place: &'a Place,
}

impl<'a> Gains<'a> {
    pub(super) fn all(&self) -> Vec<Gain> {
        let of = |technique| {
            let found: Vec<Found> = self.found(technique).collect();
            if found.len() > MOST_CONDITIONS {
                self.over_all(technique, &found).into_iter().collect()
            } else {
                found.iter().map(|it| self.gain(technique, it)).collect()
            }
        };
        Technique::ALL
            .into_iter()
            .flat_map(|it: Technique| -> Vec<Gain> { of(it) })
            .collect()
    }

    /// The best engine of a technique but std, for each of the conditions: one that loses little and lets CPUs sleep, if
    /// there is one.
    fn found(&self, technique: Technique) -> impl Iterator<Item = Found<'a>> {
        let board = self.board;
        board.averaged_by(self.first).filter_map(move |averaged| {
            let std = EngineName::REFERENCE.as_str();
            let places = averaged.standing.places.iter();
            let places = places.filter(|place| {
                place.engine != std && Technique::of_label(&place.engine) == technique
            });
            // In their order, the best first.
            let places: Vec<&Place> = places.collect();
            let sleeps = |place: &&&Place| !needs_spare_cpus(board, place);
            let mut best = places
                .iter()
                .filter(|place| is_clean(place) && sleeps(place));
            let place = best
                .next()
                .or_else(|| places.iter().find(sleeps))
                .or(places.first())?;
            Some(Found { averaged, place })
        })
    }

    fn gain(&self, technique: Technique, found: &Found) -> Gain {
        let Found { averaged, place } = found;
        let standing = &averaged.standing;
        let reading = &place.reading;
        let value = between(place.range, |value| standing.figure(value, reading));
        let reach = reading.interval().filter(|_| !value.contains(' '));
        let reach = reach.and_then(|(low, high)| reach_pct(reading.value(), low, high));
        let cpu = self.cpu(averaged.conditions, &place.engine);
        Gain {
            technique: technique.name(),
            engine: place.engine.clone(),
            at: self
                .labels
                .get(&averaged.conditions)
                .cloned()
                .unwrap_or_default(),
            unit: standing.unit_name(),
            value,
            reach_pct: reach.unwrap_or_default(),
            than_std: standing.than_std(place),
            cpu: cpu.map_or_else(String::new, |(standing, place)| {
                between(place.range, |value| standing.figure(value, &place.reading))
            }),
            lost_pct: place.lost_pct(),
        }
    }

    /// The engine that is found the most often, from its lowest value to its highest.
    fn over_all(&self, technique: Technique, found: &[Found<'a>]) -> Option<Gain> {
        let often = |one: &&Found| {
            found
                .iter()
                .filter(|it| it.place.engine == one.place.engine)
                .count()
        };
        let engine = &found.iter().rev().max_by_key(often)?.place.engine;
        let all: Vec<&Found> = found
            .iter()
            .filter(|it| it.place.engine == *engine)
            .collect();
        let mut gain = self.gain(technique, all.first()?);
        let figure =
            |place: &Place, standing: &Standing, value| standing.figure(value, &place.reading);
        let speeds = all.iter().map(|it| (it.place, &it.averaged.standing));
        gain.value = over(speeds, figure)?;
        let cpu = all
            .iter()
            .filter_map(|it| self.cpu(it.averaged.conditions, engine));
        gain.cpu = over(cpu.map(|(standing, place)| (place, standing)), figure).unwrap_or_default();
        let losses = all.iter().filter_map(|it| it.place.loss_pct);
        let losses = losses.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        gain.lost_pct = losses.map_or_else(String::new, lost);
        gain.at = if all.len() == found.len() {
            format!("{} conditions", found.len())
        } else {
            format!("{} of {} conditions", all.len(), found.len())
        };
        (gain.reach_pct, gain.than_std) = (String::new(), "");
        Some(gain)
    }

    /// The CPU time of an engine, where it is asked for beside the speed.
    fn cpu(&self, conditions: Conditions, engine: &str) -> Option<(&'a Standing, &'a Place)> {
        if (self.by, self.first) != (By::Both, Measure::Speed) {
            return None;
        }
        let mut all = self.board.averaged_by(Measure::Cpu);
        let standing = &all.find(|one| one.conditions == conditions)?.standing;
        Some((
            standing,
            standing
                .places
                .iter()
                .find(|place| place.engine == engine)?,
        ))
    }
}

impl Standing {
    fn unit_name(&self) -> &'static str {
        match (self.measure, self.unit) {
            (Measure::Speed, Unit::TimesStd) => "times std",
            (Measure::Speed, Unit::Absolute) => "kpps",
            (Measure::Cpu, Unit::TimesStd) => "times std's CPU time",
            (Measure::Cpu, Unit::Absolute) => "CPU ns",
        }
    }

    /// How an engine compares with std. Nothing where that was not measured.
    fn than_std(&self, place: &Place) -> &'static str {
        if !is_clean(place) {
            return "loses";
        }
        if self.unit == Unit::Absolute {
            return "";
        }
        let (better, worse) = match self.measure {
            Measure::Speed => ("faster", "slower"),
            Measure::Cpu => ("less", "more"),
        };
        match self.surely_other_than_std(place) {
            _ if !place.reading.has_error() => "no interval",
            Some(true) => better,
            Some(false) => worse,
            None if place.reading.half_pct().is_some_and(|pct| pct > NEEDED_PCT) => "unclear",
            None => "a tie",
        }
    }
}

/// `0.93`, or `0.93 to 1.00`.
fn between((low, high): (f64, f64), figure: impl Fn(f64) -> String) -> String {
    let (low, high) = (figure(low), figure(high));
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

/// From the lowest value to the highest of some places.
fn over<'a>(
    places: impl Iterator<Item = (&'a Place, &'a Standing)>,
    figure: impl Fn(&Place, &Standing, f64) -> String,
) -> Option<String> {
    let places: Vec<(&Place, &Standing)> = places.collect();
    let low = places
        .iter()
        .min_by(|(a, _), (b, _)| a.range.0.total_cmp(&b.range.0))?;
    let high = places
        .iter()
        .max_by(|(a, _), (b, _)| a.range.1.total_cmp(&b.range.1))?;
    let (low, high) = (
        figure(low.0, low.1, low.0.range.0),
        figure(high.0, high.1, high.0.range.1),
    );
    Some(if low == high {
        low
    } else {
        format!("{low} to {high}")
    })
}

impl Place {
    /// In words: `2.61`, or `0.22 to 2.61`.
    pub(crate) fn lost_pct(&self) -> String {
        self.loss_pct.map_or_else(String::new, lost)
    }
}

fn lost(pct: (f64, f64)) -> String {
    between(pct, |pct| format!("{pct:.2}"))
}
