//! Chooses the best engines under each of the conditions, or the reason for choosing none.

mod words;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use self::words::{half_in_words, listed, names};
use super::estimate::{RISK, Reading};
use super::limit::{self, FullRate, Reached};
use super::measure::{Measure, Unit};
use super::technique::{self, Technique};
use super::{Averaged, BoardRanking, Conditions, Overloaded, RankedEngine, Standing};
use crate::data::{EngineName, LoopbackTrains};
use crate::results::row::Network;
use crate::verdict::quality::{Grade, LOSSY_PCT};

/// By how much tied engines may differ at most, in percent: whoever takes any of them loses no more.
pub(super) const NEEDED_PCT: f64 = 5.0;

/// Labels of engines.
pub(super) type Labels<'a> = BTreeSet<&'a str>;

/// The choice under some conditions.
struct Choice<'a> {
    label: &'a str,
    conditions: Conditions,
    outcome: Outcome<'a>,
    /// The path that all engines fill. `None`: they do not.
    full: Option<FullPath>,
    /// Cases that did not answer the requests of this load.
    overloaded: Vec<&'a Overloaded>,
}

/// A path that all engines fill, and reach the same rate.
struct FullPath {
    /// The lowest of their rates, which hardly differ.
    rate: FullRate,
    /// What is full, in words.
    what: String,
}

/// The outcome for the engines that may be recommended, under the same conditions.
enum Outcome<'a> {
    Best(Best<'a>),
    Noisy(Noisy<'a>),
    /// No engine has an interval.
    Unsure,
    /// Every engine lost too much: the one that lost least.
    Lossy(&'a RankedEngine),
    /// The best of the engines that lost little are behind one that lost too much.
    Overrun(Overrun<'a>),
    /// Every engine fills something between both ends, and reaches the same rate: CPU times there do not tell them apart.
    Full,
    /// No engine kept up with the load.
    Nobody,
}

/// The best engines, which are tied.
#[derive(Clone)]
struct Best<'a> {
    engines: Labels<'a>,
    /// Engines that are equally fast but need more CPU time.
    dearer: Labels<'a>,
}

/// Engines that cannot be told apart because of noise.
struct Noisy<'a> {
    engines: Labels<'a>,
    spread: Spread,
    /// Those that are better than std: surely if std is not among the engines, else by their own intervals alone.
    beat_std: Labels<'a>,
}

/// Spread that is too wide for a choice, in percent.
#[derive(Clone, Copy)]
enum Spread {
    /// By how much the engines differ at most.
    Apart(f64),
    /// Half of the interval of an engine beside others that lost too much.
    Wide(f64),
}

impl Spread {
    fn pct(self) -> f64 {
        match self {
            Self::Apart(pct) | Self::Wide(pct) => pct,
        }
    }
}

/// An engine that received more datagrams than others, for less CPU time, but sent even more.
struct Overrun<'a> {
    engine: &'a RankedEngine,
    others: Labels<'a>,
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
    /// Returns whether an engine may be recommended. Where nothing cuts trains, and where the kernel copies even what zero
    /// copy sends, the gain of offload is unknown.
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
    board: &'a BoardRanking,
    measure: Measure,
    among: Among,
    each: Vec<Choice<'a>>,
    /// The engines that are the best under all conditions. `None` if there are none, or if some conditions have no
    /// best engines.
    everywhere: Option<Best<'a>>,
    /// True if no engine may be the best under all conditions: one is surely better here, another one there.
    cross: bool,
    /// Engines with better values but without an interval.
    unsure: Labels<'a>,
}

