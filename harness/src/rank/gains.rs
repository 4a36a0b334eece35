//! What each technique gains and loses against std, for each payload: the numbers behind the advice.

use std::collections::{BTreeMap, BTreeSet};

use super::choices::names;
use super::measure::{By, Measure, Unit};
use super::technique::Technique;
use super::{Averaged, BoardRanking, Conditions, Place, Standing};
use crate::data::EngineName;
use crate::quality::LOSSY_PCT;

/// More values are told by the lowest and the highest of them.
const MOST_VALUES: usize = 3;

/// The numbers of one machine.
pub(super) struct Gains<'a> {
    pub(super) board: &'a BoardRanking,
    /// Which numbers are asked for.
    pub(super) by: By,
    /// The first of them, by which engines are sorted.
    pub(super) first: Measure,
    /// The words for conditions.
    pub(super) labels: &'a BTreeMap<Conditions, String>,
}

/// The engines of one technique under some conditions.
struct Field<'a> {
    averaged: &'a Averaged,
    /// Without those of other techniques.
    standing: Standing,
}

impl<'a> Gains<'a> {
    /// A line for each technique.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> + use<'_> {
        Technique::ALL.into_iter().filter_map(|technique| {
            let fields = self.fields(technique);
            (!fields.is_empty()).then(|| format!("{}: {}", technique.name(), self.line(&fields)))
        })
    }

    fn fields(&self, technique: Technique) -> Vec<Field<'a>> {
        let field = |averaged: &'a Averaged| {
            let places = averaged.standing.places.iter();
            let places: Vec<&Place> = places
                .filter(|place| Technique::of_label(&place.engine) == technique)
                .collect();
            (!places.is_empty()).then(|| Field {
                averaged,
                standing: averaged.standing.of_these(&places),
            })
        };
        self.board
            .averaged_by(self.first)
            .filter_map(field)
            .collect()
    }

    fn line(&self, fields: &[Field]) -> String {
        let best = fields.iter().map(Field::best);
        let everywhere = best
            .reduce(|common, best| &common & &best)
            .unwrap_or_default();
        if !everywhere.is_empty() {
            return self.numbers(&everywhere, fields);
        }
        let each = fields.iter().take(MOST_VALUES);
        let each = each.map(|field| self.numbers(&field.best(), std::slice::from_ref(field)));
        let mut each: Vec<String> = each.collect();
        if fields.len() > MOST_VALUES {
            each.push("others elsewhere (udpbench rank --details FILE)".to_owned());
        }
        each.join("; ")
    }

    /// `mmsg/32, 26 B: 1.04 times std for 0.96 of the CPU; 1460 B: 1.07 for 0.94`: the numbers of the best engine but std.
    fn numbers(&self, best: &BTreeSet<&str>, fields: &[Field]) -> String {
        let std = EngineName::REFERENCE.as_str();
        let in_order = fields.iter().flat_map(|field| &field.standing.places);
        let others = in_order.map(|place| place.engine.as_str());
        let others: Vec<&str> = others.filter(|engine| *engine != std).collect();
        let among_best = others.iter().find(|engine| best.contains(*engine));
        let Some(engine) = among_best.or_else(|| others.first()) else {
            return std.to_owned();
        };
        let who = match among_best {
            Some(_) if best.len() == 1 => (*engine).to_owned(),
            Some(_) => format!("{} tie; {engine}", names(best, "and")),
            None => format!("{}; next {engine}", names(best, "and")),
        };
        let places = fields.iter().filter_map(|field| {
            let mut places = field.standing.places.iter();
            Some((field, places.find(|place| place.engine == *engine)?))
        });
        let places: Vec<(&Field, &Place)> = places.collect();
        if places.len() > MOST_VALUES {
            return format!("{who}, {}", self.over_all(&places));
        }
        let each = places.iter().enumerate().map(|(n, (field, place))| {
            let value = self.value(field, place, n == 0);
            format!("{}: {}{value}", self.label(field), lost(place.loss_pct))
        });
        format!("{who}, {}", each.collect::<Vec<_>>().join("; "))
    }

    /// `up to 2.7 % lost, 1.33 (26 B) to 1.40 (1460 B) times std for 0.71 to 0.75 of the CPU`
    fn over_all(&self, places: &[(&Field, &Place)]) -> String {
        let losses = places.iter().filter_map(|(_, place)| place.loss_pct);
        let lost = lost(losses.reduce(f64::max));
        let up_to = if lost.is_empty() { "" } else { "up to " };
        let low = places
            .iter()
            .min_by(|(_, a), (_, b)| a.range.0.total_cmp(&b.range.0));
        let high = places
            .iter()
            .max_by(|(_, a), (_, b)| a.range.1.total_cmp(&b.range.1));
        let (Some((at_low, low)), Some((at_high, high))) = (low, high) else {
            return String::new();
        };
        let standing = &at_low.averaged.standing;
        let (from, to) = (
            standing.figure(low.range.0, &low.reading),
            standing.figure(high.range.1, &high.reading),
        );
        let (at_low, at_high) = (self.label(at_low), self.label(at_high));
        let values = if from == to {
            from
        } else {
            format!("{from} ({at_low}) to {to} ({at_high})")
        };
        let values = unit(standing, &values);
        let cpu = places
            .iter()
            .filter_map(|(field, place)| self.cpu(field, &place.engine));
        let ranges: Vec<(&Standing, &Place)> = cpu.collect();
        let low = ranges
            .iter()
            .min_by(|(_, a), (_, b)| a.range.0.total_cmp(&b.range.0));
        let high = ranges
            .iter()
            .max_by(|(_, a), (_, b)| a.range.1.total_cmp(&b.range.1));
        let cpu = low.zip(high).map(|((standing, low), (_, high))| {
            let low = standing.figure(low.range.0, &low.reading);
            let high = standing.figure(high.range.1, &high.reading);
            let both = if low == high {
                low
            } else {
                format!("{low} to {high}")
            };
            format!(" for {}", of_cpu(standing, &both, true))
        });
        format!("{up_to}{lost}{values}{}", cpu.unwrap_or_default())
    }

    fn label(&self, field: &Field) -> String {
        let label = self.labels.get(&field.averaged.conditions);
        label.cloned().unwrap_or_default()
    }

    /// `94 times std for 0.012 of the CPU`; where it is not the first value, `94 for 0.012`.
    fn value(&self, field: &Field, place: &Place, is_first: bool) -> String {
        let standing = &field.averaged.standing;
        let figure = range(standing, place);
        let tie = match place.reading.has_error() {
            true if field.ties_with_std(place) => " (a tie)",
            true => "",
            false => " (no interval)",
        };
        let value = match standing.unit {
            Unit::TimesStd if !is_first => figure,
            _ => unit(standing, &figure),
        };
        let cpu = self.cpu(field, &place.engine);
        let cpu = cpu.map(|(standing, place)| {
            format!(
                " for {}",
                of_cpu(standing, &range(standing, place), is_first)
            )
        });
        format!("{value}{tie}{}", cpu.unwrap_or_default())
    }

    /// The CPU time of an engine, where it is asked for beside the speed.
    fn cpu(&self, field: &Field, engine: &str) -> Option<(&Standing, &Place)> {
        if (self.by, self.first) != (By::Both, Measure::Speed) {
            return None;
        }
        let conditions = field.averaged.conditions;
        let mut all = self.board.averaged_by(Measure::Cpu);
        let standing = &all.find(|one| one.conditions == conditions)?.standing;
        let place = standing
            .places
            .iter()
            .find(|place| place.engine == engine)?;
        Some((standing, place))
    }
}

