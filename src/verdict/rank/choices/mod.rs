//! Chooses the best engines under each of the conditions, or the reason for choosing none.

mod words;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use self::words::names;
use super::measure::{Measure, Unit};
use super::technique::{self, Technique};
use super::{Averaged, BoardRanking, Conditions, Place, Standing};
use crate::data::EngineName;
use crate::verdict::quality::LOSSY_PCT;

/// Widest half of an interval, in percent of its value, that still allows a choice among ties.
pub(super) const NEEDED_PCT: f64 = 5.0;

/// The outcome for the engines of one group of conditions that may be recommended.
enum Choice<'a> {
    Best(Best<'a>),
    Noisy(Noisy<'a>),
    /// No engine has an interval.
    Unsure,
    /// Every engine lost too much: the engine that lost least, and its lowest and highest loss in percent.
    Lossy(&'a str, (f64, f64)),
}

/// The best engines, which are tied.
#[derive(Clone, PartialEq, Eq)]
struct Best<'a> {
    engines: BTreeSet<&'a str>,
    /// True if other engines are equally fast but need more CPU time.
    is_by_cpu: bool,
}

/// Engines that cannot be told apart because of noise.
struct Noisy<'a> {
    engines: BTreeSet<&'a str>,
    /// Half of the widest of their intervals, in percent.
    widest_pct: f64,
    /// True if all of them are surely better than std.
    beat_std: bool,
}

/// The choices by one measure, for each of the conditions.
pub(super) struct Choices<'a> {
    each: Vec<(&'a str, Choice<'a>)>,
    /// Engines with better values but without an interval.
    unsure: BTreeSet<&'a str>,
}

impl<'a> Choices<'a> {
    pub(super) fn of(
        board: &'a BoardRanking,
        measure: Measure,
        labels: &'a BTreeMap<Conditions, String>,
    ) -> Self {
        let mut unsure = BTreeSet::new();
        let each = board.averaged_by(measure).filter_map(|averaged| {
            let places = averaged.standing.places.iter();
            let places = places.filter(|place| may_be_recommended(board, place));
            let choice = choice(averaged, &places.collect::<Vec<_>>(), &mut unsure)?;
            let choice = match choice {
                Choice::Best(best) if measure == Measure::Speed => {
                    Choice::Best(best.cheapest(board, averaged.conditions))
                }
                choice => choice,
            };
            Some((labels.get(&averaged.conditions)?.as_str(), choice))
        });
        let each = each.collect();
        Self { each, unsure }
    }

    /// Returns the engines that are, or may be, the best under any of the conditions.
    pub(super) fn engines(&self) -> BTreeSet<&'a str> {
        let each = self.each.iter();
        let best = each.filter_map(|(_, choice)| match choice {
            Choice::Best(best) => Some(&best.engines),
            Choice::Noisy(noisy) => Some(&noisy.engines),
            _ => None,
        });
        best.flatten().copied().collect()
    }
}

impl<'a> Best<'a> {
    /// Reduces tied engines to those that surely need the least CPU time.
    fn cheapest(self, board: &'a BoardRanking, conditions: Conditions) -> Self {
        let mut all = board.averaged_by(Measure::Cpu);
        let Some(averaged) = all.find(|one| one.conditions == conditions) else {
            return self;
        };
        let places = averaged.standing.places.iter();
        let places: Vec<&Place> = places
            .filter(|place| self.engines.contains(place.engine.as_str()))
            .collect();
        let standing = averaged.standing.of_these(&places);
        let name = |place: &Place| self.engines.get(place.engine.as_str()).copied();
        let cheapest: BTreeSet<&str> = standing.leaders().filter_map(name).collect();
        let is_by_cpu = !cheapest.is_empty() && cheapest.len() < self.engines.len();
        Self {
            engines: if is_by_cpu { cheapest } else { self.engines },
            is_by_cpu,
        }
    }
}

/// Returns whether an engine may be recommended. Over loopback nothing segments GSO trains, so the gain of offload is
/// unknown. Engines that never sleep are only for users who asked for them.
fn may_be_recommended(board: &BoardRanking, place: &Place) -> bool {
    !is_unknown(board, place) && !needs_spare_cpus(board, place)
}

/// Returns whether the gain of an engine is unknown: offload over loopback.
pub(super) fn is_unknown(board: &BoardRanking, place: &Place) -> bool {
    let is_over_loopback = !board.machine.is_wire;
    is_over_loopback && Technique::of_label(&place.engine) == Technique::Offload
}

