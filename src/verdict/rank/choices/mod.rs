//! Chooses the best engines under each of the conditions, or the reason for choosing none.

mod words;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use self::words::{half_in_words, listed, lowered, names};
use super::estimate::Reading;
use super::measure::{Measure, Unit};
use super::technique::{self, Technique};
use super::{Averaged, BoardRanking, Conditions, RankedEngine, Standing};
use crate::data::EngineName;
use crate::results::row::Network;
use crate::verdict::quality::LOSSY_PCT;

/// Widest half of an interval, in percent of its value, that still allows a choice among ties.
pub(super) const NEEDED_PCT: f64 = 5.0;

/// The outcome for the engines that may be recommended, under the same conditions.
enum Choice<'a> {
    Best(Best<'a>),
    Noisy(Noisy<'a>),
    /// No engine has an interval.
    Unsure,
    /// Every engine lost too much: the engine that lost least, and its lowest and highest loss in percent.
    Lossy(&'a str, (f64, f64)),
    /// The best of the engines that lost little are behind one that lost too much.
    Overrun(Overrun<'a>),
}

/// An engine that received more datagrams than others, for less CPU time, but sent even more.
struct Overrun<'a> {
    engine: &'a RankedEngine,
    others: BTreeSet<&'a str>,
}

/// The best engines, which are tied.
#[derive(Clone)]
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
    /// Those that are better than std: surely if std is not among the engines, else by their own intervals alone.
    beat_std: BTreeSet<&'a str>,
}

/// Engines to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    /// Engines whose gain shows where they were measured.
    AllKnown,
    /// Pairs of this sender with offload: what their receivers gain shows everywhere, as all get the same datagrams.
    ReceiversOf(EngineName),
}

impl Among {
    /// Returns whether an engine may be recommended. Over loopback and veth nothing segments GSO trains unless
    /// tx-udp-segmentation is off, and the kernel copies even what zero copy sends, so the gain of offload is unknown.
    /// Engines that never sleep are only for users who asked for them.
    fn has(self, board: &BoardRanking, place: &RankedEngine) -> bool {
        let is_among = match self {
            Self::AllKnown => !is_unknown(board, place),
            Self::ReceiversOf(sender) => {
                technique::sender_of_receiver(board.case(&place.label)) == Some(sender)
            }
        };
        is_among && !needs_spare_cpus(board, place)
    }
}

/// The choices by one measure, for each of the conditions.
pub(super) struct Choices<'a> {
    among: Among,
    /// The pairs to choose from, if only receivers are.
    compared_receivers: BTreeSet<&'a str>,
    each: Vec<(&'a str, Choice<'a>)>,
    /// The engines that are the best under all conditions. `None` if there are none, or if some conditions have no
    /// best engines.
    everywhere: Option<Best<'a>>,
    /// True if no engine may be the best under all conditions: one is surely better here, another one there.
    cross: bool,
    /// Engines with better values but without an interval.
    unsure: BTreeSet<&'a str>,
    /// True if offload was measured where its gain is unknown.
    is_without_offload: bool,
    /// What the intervals hold for.
    within: &'static str,
    /// What loses datagrams that are sent too fast.
    overrun: &'static str,
}

impl<'a> Choices<'a> {
    pub(super) fn of(
        board: &'a BoardRanking,
        measure: Measure,
        labels: &'a BTreeMap<Conditions, String>,
        among: Among,
    ) -> Self {
        let mut unsure = BTreeSet::new();
        let each = board.averaged_by(measure).filter_map(|averaged| {
            let places = averaged.standing.places.iter();
            let places = places.filter(|place| among.has(board, place));
            let choice = choice(averaged, &places.collect::<Vec<_>>(), &mut unsure)?;
            Some((
                averaged.conditions,
                choice.unless_overrun(board, averaged.conditions, among),
            ))
        });
        let mut each: Vec<(Conditions, Choice)> = each.collect();
        let candidates = || each.iter().filter_map(|(_, choice)| choice.engines());
        let common = in_all(candidates());
        let cross = common.is_empty() && candidates().count() > 1;
        let is_best = |(_, choice): &(_, Choice)| matches!(choice, Choice::Best(_));
        let is_by_speed = measure == Measure::Speed;
        let everywhere = (!common.is_empty() && each.iter().all(is_best)).then(|| {
            let all = each.iter().map(|(conditions, _)| *conditions);
            let best = Best::new(common);
            if is_by_speed {
                best.cheapest(board, all)
            } else {
                best
            }
        });
        for (conditions, choice) in each.iter_mut().filter(|_| is_by_speed) {
            if let Choice::Best(best) = choice {
                *best = best.clone().cheapest(board, [*conditions]);
            }
        }
        let labelled = |(conditions, choice)| Some((labels.get(&conditions)?.as_str(), choice));
        let all = board
            .averaged_by(measure)
            .flat_map(|averaged| &averaged.standing.places);
        let all = all.filter(|place| among != Among::AllKnown && among.has(board, place));
        Self {
            among,
            compared_receivers: all.map(|place| place.label.as_str()).collect(),
            each: each.into_iter().filter_map(labelled).collect(),
            everywhere,
            cross,
            unsure,
            is_without_offload: board
                .averaged_by(measure)
                .flat_map(|averaged| &averaged.standing.places)
                .any(|place| is_unknown(board, place)),
            within: board.reach_of_intervals(),
            overrun: match board.machine.network {
                Network::Loopback => "its own receivers",
                Network::Veth | Network::Wire => "the path or its receivers",
            },
        }
    }