impl<'a> Choices<'a> {
    pub(super) fn of(
        board: &'a BoardRanking,
        measure: Measure,
        labels: &'a BTreeMap<Conditions, String>,
        among: Among,
    ) -> Self {
        let mut unsure = Labels::new();
        let choice = |(&conditions, label): (&Conditions, &'a String)| {
            let (outcome, full) = match board.average(measure, conditions) {
                Some(averaged) => match full(board, averaged, among) {
                    Some((outcome, full)) => (outcome, Some(full)),
                    None => (outcome(board, averaged, among, &mut unsure)?, None),
                },
                None if measure == Measure::RoundTrip => (Outcome::Nobody, None),
                None => return None,
            };
            let overloaded = board.overloaded.iter();
            Some(Choice {
                label: label.as_str(),
                conditions,
                outcome,
                full,
                overloaded: overloaded
                    .filter(|one| one.conditions == conditions)
                    .collect(),
            })
        };
        let mut each: Vec<Choice> = labels.iter().filter_map(choice).collect();
        let candidates = || each.iter().filter_map(Choice::engines);
        let common = in_all(candidates());
        let cross = common.is_empty() && candidates().count() > 1;
        let is_by_speed = measure == Measure::Speed;
        for choice in each.iter_mut().filter(|_| is_by_speed) {
            if let Outcome::Best(best) = &choice.outcome {
                choice.outcome = match best.cheapest(board, [choice.conditions]) {
                    Some(cheapest) => Outcome::Best(cheapest),
                    None if choice.full.is_some() => Outcome::Full,
                    None => continue,
                };
            }
        }
        let is_best = |choice: &Choice| matches!(choice.outcome, Outcome::Best(_));
        let everywhere = (!common.is_empty() && each.iter().all(is_best)).then(|| {
            let all = each.iter().map(|choice| choice.conditions);
            let best = Best::new(common);
            let cheapest = is_by_speed.then(|| best.cheapest(board, all)).flatten();
            cheapest.unwrap_or(best)
        });
        Self {
            board,
            measure,
            among,
            each,
            everywhere,
            cross,
            unsure,
        }
    }

    /// Returns the engines that are, or may be, the best: under all conditions, or else under any of them.
    pub(super) fn engines(&self) -> Labels<'a> {
        if let Some(best) = &self.everywhere {
            return best.engines.clone();
        }
        let engines = self.each.iter().filter_map(Choice::engines);
        engines.flatten().copied().collect()
    }

    /// Returns the best engines under each of the conditions. `None`: it is not sure.
    #[cfg(test)]
    pub(super) fn best_of_each(&self) -> Vec<Option<Labels<'a>>> {
        let best = |choice: &Choice<'a>| match &choice.outcome {
            Outcome::Best(best) => Some(best.engines.clone()),
            _ => None,
        };
        self.each.iter().map(best).collect()
    }

    /// Returns the engine of clients that wait whose round trips are the shortest, if it may be recommended.
    pub(super) fn soonest_alone(&self) -> Option<&'a str> {
        let mut each = self.each.iter();
        let alone = each.find(|choice| choice.conditions.are_alone())?;
        let engines = alone.engines()?;
        let places = &self
            .board
            .average(self.measure, alone.conditions)?
            .standing
            .places;
        let mut labels = places.iter().map(|place| place.label.as_str());
        labels.find(|label| engines.contains(label))
    }

    /// Returns the pairs to choose from, if only receivers are. Else empty.
    pub(super) fn compared_receivers(&self) -> Labels<'a> {
        let averaged = self.board.averaged_by(self.measure);
        let all = averaged.flat_map(|averaged| &averaged.standing.places);
        let is_one = |place: &&RankedEngine| {
            self.among != Among::AllKnown && self.among.has(self.board, place)
        };
        all.filter(is_one)
            .map(|place| place.label.as_str())
            .collect()
    }

    /// Returns whether another run may have other engines as the best: something disturbed this one, or a state of the
    /// virtual machine may be what they lead by.
    fn is_doubtful(&self) -> bool {
        self.board.quality.grade == Grade::Poor
            || self.each.iter().any(Choice::is_disturbed)
            || (self.board.is_virtual
                && self
                    .each
                    .iter()
                    .any(|choice| self.may_lead_by_state(choice)))
    }

    /// Returns whether a state of a virtual machine may be what the best engines lead by.
    fn may_lead_by_state(&self, choice: &Choice<'a>) -> bool {
        let Outcome::Best(best) = &choice.outcome else {
            return false;
        };
        let is_dearer = |place: &&RankedEngine| best.dearer.contains(place.label.as_str());
        let is_state = |measure, is_other: &dyn Fn(&&RankedEngine) -> bool| -> Option<bool> {
            let standing = &self.board.average(measure, choice.conditions)?.standing;
            let known = standing.places.iter();
            let known = known.filter(|it| is_clean(it) && self.among.has(self.board, it));
            let (named, others): (Vec<&RankedEngine>, Vec<&RankedEngine>) =
                known.partition(|place| best.engines.contains(place.label.as_str()));
            let first = *others.iter().find(|place| is_other(place))?;
            let last = named.last()?;
            let ratio = last.reading.value() / first.reading.value();
            let of_state =
                |place: &RankedEngine| Technique::of(self.board.case(&place.label)).state_pct();
            let lead_pct = 100.0 * (ratio.max(1.0 / ratio) - 1.0);
            Some(lead_pct < of_state(last).max(of_state(first)))
        };
        is_state(self.measure, &|place| !is_dearer(place)) == Some(true)
            || is_state(Measure::Cpu, &is_dearer) == Some(true)
    }

    /// Returns whether more windows may tell more engines apart.
    pub(super) fn are_open(&self) -> bool {
        let mut each = self.each.iter();
        each.any(|choice| {
            let is_open = matches!(choice.outcome, Outcome::Noisy(_) | Outcome::Unsure);
            is_open || choice.is_disturbed()
        })
    }

    /// Returns whether some conditions have engines that are the best, or better than std.
    pub(super) fn name_better(&self) -> bool {
        let mut each = self.each.iter();
        each.any(|choice| match &choice.outcome {
            Outcome::Best(_) => true,
            Outcome::Noisy(noisy) => !noisy.beat_std.is_empty(),
            Outcome::Unsure
            | Outcome::Lossy(_)
            | Outcome::Overrun(_)
            | Outcome::Full
            | Outcome::Nobody => false,
        })
    }

    /// Returns a rate that the path takes under all conditions in which engines fill it, in datagrams per second, and these
    /// engines. `None`: they fill it nowhere.
    pub(super) fn to_compare_at_a_rate(&self) -> Option<(u64, Labels<'a>)> {
        /// Part of the full rate.
        const PART: f64 = 0.9;
        let full = self.each.iter().filter_map(|choice| choice.full.as_ref());
        let least = full.map(|full| full.rate.pps).min_by(f64::total_cmp)?;
        let averaged = self.board.averaged_by(self.measure);
        let all = averaged.flat_map(|averaged| &averaged.standing.places);
        let known = all.filter(|place| self.among.has(self.board, place));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate"
        )]
        let rate = (PART * least) as u64;
        Some((rate, known.map(|place| place.label.as_str()).collect()))
    }

    /// Returns whether engines fill the path somewhere in a way that leaves their CPU times without a meaning.
    pub(super) fn need_a_rate(&self) -> bool {
        let mut each = self.each.iter();
        each.any(|choice| matches!(choice.outcome, Outcome::Full))
    }

    /// Returns the engines that lost least where all lost too much, those that overran their receivers, and those that
    /// they are better than: a lower rate shows who is the best of them.
    pub(super) fn to_slow_down(&self) -> Labels<'a> {
        let each = self.each.iter().map(|choice| match &choice.outcome {
            Outcome::Lossy(least) => Labels::from([least.label.as_str()]),
            Outcome::Overrun(it) => {
                let engine = it.engine.label.as_str();
                it.others.iter().copied().chain([engine]).collect()
            }
            _ => Labels::new(),
        });
        each.flatten().collect()
    }
}

