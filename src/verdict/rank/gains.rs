//! Computes the gain and loss of each technique against std, for each of the conditions.

use std::collections::BTreeMap;

use super::choices::{NEEDED_PCT, is_clean, needs_spare_cpus};
use super::gain::{Gain, ThanStd};
use super::measure::{By, Measure, Unit};
use super::technique::Technique;
use super::{Averaged, BoardRanking, Conditions, RankedEngine, Standing};
use crate::text::digits::interval_text;

/// Largest number of conditions with a line each. Beyond it, one line has the lowest and the highest value.
const MOST_CONDITIONS: usize = 3;

/// Inputs for the gains of one machine.
pub(super) struct Gains<'a> {
    pub(super) board: &'a BoardRanking,
    /// Measures that were requested.
    pub(super) by: By,
    /// The first requested measure, by which engines are sorted.
    pub(super) first: Measure,
    /// Labels of the conditions.
    pub(super) labels: &'a BTreeMap<Conditions, String>,
}

/// An engine under some conditions.
struct Found<'a> {
    averaged: &'a Averaged,
    place: &'a RankedEngine,
}

impl<'a> Gains<'a> {
    pub(super) fn all(&self) -> Vec<Gain> {
        let of = |technique| -> Vec<Gain> {
            let found: Vec<Found> = self.found(technique).collect();
            if found.len() > MOST_CONDITIONS {
                self.over_all(technique, &found).into_iter().collect()
            } else {
                found.iter().map(|it| self.gain(technique, it)).collect()
            }
        };
        Technique::ALL.into_iter().flat_map(of).collect()
    }

    /// Finds the best engine of a technique, for each of the conditions. Prefers engines that lose little and let CPUs
    /// sleep. std alone is no finding: all are compared with it.
    fn found(&self, technique: Technique) -> impl Iterator<Item = Found<'a>> {
        let board = self.board;
        board.averaged_by(self.first).filter_map(move |averaged| {
            let places = averaged.standing.places.iter();
            let places =
                places.filter(|place| Technique::of(board.case(&place.label)) == technique);
            // In the order of the standing, the best first.
            let places: Vec<&RankedEngine> = places.collect();
            if places.iter().all(|place| place.is_std()) {
                return None;
            }
            let sleeps = |place: &&&RankedEngine| !needs_spare_cpus(board, place);
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
        let reach = reading.interval();
        let reach = reach.filter(|_| !value.contains(' ') && !place.is_std());
        let reach = reach.and_then(|(low, high)| interval_text(reading.value(), low, high));
        let cpu = self.cpu(averaged.conditions, &place.label);
        Gain {
            technique: technique.name(),
            engine: place.label.clone(),
            at: self
                .labels
                .get(&averaged.conditions)
                .cloned()
                .unwrap_or_default(),
            unit: standing.unit_name(),
            value,
            interval_text: reach.unwrap_or_default(),
            than_std: standing.than_std(place),
            cpu: cpu.map_or_else(String::new, |(standing, place)| {
                between(place.range, |value| standing.figure(value, &place.reading))
            }),
            lost_pct: place.lost_pct(),
        }
    }

    /// Summarizes the engine that is found most often, from its lowest value to its highest.
    fn over_all(&self, technique: Technique, found: &[Found<'a>]) -> Option<Gain> {
        let often = |one: &&Found| {
            found
                .iter()
                .filter(|it| it.place.label == one.place.label)
                .count()
        };
        let engine = &found.iter().rev().max_by_key(often)?.place.label;
        let all: Vec<&Found> = found
            .iter()
            .filter(|it| it.place.label == *engine)
            .collect();
        let mut gain = self.gain(technique, all.first()?);
        gain.value = over(all.iter().map(|it| (&it.averaged.standing, it.place)))?;
        let cpu = all
            .iter()
            .filter_map(|it| self.cpu(it.averaged.conditions, engine));
        gain.cpu = over(cpu).unwrap_or_default();
        let losses = all.iter().filter_map(|it| it.place.loss_pct);
        let losses = losses.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        gain.lost_pct = losses.map_or_else(String::new, lost);
        gain.at = if all.len() == found.len() {
            format!("{} combinations", found.len())
        } else {
            format!("{} of {} combinations", all.len(), found.len())
        };
        (gain.interval_text, gain.than_std) = (String::new(), None);
        Some(gain)
    }

    /// Returns the CPU time of an engine, if it was requested beside the speed.
    fn cpu(
        &self,
        conditions: Conditions,
        engine: &str,
    ) -> Option<(&'a Standing, &'a RankedEngine)> {
        if (self.by, self.first) != (By::Both, Measure::Speed) {
            return None;
        }
        let mut all = self.board.averaged_by(Measure::Cpu);
        let standing = &all.find(|one| one.conditions == conditions)?.standing;
        Some((
            standing,
            standing.places.iter().find(|place| place.label == engine)?,
        ))
    }
}

impl Standing {
    fn unit_name(&self) -> &'static str {
        match (self.measure, self.unit) {
            (Measure::Speed, Unit::TimesStd) => "times std",
            (Measure::Speed, Unit::Absolute) => "kpps",
            (Measure::RoundTrip, _) => "us",
            (Measure::Cpu, Unit::TimesStd) => "times std's CPU time",
            (Measure::Cpu, Unit::Absolute) => "CPU ns",
        }
    }

    /// Compares an engine with std. `None` for std, or if values are absolute, as std was not measured.
    fn than_std(&self, place: &RankedEngine) -> Option<ThanStd> {
        if !is_clean(place) {
            return Some(ThanStd::Lossy);
        }
        if place.is_std() || self.unit == Unit::Absolute {
            return None;
        }
        Some(match self.surely_other_than_std(place) {
            _ if !place.reading.has_error() => ThanStd::NoInterval,
            Some(true) => ThanStd::Better(self.measure),
            Some(false) => ThanStd::Worse(self.measure),
            None if self.is_beyond_std(&place.reading, true) => ThanStd::Perhaps,
            None if self.apart_from_std_pct(place) > NEEDED_PCT => ThanStd::Unclear,
            None => ThanStd::Tie,
        })
    }
}

/// Formats a range: `0.93`, or `0.93 to 1.00`.
fn between((low, high): (f64, f64), figure: impl Fn(f64) -> String) -> String {
    from_to(&figure(low), &figure(high))
}

fn from_to(low: &str, high: &str) -> String {
    if low == high {
        low.to_owned()
    } else {
        format!("{low} to {high}")
    }
}

/// Formats the range from the lowest value to the highest of some places.
fn over<'a>(
    places: impl Iterator<Item = (&'a Standing, &'a RankedEngine)> + Clone,
) -> Option<String> {
    let lowest = |(_, place): &(&Standing, &RankedEngine)| place.range.0;
    let highest = |(_, place): &(&Standing, &RankedEngine)| place.range.1;
    let low = places
        .clone()
        .min_by(|a, b| lowest(a).total_cmp(&lowest(b)))?;
    let high = places.max_by(|a, b| highest(a).total_cmp(&highest(b)))?;
    let figure = |(standing, place): (&Standing, &RankedEngine), value| {
        standing.figure(value, &place.reading)
    };
    Some(from_to(
        &figure(low, low.1.range.0),
        &figure(high, high.1.range.1),
    ))
}

impl RankedEngine {
    /// Formats the loss: `2.61`, or `0.22 to 2.61`.
    pub(crate) fn lost_pct(&self) -> String {
        self.loss_pct.map_or_else(String::new, lost)
    }
}

fn lost(pct: (f64, f64)) -> String {
    between(pct, |pct| format!("{pct:.2}"))
}