    /// Returns the engines that are, or may be, the best: under all conditions, or else under any of them.
    pub(super) fn engines(&self) -> BTreeSet<&'a str> {
        if let Some(best) = &self.everywhere {
            return best.engines.clone();
        }
        let engines = self.each.iter().filter_map(|(_, choice)| choice.engines());
        engines.flatten().copied().collect()
    }

    /// Returns the pairs to choose from, if only receivers are. Else empty.
    pub(super) fn compared_receivers(&self) -> &BTreeSet<&'a str> {
        &self.compared_receivers
    }

    /// Returns whether engines are too noisy to rank under some conditions.
    pub(super) fn are_noisy(&self) -> bool {
        let mut each = self.each.iter();
        each.any(|(_, choice)| matches!(choice, Choice::Noisy(_)))
    }

    /// Returns whether some conditions have engines that are the best, or better than std.
    pub(super) fn name_better(&self) -> bool {
        let mut each = self.each.iter();
        each.any(|(_, choice)| match choice {
            Choice::Best(_) => true,
            Choice::Noisy(noisy) => !noisy.beat_std.is_empty(),
            Choice::Unsure | Choice::Lossy(..) | Choice::Overrun(_) => false,
        })
    }

    /// Returns whether losses keep some conditions from having the best engines.
    pub(super) fn need_a_lower_rate(&self) -> bool {
        let mut each = self.each.iter();
        each.any(|(_, choice)| matches!(choice, Choice::Lossy(..) | Choice::Overrun(_)))
    }

    /// Returns the engines that lost least where all lost too much.
    pub(super) fn lost_least(&self) -> impl Iterator<Item = &'a str> {
        self.each.iter().filter_map(|(_, choice)| match choice {
            Choice::Lossy(engine, _) => Some(*engine),
            _ => None,
        })
    }

    /// Returns the engines that overran their receivers, and those that they are better than.
    pub(super) fn overrun(&self) -> impl Iterator<Item = &'a str> {
        let overruns = self.each.iter().filter_map(|(_, choice)| match choice {
            Choice::Overrun(overrun) => Some(overrun),
            _ => None,
        });
        overruns.flat_map(|it| it.others.iter().copied().chain([it.engine.label.as_str()]))
    }
}

impl<'a> Choice<'a> {
    /// Returns the engines that are, or may be, the best.
    fn engines(&self) -> Option<&BTreeSet<&'a str>> {
        match self {
            Self::Best(best) => Some(&best.engines),
            Self::Noisy(noisy) => Some(&noisy.engines),
            Self::Unsure | Self::Lossy(..) | Self::Overrun(_) => None,
        }
    }

    /// Removes engines that are only chosen because a better one overran its receivers: who sends less loses less.
    fn unless_overrun(self, board: &'a BoardRanking, conditions: Conditions, among: Among) -> Self {
        let better = |engine: &str| better_but_lossy(board, conditions, among, engine);
        let Some(engines) = self.engines() else {
            return self;
        };
        let (behind, others): (BTreeSet<&str>, BTreeSet<&str>) =
            engines.iter().partition(|engine| better(engine).is_some());
        match (behind.first().and_then(|engine| better(engine)), self) {
            (Some(engine), _) if others.is_empty() => Self::Overrun(Overrun {
                others: behind
                    .into_iter()
                    .filter(|other| better(other) == Some(engine))
                    .collect(),
                engine,
            }),
            (Some(_), Self::Best(_)) => Self::Best(Best::new(others)),
            (_, same) => same,
        }
    }
}

