//! The gain and loss of each technique against std, for each of the conditions.

use std::collections::BTreeMap;

use super::choices::{Labels, NEEDED_PCT, apart_pct};
use super::group::Conditions;
use super::standing::{Measure, RankedEngine, Standing, Unit};
use super::technique::Technique;
use super::{Averaged, BoardRanking};
use crate::term::table::{Columns, Table};
use crate::text::digits::{interval_text, signed};

/// Largest number of conditions with a line each. Beyond it, the lowest and the highest value have one.
const MOST_CONDITIONS: usize = 3;

/// The best engine of a technique except std, with its gains and losses under some conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gain {
    /// Technique of moving datagrams.
    pub technique: &'static str,
    /// The engine's label.
    pub engine: String,
    /// Conditions, such as `1460 B`, or which of several they are: `lowest of 6`.
    pub at: String,
    /// Unit of the value: `times std`, or `kpps` where std was not measured. If only CPU time was requested: `times
    /// std's CPU time`, or `CPU ns`.
    pub unit: &'static str,
    /// The value.
    pub value: String,
    /// Reach of the 95 % interval, in percent: half of the interval, or both sides. Empty if unknown.
    pub interval_text: String,
    /// Comparison with std: `faster`, or in doubt why not. Empty: std, or std was not measured.
    pub verdict: &'static str,
    /// True if the engine is surely better than std, and one to use.
    pub is_advised: bool,
    /// CPU time per datagram, as a ratio to std or in nanoseconds. Empty if unknown or not requested.
    pub cpu: String,
    /// Datagrams lost, in percent of the datagrams sent. Empty if unknown.
    pub lost_pct: String,
}

impl Gain {
    /// Returns a table of gains. Columns without any value are left out.
    pub fn table(gains: &[Self]) -> Table {
        let unit = gains.first().map_or("", |it| it.unit);
        Columns::<Self>::default()
            .word("technique", |it| it.technique.to_owned())
            .word("engine", |it| it.engine.clone())
            .word("at", |it| it.at.clone())
            .number(unit, |it| it.value.clone())
            .spare(1, "+-%", |it| it.interval_text.clone())
            .spare(3, "verdict", |it| it.verdict.to_owned())
            .spare(2, "CPU time", |it| it.cpu.clone())
            .number("lost %", |it| it.lost_pct.clone())
            .known_of(gains)
            .table(gains)
    }

    /// Returns the gain as a sentence, for places without columns.
    pub fn sentence(&self) -> String {
        let Self { engine, at, .. } = self;
        let value = format!("{} {}", self.value, self.unit);
        let mut text = format!("{}: {engine} at {at}, {value}", self.technique);
        let reach = match self.interval_text.as_str() {
            "" => String::new(),
            known => format!("{} %", signed(known)),
        };
        for (known, begin, end) in [
            (&*reach, " ", ""),
            (self.verdict, ", ", ""),
            (&self.cpu, ", CPU time ", ""),
            (&self.lost_pct, ", ", " % lost"),
        ] {
            if !known.is_empty() {
                text.extend([begin, known, end]);
            }
        }
        text
    }
}

/// Says what the engines to use gain over std, a line for each: `2.4 times std at 26 B, 2.4 at 1460 B; 0.49, 0.50 of
/// its CPU time`. Names it unless it `is_named` already.
pub(super) fn advised(gains: &[Gain], is_named: bool) -> Vec<String> {
    let advised: Vec<&Gain> = gains.iter().filter(|gain| gain.is_advised).collect();
    let is_named = is_named && advised.iter().all(|gain| gain.engine == advised[0].engine);
    let alike = advised.chunk_by(|one, other| one.engine == other.engine);
    let said = |gains: &[&Gain]| {
        let values = gains.iter().enumerate().map(|(n, gain)| match n {
            0 => format!("{} {} at {}", gain.value, gain.unit, gain.at),
            _ => format!("{} at {}", gain.value, gain.at),
        });
        let values = values.collect::<Vec<_>>().join(", ");
        let cpu = gains.iter().map(|gain| gain.cpu.as_str());
        let cpu = cpu.filter(|cpu| !cpu.is_empty()).collect::<Vec<_>>();
        let of_cpu = match cpu.join(", ") {
            none if none.is_empty() => none,
            some => format!("; {some} of its CPU time"),
        };
        let engine = match &gains[0].engine {
            _ if is_named => String::new(),
            engine => format!("{engine}: "),
        };
        format!("{engine}{values}{of_cpu}")
    };
    alike.map(said).collect()
}