impl<'a> Choice<'a> {
    /// Returns the engines that are, or may be, the best.
    fn engines(&self) -> Option<&Labels<'a>> {
        self.outcome.engines()
    }

    /// Returns whether an engine is missing, as something disturbed its measurement.
    fn is_disturbed(&self) -> bool {
        self.overloaded.iter().any(|one| one.is_disturbed)
    }
}

impl<'a> Outcome<'a> {
    fn engines(&self) -> Option<&Labels<'a>> {
        match self {
            Self::Best(best) => Some(&best.engines),
            Self::Noisy(noisy) => Some(&noisy.engines),
            Self::Unsure | Self::Lossy(_) | Self::Overrun(_) | Self::Full | Self::Nobody => None,
        }
    }

    /// Removes engines that are only chosen because a better one overran its receivers: who sends less loses less.
    fn unless_overrun(self, board: &'a BoardRanking, conditions: Conditions, among: Among) -> Self {
        let better = |engine: &str| better_but_lossy(board, conditions, among, engine);
        let Some(engines) = self.engines() else {
            return self;
        };
        let (behind, others): (Labels, Labels) =
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
    let places = |measure| Some(&board.average(measure, conditions)?.standing.places);
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
fn in_all<'a: 'b, 'b>(sets: impl Iterator<Item = &'b Labels<'a>>) -> Labels<'a> {
    let common = sets.cloned().reduce(|common, set| &common & &set);
    common.unwrap_or_default()
}

impl<'a> Best<'a> {
    fn new(engines: Labels<'a>) -> Self {
        Self {
            engines,
            dearer: Labels::new(),
        }
    }

    /// Reduces tied engines to those that need the least CPU time under each of these conditions, or nearly the least.
    /// `None`: CPU times do not tell them apart, or noise hides which ones need the least.
    fn cheapest(
        &self,
        board: &'a BoardRanking,
        conditions: impl IntoIterator<Item = Conditions>,
    ) -> Option<Self> {
        let each = conditions.into_iter().map(|conditions| {
            let averaged = board.average(Measure::Cpu, conditions)?;
            let places = averaged.standing.places.iter();
            let places: Vec<&RankedEngine> = places
                .filter(|place| self.engines.contains(place.label.as_str()))
                .collect();
            let standing = averaged.standing.of_these(&places);
            let leaders: Vec<&RankedEngine> = standing.leaders().collect();
            if apart_pct(&leaders) > NEEDED_PCT {
                return Some(self.engines.clone());
            }
            let cheapest = leaders.into_iter().chain(near(&standing));
            let name = |place: &RankedEngine| self.engines.get(place.label.as_str()).copied();
            Some(cheapest.filter_map(name).collect())
        });
        // Conditions without CPU times do not restrict the others.
        let each: Vec<Labels> = each.flatten().collect();
        let cheapest = in_all(each.iter());
        let is_told = !cheapest.is_empty() && !each.contains(&self.engines);
        is_told.then(|| Self {
            dearer: &self.engines - &cheapest,
            engines: cheapest,
        })
    }
}

/// Returns whether the gain of an engine is unknown: offload over veth, or over a loopback that does not cut trains.
/// Requests are too few for trains.
pub(super) fn is_unknown(board: &BoardRanking, place: &RankedEngine) -> bool {
    let case = board.case(&place.label);
    let is_cut = case.loopback == Some(LoopbackTrains::Cut);
    let is_elsewhere = board.machine.network != Network::Wire && !is_cut;
    board.circumstances.is_none() && is_elsewhere && Technique::of(case) == Technique::Offload
}

/// Returns whether an engine keeps a CPU busy even when nothing comes, while others that were measured do not.
pub(super) fn needs_spare_cpus(board: &BoardRanking, place: &RankedEngine) -> bool {
    let mut all = board.averaged.iter().flat_map(|one| &one.standing.places);
    let spins = |place: &RankedEngine| technique::spins(board.case(&place.label));
    spins(place) && !all.all(spins)
}

/// Returns whether an engine lost less than [`LOSSY_PCT`].
pub(super) fn is_clean(place: &RankedEngine) -> bool {
    most_lost_pct(place) < LOSSY_PCT
}

fn most_lost_pct(place: &RankedEngine) -> f64 {
    place.loss_pct.map_or(0.0, |(_, most)| most)
}

/// Returns the outcome where every engine that may be recommended fills the path and all reach the same rate. `None`: not
/// every one does. Those that may not be recommended tell what is full as well.
fn full<'a>(
    board: &BoardRanking,
    averaged: &'a Averaged,
    among: Among,
) -> Option<(Outcome<'a>, FullPath)> {
    if averaged.standing.measure != Measure::Speed {
        return None;
    }
    let all = || averaged.standing.places.iter();
    let known = || all().filter(|place| among.has(board, place));
    let reached = |place: &RankedEngine| {
        let own = (averaged.conditions, place.label.clone());
        board.reached.get(&own).copied()
    };
    let of_all: Option<Vec<Reached>> = all().map(reached).collect();
    let reached: Vec<Reached> = known().map(reached).collect::<Option<_>>()?;
    let are_clean = known().all(is_clean);
    let path = |what: &str, rate| FullPath {
        rate,
        what: what.to_owned(),
    };
    if let Some(what) = limit::full_path(&reached).filter(|_| are_clean) {
        let engines = known().map(|place| place.label.as_str());
        let best = Best::new(engines.collect());
        let rate = FullRate::least(&reached)?;
        return Some((Outcome::Best(best), path(&what, rate)));
    }
    let is_same = are_clean
        && (limit::is_same_whatever_cpu(&reached)
            || of_all.is_some_and(|all| limit::is_same_whatever_cpu(&all)));
    let path = if is_same {
        path("the path is full", FullRate::least(&reached)?)
    } else {
        let rate = FullRate::of_queue(&reached)?;
        path("the queue of the sender's interface is full", rate)
    };
    Some((Outcome::Full, path))
}