impl Field<'_> {
    /// Those of the technique that no other of it surely beats; without intervals, the first.
    fn best(&self) -> BTreeSet<&str> {
        let leaders = self.standing.leaders().map(|place| place.engine.as_str());
        let leaders: BTreeSet<&str> = leaders.collect();
        if leaders.is_empty() {
            let first = self.standing.places.first();
            return first
                .map(|place| place.engine.as_str())
                .into_iter()
                .collect();
        }
        leaders
    }

    /// Whether neither is surely better.
    fn ties_with_std(&self, place: &Place) -> bool {
        let Standing {
            measure, places, ..
        } = &self.averaged.standing;
        let is_std = |place: &&Place| place.engine == EngineName::REFERENCE.as_str();
        places.iter().find(is_std).is_some_and(|std| {
            let (one, other) = (&place.reading, &std.reading);
            std.engine != place.engine
                && !measure.is_ahead(one, other)
                && !measure.is_ahead(other, one)
        })
    }
}

/// The value, or between which values it is in the settings.
fn range(standing: &Standing, place: &Place) -> String {
    let figure = |value: f64| standing.figure(value, &place.reading);
    let (low, high) = (figure(place.range.0), figure(place.range.1));
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

/// A value in words.
fn unit(standing: &Standing, figure: &str) -> String {
    match (standing.measure, standing.unit) {
        (Measure::Speed, Unit::TimesStd) => format!("{figure} times std"),
        (Measure::Speed, Unit::Absolute) => format!("{figure} kpps"),
        (Measure::Cpu, _) => of_cpu(standing, figure, true),
    }
}

/// CPU time in words.
fn of_cpu(standing: &Standing, figure: &str, is_first: bool) -> String {
    match standing.unit {
        Unit::TimesStd if is_first => format!("{figure} of the CPU"),
        Unit::TimesStd => figure.to_owned(),
        Unit::Absolute => format!("{figure} ns"),
    }
}

/// What was lost, where that is too much: it comes before what was gained.
fn lost(loss_pct: Option<f64>) -> String {
    let lossy = loss_pct.filter(|&pct| pct >= LOSSY_PCT);
    lossy.map_or_else(String::new, |pct| format!("{pct:.1} % lost, "))
}