/// Returns the fastest engine that received more datagrams than this one, for less CPU time each, but lost too much.
fn better_but_lossy<'a>(
    board: &'a BoardRanking,
    conditions: Conditions,
    among: Among,
    engine: &str,
) -> Option<&'a RankedEngine> {
    let places = |measure| {
        let mut averaged = board.averaged_by(measure);
        averaged
            .find(|one| one.conditions == conditions)
            .map(|one| &one.standing.places)
    };
    let (speeds, cpu_times) = (places(Measure::Speed)?, places(Measure::Cpu)?);
    let value = |places: &[RankedEngine], label: &str| {
        let place = places.iter().find(|place| place.label == label);
        place.map(|place| place.reading.value())
    };
    let (speed, cpu_time) = (value(speeds, engine)?, value(cpu_times, engine)?);
    speeds.iter().find(|place| {
        !is_clean(place)
            && among.has(board, place)
            && place.reading.value() > speed
            && value(cpu_times, &place.label).is_some_and(|lossy| lossy < cpu_time)
    })
}

/// Returns the engines that are in all sets. Empty without sets.
fn in_all<'a: 'b, 'b>(sets: impl Iterator<Item = &'b BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let common = sets.cloned().reduce(|common, set| &common & &set);
    common.unwrap_or_default()
}

impl<'a> Best<'a> {
    fn new(engines: BTreeSet<&'a str>) -> Self {
        Self {
            engines,
            is_by_cpu: false,
        }
    }

    /// Reduces tied engines to those that surely need the least CPU time under each of these conditions.
    fn cheapest(
        self,
        board: &'a BoardRanking,
        conditions: impl IntoIterator<Item = Conditions>,
    ) -> Self {
        let each = conditions.into_iter().map(|conditions| {
            let mut all = board.averaged_by(Measure::Cpu);
            let averaged = all.find(|one| one.conditions == conditions)?;
            let places = averaged.standing.places.iter();
            let places: Vec<&RankedEngine> = places
                .filter(|place| self.engines.contains(place.label.as_str()))
                .collect();
            let standing = averaged.standing.of_these(&places);
            let name = |place: &RankedEngine| self.engines.get(place.label.as_str()).copied();
            Some(standing.leaders().filter_map(name).collect())
        });
        // Conditions without CPU times do not restrict the others.
        let each: Vec<BTreeSet<&str>> = each.flatten().collect();
        let cheapest = in_all(each.iter());
        let is_by_cpu = !cheapest.is_empty() && cheapest.len() < self.engines.len();
        Self {
            engines: if is_by_cpu { cheapest } else { self.engines },
            is_by_cpu,
        }
    }
}

/// Returns whether the gain of an engine is unknown: offload over loopback or veth.
pub(super) fn is_unknown(board: &BoardRanking, place: &RankedEngine) -> bool {
    let is_wire = board.machine.network == Network::Wire;
    !is_wire && Technique::of(board.case(&place.label)) == Technique::Offload
}

/// Returns whether an engine keeps a CPU busy even when nothing comes, while others that were measured do not.
pub(super) fn needs_spare_cpus(board: &BoardRanking, place: &RankedEngine) -> bool {
    let mut all = board.averaged.iter().flat_map(|one| &one.standing.places);
    let spins = |place: &RankedEngine| technique::spins(board.case(&place.label));
    spins(place) && !all.all(spins)
}

/// Returns whether an engine lost less than [`LOSSY_PCT`].
pub(super) fn is_clean(place: &RankedEngine) -> bool {
    place.loss_pct.is_none_or(|(_, most)| most < LOSSY_PCT)
}