/// Chooses among engines under the same conditions, and adds better engines without an interval to `unsure`. `None` if
/// there is no engine.
fn outcome<'a>(
    board: &'a BoardRanking,
    averaged: &'a Averaged,
    among: Among,
    unsure: &mut Labels<'a>,
) -> Option<Outcome<'a>> {
    let places = averaged.standing.places.iter();
    let places: Vec<&RankedEngine> = places.filter(|place| among.has(board, place)).collect();
    let lost = |place: &&&RankedEngine| most_lost_pct(place);
    let least = *places.iter().min_by(|a, b| lost(a).total_cmp(&lost(b)))?;
    let clean: Vec<&RankedEngine> = places.iter().filter(|it| is_clean(it)).copied().collect();
    if clean.is_empty() {
        return Some(Outcome::Lossy(least));
    }
    let standing = averaged.standing.of_these(&clean);
    let label = |place: &RankedEngine| {
        let own = clean.iter().find(|one| one.label == place.label);
        own.map(|place| place.label.as_str())
    };
    let first = standing.places.iter().position(RankedEngine::is_first);
    let better = &standing.places[..first.unwrap_or(0)];
    unsure.extend(better.iter().filter_map(label));
    let mut best: Vec<&RankedEngine> = standing.leaders().collect();
    // The engine is ahead round by round, but the interval that users see includes std.
    let is_doubtful = |place: &&RankedEngine| standing.surely_other_than_std(place).is_none();
    let is_std_doubtful =
        !best.is_empty() && !best.iter().any(|it| it.is_std()) && best.iter().all(is_doubtful);
    best.extend(standing.std().filter(|_| is_std_doubtful));
    let has_std = best.iter().any(|place| place.is_std());
    let beats_std = |place: &&RankedEngine| {
        if has_std {
            standing.is_beyond_std(&place.reading, true)
        } else {
            standing.surely_other_than_std(place) == Some(true)
        }
    };
    let labels = |places: &[&RankedEngine]| -> Labels<'a> {
        places.iter().filter_map(|place| label(place)).collect()
    };
    let engines = labels(&best);
    let beat_std = labels(&best.iter().copied().filter(beats_std).collect::<Vec<_>>());
    let apart = apart_pct(&best);
    let widest = best.iter().filter_map(|place| place.reading.half_pct());
    let widest = widest.fold(0.0, f64::max);
    // Whatever makes an interval wide may be why the others lost datagrams.
    let of_all = averaged.standing.of_these(&places);
    let lossy = of_all.leaders().filter(|place| !is_clean(place));
    let lossy = lossy.filter_map(|place| places.iter().find(|it| it.label == place.label));
    let lossy: Labels = lossy.map(|place| place.label.as_str()).collect();
    let outcome = match engines.len() {
        0 => Outcome::Unsure,
        1 if widest > NEEDED_PCT && !lossy.is_empty() => Outcome::Noisy(Noisy {
            engines: &engines | &lossy,
            spread: Spread::Wide(widest),
            beat_std: Labels::new(),
        }),
        2.. if apart > NEEDED_PCT || (has_std && !beat_std.is_empty()) => Outcome::Noisy(Noisy {
            engines,
            spread: Spread::Apart(apart),
            beat_std,
        }),
        _ => {
            let near = near(&standing).filter_map(label);
            Outcome::Best(Best::new(engines.into_iter().chain(near).collect()))
        }
    };
    Some(outcome.unless_overrun(board, averaged.conditions, among))
}