/// Returns whether an engine keeps a CPU busy even when nothing comes, while others that were measured do not.
pub(super) fn needs_spare_cpus(board: &BoardRanking, place: &Place) -> bool {
    let mut all = board.averaged.iter().flat_map(|one| &one.standing.places);
    technique::spins(&place.engine) && !all.all(|other| technique::spins(&other.engine))
}

/// Returns whether an engine lost less than [`LOSSY_PCT`].
pub(super) fn is_clean(place: &Place) -> bool {
    place.loss_pct.is_none_or(|(_, most)| most < LOSSY_PCT)
}

/// Chooses among the engines of one group of conditions, and adds better engines without an interval to `unsure`.
/// `None` if there is no engine.
fn choice<'a>(
    averaged: &'a Averaged,
    places: &[&'a Place],
    unsure: &mut BTreeSet<&'a str>,
) -> Option<Choice<'a>> {
    let most_lost = |place: &Place| place.loss_pct.unwrap_or_default().1;
    let least = |one: &&&Place, other: &&&Place| most_lost(one).total_cmp(&most_lost(other));
    let least = places.iter().min_by(least)?;
    let clean: Vec<&Place> = places.iter().filter(|it| is_clean(it)).copied().collect();
    if clean.is_empty() {
        return Some(Choice::Lossy(
            &least.engine,
            least.loss_pct.unwrap_or_default(),
        ));
    }
    let standing = averaged.standing.of_these(&clean);
    let name = |place: &Place| clean.iter().find(|one| one.engine == place.engine);
    let names = |place: &Place| name(place).map(|place| place.engine.as_str());
    let first = standing.places.iter().position(Place::is_first);
    unsure.extend(
        standing.places[..first.unwrap_or(0)]
            .iter()
            .filter_map(names),
    );
    let leaders = || standing.leaders();
    let mut best: Vec<&Place> = leaders().filter_map(|it| name(it).copied()).collect();
    // The engine is ahead round by round, but the interval that users see includes std.
    let is_doubtful = |place: &Place| standing.surely_other_than_std(place).is_none();
    let is_std_doubtful =
        !best.is_empty() && !leaders().any(Place::is_std) && leaders().all(is_doubtful);
    let std = standing.std().filter(|_| is_std_doubtful);
    best.extend(std.and_then(|it| name(it).copied()));
    let engines = best.iter().map(|place| place.engine.as_str()).collect();
    Some(match noise_pct(&best) {
        _ if best.is_empty() => Choice::Unsure,
        Some(widest_pct) => Choice::Noisy(Noisy {
            engines,
            widest_pct,
            beat_std: leaders().all(|it| standing.surely_other_than_std(it) == Some(true)),
        }),
        None => Choice::Best(Best {
            engines,
            is_by_cpu: false,
        }),
    })
}

/// Returns half of the widest interval of tied engines, in percent, if it is too wide for a choice.
fn noise_pct(best: &[&Place]) -> Option<f64> {
    if best.len() < 2 {
        return None;
    }
    let halves = best.iter().filter_map(|place| place.reading.half_pct());
    let widest = halves.reduce(f64::max)?;
    (widest > NEEDED_PCT).then_some(widest)
}

impl Standing {
    fn std(&self) -> Option<&Place> {
        self.places.iter().find(|place| place.is_std())
    }

    /// Returns `Some(true)` if an engine is surely better than std, `Some(false)` if it is surely worse: round by
    /// round, and by the interval of its ratio. `None` if neither is sure, the engine is std, or std was not
    /// measured.
    pub(super) fn surely_other_than_std(&self, place: &Place) -> Option<bool> {
        let std = self.std().filter(|_| !place.is_std())?;
        let (reading, measure) = (&place.reading, self.measure);
        let interval = reading.interval().filter(|_| self.unit == Unit::TimesStd);
        let is_beyond = |is_better: bool| {
            interval.is_none_or(|(low, high)| {
                if is_better == (measure == Measure::Speed) {
                    low > 1.0
                } else {
                    high < 1.0
                }
            })
        };
        if measure.is_ahead(reading, &std.reading) {
            is_beyond(true).then_some(true)
        } else if measure.is_ahead(&std.reading, reading) {
            is_beyond(false).then_some(false)
        } else {
            None
        }
    }
}

impl Place {
    fn is_std(&self) -> bool {
        self.engine == EngineName::REFERENCE.as_str()
    }
}