/// Chooses among engines under the same conditions, and adds better engines without an interval to `unsure`. `None` if
/// there is no engine.
fn choice<'a>(
    averaged: &'a Averaged,
    places: &[&'a RankedEngine],
    unsure: &mut BTreeSet<&'a str>,
) -> Option<Choice<'a>> {
    let most_lost = |place: &RankedEngine| place.loss_pct.unwrap_or_default().1;
    let least =
        |one: &&&RankedEngine, other: &&&RankedEngine| most_lost(one).total_cmp(&most_lost(other));
    let least = places.iter().min_by(least)?;
    let clean: Vec<&RankedEngine> = places.iter().filter(|it| is_clean(it)).copied().collect();
    if clean.is_empty() {
        return Some(Choice::Lossy(
            &least.label,
            least.loss_pct.unwrap_or_default(),
        ));
    }
    let standing = averaged.standing.of_these(&clean);
    let name = |place: &RankedEngine| clean.iter().find(|one| one.label == place.label);
    let names = |place: &RankedEngine| name(place).map(|place| place.label.as_str());
    let first = standing.places.iter().position(RankedEngine::is_first);
    unsure.extend(
        standing.places[..first.unwrap_or(0)]
            .iter()
            .filter_map(names),
    );
    let leaders = || standing.leaders();
    let mut best: Vec<&RankedEngine> = leaders().filter_map(|it| name(it).copied()).collect();
    // The engine is ahead round by round, but the interval that users see includes std.
    let is_doubtful = |place: &RankedEngine| standing.surely_other_than_std(place).is_none();
    let is_std_doubtful =
        !best.is_empty() && !leaders().any(RankedEngine::is_std) && leaders().all(is_doubtful);
    let std = standing.std().filter(|_| is_std_doubtful);
    best.extend(std.and_then(|it| name(it).copied()));
    let engines: BTreeSet<&str> = best.iter().map(|place| place.label.as_str()).collect();
    let has_std = best.iter().any(|place| place.is_std());
    let beats_std = |place: &&RankedEngine| {
        if has_std {
            standing.is_beyond_std(&place.reading, true)
        } else {
            standing.surely_other_than_std(place) == Some(true)
        }
    };
    let beat_std = best.iter().copied().filter(beats_std);
    let beat_std: BTreeSet<&str> = beat_std.map(|place| place.label.as_str()).collect();
    let halves = best.iter().filter_map(|place| place.reading.half_pct());
    let widest_pct = halves.reduce(f64::max).unwrap_or(0.0);
    let is_wide = widest_pct > NEEDED_PCT;
    let is_noisy = is_wide || (has_std && !beat_std.is_empty());
    // Whatever makes an interval wide may be why the others lost datagrams.
    let of_all = averaged.standing.of_these(places);
    let lossy = of_all.leaders().filter(|place| !is_clean(place));
    let lossy = lossy.filter_map(|place| places.iter().find(|it| it.label == place.label));
    let lossy: BTreeSet<&str> = lossy.map(|place| place.label.as_str()).collect();
    Some(match engines.len() {
        0 => Choice::Unsure,
        1 if is_wide && !lossy.is_empty() => Choice::Noisy(Noisy {
            engines: &engines | &lossy,
            widest_pct,
            beat_std: BTreeSet::new(),
        }),
        2.. if is_noisy => Choice::Noisy(Noisy {
            engines,
            widest_pct,
            beat_std,
        }),
        _ => Choice::Best(Best::new(engines)),
    })
}

impl Standing {
    fn std(&self) -> Option<&RankedEngine> {
        self.places.iter().find(|place| place.is_std())
    }

    /// Returns `Some(true)` if an engine is surely better than std, `Some(false)` if it is surely worse: round by
    /// round, and by the interval of its ratio. `None` if neither is sure, the engine is std, or std was not
    /// measured.
    pub(super) fn surely_other_than_std(&self, place: &RankedEngine) -> Option<bool> {
        let std = self.std().filter(|_| !place.is_std())?;
        let (reading, measure) = (&place.reading, self.measure);
        let has_ratio = self.unit == Unit::TimesStd && reading.interval().is_some();
        let could_be = |is_better| !has_ratio || self.is_beyond_std(reading, is_better);
        if measure.is_ahead(reading, &std.reading, self.risk) {
            could_be(true).then_some(true)
        } else if measure.is_ahead(&std.reading, reading, self.risk) {
            could_be(false).then_some(false)
        } else {
            None
        }
    }

    /// Returns whether the whole interval of a ratio is on one side of std: the better one or the worse one.
    pub(super) fn is_beyond_std(&self, reading: &Reading, is_better: bool) -> bool {
        let interval = reading.interval().filter(|_| self.unit == Unit::TimesStd);
        interval.is_some_and(|(low, high)| {
            if is_better == (self.measure == Measure::Speed) {
                low > 1.0
            } else {
                high < 1.0
            }
        })
    }
}

impl RankedEngine {
    pub(super) fn is_std(&self) -> bool {
        self.label == EngineName::REFERENCE.as_str()
    }
}