/// Returns by how much two of these engines differ at most, in percent.
fn apart_pct(places: &[&RankedEngine]) -> f64 {
    let pairs = places.iter().enumerate();
    let pairs = pairs.flat_map(|(n, one)| places[n + 1..].iter().map(move |other| (one, other)));
    let apart = pairs.map(|(one, other)| one.reading.apart_at_most_pct(&other.reading, RISK));
    apart.fold(0.0, f64::max)
}

/// Returns the engines that surely differ from the best by less than a choice needs: from one run to the next, they
/// differ by that much.
fn near(standing: &Standing) -> impl Iterator<Item = &RankedEngine> {
    let best = standing.places.first().map(|place| place.reading);
    let others = standing.places.iter().filter(|it| !it.is_first());
    others.filter(move |place| {
        let is_near = |best: Reading| best.apart_at_most_pct(&place.reading, RISK) <= NEEDED_PCT;
        place.place.is_some() && best.is_some_and(is_near)
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

    /// Returns by how much an engine differs from std at most, in percent. Infinite if std was not measured.
    pub(super) fn apart_from_std_pct(&self, place: &RankedEngine) -> f64 {
        let apart = |std: &RankedEngine| place.reading.apart_at_most_pct(&std.reading, RISK);
        self.std().map_or(f64::INFINITY, apart)
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
