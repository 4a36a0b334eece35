//! The gain and loss of each technique against std, for each of the conditions.

use std::collections::BTreeMap;

use super::choices::{Labels, NEEDED_PCT, apart_pct};
use super::measure::{Measure, Unit};
use super::technique::Technique;
use super::{Averaged, BoardRanking, Conditions, RankedEngine, Standing};
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
    /// True if the engine is surely better than std.
    pub is_better: bool,
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
            .spare(3, "verdict", |it| it.verdict.to_owned())
            .spare(2, "CPU time", |it| it.cpu.clone())
            .number("lost %", |it| it.lost_pct.clone())
            .known_of(gains);
        let mut table = columns.empty();
        let mut last = "";
        for gain in gains {
            let technique = if gain.technique == last {
                ""
            } else {
                gain.technique
            };
            last = gain.technique;
            let gain = gain.clone();
            table.row(columns.cells(&Self { technique, ..gain }));
        }
        table
    }

    /// Returns the gain as a sentence, for places without columns.
    pub fn sentence(&self) -> String {
        let reach = match self.interval_text.as_str() {
            "" => String::new(),
            known => format!("{} %", signed(known)),
        };
        let known = |text: &str, said: String| (!text.is_empty()).then_some(said);
        let said = [&reach, self.verdict].map(|it| known(it, it.to_owned()));
        let said = said.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let parts = [
            known(&said, format!(" ({said})")),
            known(&self.cpu, format!(", CPU time {}", self.cpu)),
            known(&self.lost_pct, format!(", {} % lost", self.lost_pct)),
        ];
        let begin = format!(
            "{}: {} at {}, {} {}",
            self.technique, self.engine, self.at, self.value, self.unit
        );
        begin + &parts.map(Option::unwrap_or_default).concat()
    }
}

/// Returns what these engines surely gain over std, a line for each, which names it unless `is_said`: `3.4 times std at
/// 26 B, 3.0 at 1460 B; 0.32, 0.36 of its CPU time`.
pub(super) fn saved(gains: &[Gain], best: &Labels, is_said: bool) -> Vec<String> {
    let gained = gains.iter();
    let gained = gained.filter(|gain| gain.is_better && best.contains(gain.engine.as_str()));
    let gained: Vec<&Gain> = gained.collect();
    let alike = gained.chunk_by(|one, other| one.engine == other.engine);
    alike
        .map(|gains| {
            let values = gains.iter().enumerate().map(|(n, gain)| {
                let unit = if n == 0 { gain.unit } else { "" };
                format!("{} {unit}", gain.value).trim_end().to_owned() + " at " + &gain.at
            });
            let values: Vec<String> = values.collect();
            let cpu = gains.iter().map(|gain| gain.cpu.as_str());
            let cpu: Vec<&str> = cpu.filter(|cpu| !cpu.is_empty()).collect();
            let of_cpu = match cpu.join(", ") {
                none if none.is_empty() => String::new(),
                some => format!("; {some} of its CPU time"),
            };
            let engine = match &gains[0].engine {
                _ if is_said => String::new(),
                engine => format!("{engine}: "),
            };
            engine + &values.join(", ") + &of_cpu
        })
        .collect()
}

/// Returns the gains of each technique by the first of these measures. CPU times are beside speeds.
pub(super) fn gains(
    board: &BoardRanking,
    measures: &[Measure],
    labels: &BTreeMap<Conditions, String>,
) -> Vec<Gain> {
    let spinning = board.spinning();
    let has_cpu = measures[1..].contains(&Measure::Cpu);
    let of = |technique| {
        let all = board.averaged_by(measures[0]);
        let found = all.filter_map(|one| Some((one, best_of(board, one, technique, &spinning)?)));
        let mut found: Vec<(&Averaged, &RankedEngine)> = found.collect();
        let value = |(_, place): &(&Averaged, &RankedEngine)| place.reading.value();
        let all = found.len();
        if all > MOST_CONDITIONS {
            found.sort_by(|one, other| value(one).total_cmp(&value(other)));
            found.drain(1..all - 1);
        }
        let gains = found
            .into_iter()
            .zip(["lowest", "highest"].into_iter().cycle());
        gains.map(move |((averaged, place), which)| {
            let conditions = averaged.conditions;
            let cpu = board.standing(Measure::Cpu, conditions);
            let cpu = cpu.filter(|_| has_cpu).and_then(|standing| {
                let mut places = standing.places.iter();
                let own = places.find(|one| one.label == place.label)?;
                Some(standing.figure(own.reading.value(), &own.reading))
            });
            Gain {
                technique: technique.name(),
                at: match labels.get(&conditions) {
                    _ if all > MOST_CONDITIONS => format!("{which} of {all}"),
                    label => label.cloned().unwrap_or_default(),
                },
                cpu: cpu.unwrap_or_default(),
                ..averaged.standing.gain(place)
            }
        })
    };
    Technique::ALL.into_iter().flat_map(of).collect()
}

/// Finds the best engine of a technique. Prefers engines that lose little and let CPUs sleep. std alone is no finding: all
/// are compared with it.
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
    /// Returns the gain of an engine by this measure.
    fn gain(&self, place: &RankedEngine) -> Gain {
        let reading = &place.reading;
        let interval = reading.interval().filter(|_| !place.is_std());
        let reach = interval.and_then(|(low, high)| interval_text(reading.value(), low, high));
        let (verdict, is_better) = self.than_std(place);
        Gain {
            technique: "",
            engine: place.label.clone(),
            at: String::new(),
            unit: match (self.measure, self.unit) {
                (Measure::Speed, Unit::TimesStd) => "times std",
                (Measure::Speed, Unit::Absolute) => "kpps",
                (Measure::RoundTrip, _) => "us",
                (Measure::Cpu, Unit::TimesStd) => "times std's CPU time",
                (Measure::Cpu, Unit::Absolute) => "CPU ns",
            },
            value: self.figure(reading.value(), reading),
            interval_text: reach.unwrap_or_default(),
            verdict,
            is_better,
            cpu: String::new(),
            lost_pct: place.lost_pct(),
        }
    }

    /// Compares an engine with std, and returns whether it is surely better.
    fn than_std(&self, place: &RankedEngine) -> (&'static str, bool) {
        if !place.is_clean() {
            return ("lossy", false);
        }
        if place.is_std() || self.unit == Unit::Absolute {
            return ("", false);
        }
        let (better, worse) = match self.measure {
            Measure::Cpu => ("less", "more"),
            Measure::Speed | Measure::RoundTrip => ("faster", "slower"),
        };
        match (self.surely_other_than_std(place), self.std()) {
            _ if !place.reading.has_error() => ("no interval", false),
            (Some(true), _) => (better, true),
            (Some(false), _) => (worse, false),
            // Better by its own interval alone, not round by round.
            _ if self.is_beyond_std(&place.reading, true) => ("perhaps", false),
            (None, Some(std)) if apart_pct(&[place, std]) <= NEEDED_PCT => ("a tie", false),
            (None, _) => ("unclear", false),
        }
    }
}

impl RankedEngine {
    /// Formats the loss: `2.61`, or `0.22 to 2.61`.
    pub(crate) fn lost_pct(&self) -> String {
        let lost = self
            .loss_pct
            .map(|(low, high)| (format!("{low:.2}"), format!("{high:.2}")));
        match lost {
            None => String::new(),
            Some((low, high)) if low == high => low,
            Some((low, high)) => format!("{low} to {high}"),
        }
    }
}