/// Returns the gains of each technique by the first of these measures. CPU times are beside speeds. `advised`: the
/// engines to use.
pub(super) fn gains(
    board: &BoardRanking,
    measures: &[Measure],
    labels: &BTreeMap<Conditions, String>,
    advised: &Labels,
) -> Vec<Gain> {
    let spinning = board.spinning();
    let has_cpu = measures[1..].contains(&Measure::Cpu);
    let mut gains = Vec::new();
    for technique in Technique::ALL {
        let all = board.averaged_by(measures[0]);
        let found = all.filter_map(|one| Some((one, best_of(board, one, technique, &spinning)?)));
        let mut found: Vec<(&Averaged, &RankedEngine)> = found.collect();
        let count = found.len();
        if count > MOST_CONDITIONS {
            let value = |(_, place): &(&Averaged, &RankedEngine)| place.reading.value();
            found.sort_by(|one, other| value(one).total_cmp(&value(other)));
            found.drain(1..count - 1);
        }
        for ((averaged, place), which) in found.iter().zip(["lowest", "highest", ""]) {
            let (conditions, standing) = (averaged.conditions, &averaged.standing);
            let reading = &place.reading;
            let ends = reading.interval().filter(|_| !place.is_std());
            let interval = ends.and_then(|(low, high)| interval_text(reading.value(), low, high));
            let cpu = board.standing(Measure::Cpu, conditions);
            let cpu = cpu.filter(|_| has_cpu).and_then(|standing| {
                let own = standing.of(&place.label)?;
                Some(standing.figure(own.reading.value(), &own.reading))
            });
            let verdict = standing.than_std(place);
            let is_better = ["faster", "less"].contains(&verdict);
            gains.push(Gain {
                technique: technique.name(),
                engine: place.label.clone(),
                at: if count > MOST_CONDITIONS {
                    format!("{which} of {count}")
                } else {
                    labels.get(&conditions).cloned().unwrap_or_default()
                },
                unit: standing.unit_text(),
                value: standing.figure(reading.value(), reading),
                interval_text: interval.unwrap_or_default(),
                verdict,
                is_advised: is_better && advised.contains(place.label.as_str()),
                cpu: cpu.unwrap_or_default(),
                lost_pct: place.lost_pct(),
            });
        }
    }
    gains
}

/// Finds the best engine of a technique. Prefers engines that lose little and let CPUs sleep. std alone is no finding:
/// all are compared with it.
fn best_of<'a>(
    board: &BoardRanking,
    averaged: &'a Averaged,
    technique: Technique,
    spinning: &Labels,
) -> Option<&'a RankedEngine> {
    let places = averaged.standing.places.iter();
    let is_of = |place: &&RankedEngine| Technique::of(board.case(&place.label)) == technique;
    // In the order of the standing, the best first.
    let places: Vec<&RankedEngine> = places.filter(is_of).collect();
    if places.iter().all(|place| place.is_std()) {
        return None;
    }
    let spins = |place: &RankedEngine| spinning.contains(place.label.as_str());
    // The first of equal ones.
    let best = places.into_iter();
    best.min_by_key(|place| (spins(place), !place.is_clean()))
}

impl Standing {
    /// Compares an engine with std.
    fn than_std(&self, place: &RankedEngine) -> &'static str {
        if !place.is_clean() {
            return "lossy";
        }
        if place.is_std() || self.unit == Unit::Absolute {
            return "";
        }
        let (better, worse) = match self.measure {
            Measure::Cpu => ("less", "more"),
            Measure::Speed | Measure::RoundTrip => ("faster", "slower"),
        };
        match (self.surely_other_than_std(place), self.std()) {
            _ if !place.reading.has_error() => "no interval",
            (Some(true), _) => better,
            (Some(false), _) => worse,
            // Better by its own interval alone, not round by round.
            _ if self.is_beyond_std(&place.reading, true) => "perhaps",
            (None, Some(std)) if apart_pct(&[place, std]) <= NEEDED_PCT => "a tie",
            (None, _) => "unclear",
        }
    }
}

impl RankedEngine {
    /// Formats the loss: `2.61`, or `0.22 to 2.61`.
    pub(crate) fn lost_pct(&self) -> String {
        let ends = self.loss_pct.map(|(low, high)| [low, high]);
        match ends.map(|ends| ends.map(|pct| format!("{pct:.2}"))) {
            None => String::new(),
            Some([low, high]) if low == high => low,
            Some([low, high]) => format!("{low} to {high}"),
        }
    }
}
