//! Which engines are the best under each of the conditions, and why there may be none.

use std::collections::{BTreeMap, BTreeSet};

use super::measure::Measure;
use super::technique::{self, Technique};
use super::{Averaged, BoardRanking, Conditions, Place, Standing};
use crate::data::EngineName;
use crate::quality::{Grade, LOSSY_PCT};

/// Half of an interval that is wider than this, in percent of its value, is too wide to choose among those that tie.
const NEEDED_PCT: f64 = 5.0;
/// More names are not read.
const MOST_NAMES: usize = 4;
/// More payloads, each with its own best engine, are not read.
const MOST_GROUPS: usize = 3;

/// What comes of the engines of some conditions that may be recommended.
enum Choice<'a> {
    /// They are the best, and cannot be told apart.
    Best(BTreeSet<&'a str>),
    /// They cannot be told apart, as the widest of their intervals is so many percent to either side.
    Noisy(BTreeSet<&'a str>, f64),
    /// None has an interval.
    Unsure,
    /// All lost too much, that one the least: so many percent.
    Lossy(&'a str, f64),
}

/// The choices by one measure, for each of the conditions.
pub(super) struct Choices<'a> {
    each: Vec<(&'a str, Choice<'a>)>,
    /// Engines that were better, but have no interval.
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
            Some((labels.get(&averaged.conditions)?.as_str(), choice))
        });
        let each = each.collect();
        Self { each, unsure }
    }
}

/// Over loopback nothing segments what offload sends, so nobody knows yet what it gains; and what never sleeps is for
/// those who asked for it.
fn may_be_recommended(board: &BoardRanking, place: &Place) -> bool {
    !is_unknown(board, place) && !needs_spare_cpus(board, place)
}

/// Whether nobody knows yet what it gains.
pub(super) fn is_unknown(board: &BoardRanking, place: &Place) -> bool {
    let is_over_loopback = board.machine.there.is_none();
    is_over_loopback && Technique::of_label(&place.engine) == Technique::Offload
}

/// Whether it needs a CPU to itself even when nothing comes, and others that were measured do not.
pub(super) fn needs_spare_cpus(board: &BoardRanking, place: &Place) -> bool {
    let mut all = board.averaged.iter().flat_map(|one| &one.standing.places);
    technique::spins(&place.engine) && !all.all(|other| technique::spins(&other.engine))
}

/// `None`: there is no engine.
fn choice<'a>(
    averaged: &'a Averaged,
    places: &[&'a Place],
    unsure: &mut BTreeSet<&'a str>,
) -> Option<Choice<'a>> {
    let least = |one: &&&Place, other: &&&Place| {
        let loss_pct = |place: &Place| place.loss_pct.unwrap_or_default();
        loss_pct(one).total_cmp(&loss_pct(other))
    };
    let least = places.iter().min_by(least)?;
    let is_clean = |place: &&&Place| place.loss_pct.is_none_or(|pct| pct < LOSSY_PCT);
    let clean: Vec<&Place> = places.iter().filter(is_clean).copied().collect();
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
    let best: BTreeSet<&str> = standing.leaders().filter_map(names).collect();
    Some(match noise_pct(&standing) {
        _ if best.is_empty() => Choice::Unsure,
        Some(pct) => Choice::Noisy(best, pct),
        None => Choice::Best(best),
    })
}

/// How noisy those on the first place are, where that is why they cannot be told apart: half of the widest interval, in
/// percent.
fn noise_pct(standing: &Standing) -> Option<f64> {
    if standing.leaders().count() < 2 {
        return None;
    }
    let half_pct = |place: &Place| {
        let (low, high) = place.reading.interval()?;
        Some(50.0 * (high - low) / place.reading.value())
    };
    let widest = standing.leaders().filter_map(half_pct).reduce(f64::max)?;
    (widest > NEEDED_PCT).then_some(widest)
}

impl<'a> Choices<'a> {
    /// Says it in words.
    pub(super) fn text(&self) -> Text {
        let mut best: Vec<(&BTreeSet<&str>, Vec<&str>)> = Vec::new();
        for (label, choice) in &self.each {
            let Choice::Best(engines) = choice else {
                continue;
            };
            match best.iter_mut().find(|(known, _)| *known == engines) {
                Some((_, labels)) => labels.push(label),
                None => best.push((engines, vec![label])),
            }
        }
        let of_all = best.iter().map(|(_, labels)| labels.len()).sum::<usize>();
        let is_all = of_all == self.each.len();
        let others = [self.noisy(), self.lossy(), self.without_intervals()];
        Text {
            is_tie: best.len() == 1 && best[0].0.len() > 1 && is_all,
            best: in_words(&best, is_all),
            others: others.into_iter().flatten().chain(self.better()).collect(),
        }
    }

    /// Some of the choices, each with the words for its conditions.
    fn some<T>(&self, of: impl Fn(&Choice<'a>) -> Option<T>) -> Vec<(&'a str, T)> {
        let each = self.each.iter();
        each.filter_map(|(label, choice)| Some((*label, of(choice)?)))
            .collect()
    }

    fn noisy(&self) -> Option<String> {
        let noisy = self.some(|choice| match choice {
            Choice::Noisy(engines, pct) => Some((engines.clone(), *pct)),
            _ => None,
        });
        let engines = noisy.iter().flat_map(|(_, (engines, _))| engines);
        let engines: BTreeSet<&str> = engines.copied().collect();
        let widest = noisy.iter().map(|(_, (_, pct))| *pct).reduce(f64::max)?;
        // It is not symmetric any more.
        let noise = if widest > 99.0 {
            "+-99 % or more".to_owned()
        } else {
            format!("+-{widest:.0} %")
        };
        let what = format!(
            "Too noisy to say: {} within {noise}, {NEEDED_PCT} % needed; try --until {NEEDED_PCT}%, or stop what else \
             runs (udpbench check)",
            names(&engines, "and")
        );
        Some(self.at(&noisy, &what))
    }

    fn lossy(&self) -> Option<String> {
        let lossy = self.some(|choice| match choice {
            Choice::Lossy(engine, pct) => Some((*engine, *pct)),
            _ => None,
        });
        let losses = lossy.iter().map(|(_, least)| *least);
        let (engine, pct) = losses.min_by(|one, other| one.1.total_cmp(&other.1))?;
        let what = format!(
            "No recommendation: all lost {LOSSY_PCT} % or more, {engine} the least ({pct:.1} %); udpbench find lossless \
             shows what each can take"
        );
        Some(self.at(&lossy, &what))
    }

    fn without_intervals(&self) -> Option<String> {
        let unsure = self.some(|choice| matches!(choice, Choice::Unsure).then_some(()));
        let what =
            "No recommendation: no engine has an interval; measure more rounds, and std as well";
        (!unsure.is_empty()).then(|| self.at(&unsure, what))
    }

    fn better(&self) -> Option<String> {
        let was = if self.unsure.len() == 1 {
            "was"
        } else {
            "were"
        };
        let names = names(&self.unsure, "and");
        let what = format!("{names} {was} better, but without an interval: measure more rounds");
        (!self.unsure.is_empty()).then_some(what)
    }

    /// The text, for some of the conditions.
    fn at<T>(&self, some: &[(&str, T)], text: &str) -> String {
        if some.len() == self.each.len() {
            return text.to_owned();
        }
        let labels: Vec<&str> = some.iter().map(|(label, _)| *label).collect();
        format!("At {}: {}", listed(&labels, "and"), lowered(text))
    }
}

/// Choices in words.
pub(super) struct Text {
    /// The best engines. `None`: for no conditions.
    pub(super) best: Option<String>,
    /// Whether none of several is better anywhere.
    is_tie: bool,
    /// Why there is no choice, or a doubtful one.
    pub(super) others: Vec<String>,
}

/// The best engines: those of all conditions, if there are any, else those of each.
fn in_words(best: &[(&BTreeSet<&str>, Vec<&str>)], is_all: bool) -> Option<String> {
    let (first, rest) = best.split_first()?;
    let everywhere = rest
        .iter()
        .fold(first.0.clone(), |common, (engines, _)| &common & engines);
    let tie = |engines: &BTreeSet<&str>| match engines.len() {
        1 => names(engines, "or"),
        _ => format!("{} (a tie)", names(engines, "or")),
    };
    if !everywhere.is_empty() && is_all {
        return Some(tie(&everywhere));
    }
    if best.len() > MOST_GROUPS {
        let all: BTreeSet<&str> = best
            .iter()
            .flat_map(|(engines, _)| *engines)
            .copied()
            .collect();
        let all = names(&all, "or");
        return Some(format!(
            "{all}, by payload and threads (udpbench rank --details FILE)"
        ));
    }
    let group = |(engines, labels): &(&BTreeSet<&str>, Vec<&str>)| {
        format!("{} at {}", tie(engines), listed(labels, "and"))
    };
    Some(best.iter().map(group).collect::<Vec<_>>().join(", "))
}

impl Text {
    /// What to use.
    pub(super) fn best(&self, board: &BoardRanking, measure: Measure) -> Option<String> {
        let best = self.best.as_ref()?;
        let is_poor = board.quality.grade == Grade::Poor;
        let is_over_wire = board.machine.there.is_some();
        Some(match measure {
            Measure::Cpu => format!("Least CPU time per datagram: {best}"),
            Measure::Speed if is_poor => format!("Perhaps {best}"),
            Measure::Speed if self.is_tie && is_over_wire => {
                format!("Use {best}: the wire may be the limit")
            }
            Measure::Speed => format!("Use {best}"),
        })
    }
}

/// Some engines by name, as many as can be read, std first.
pub(super) fn names(engines: &BTreeSet<&str>, and: &str) -> String {
    let std = EngineName::REFERENCE.as_str();
    let mut names: Vec<&str> = engines.iter().copied().collect();
    names.sort_by_key(|name| *name != std);
    let more;
    if names.len() > MOST_NAMES + 1 {
        more = format!("{} more", names.split_off(MOST_NAMES).len());
        names.push(&more);
    }
    listed(&names, and)
}

/// `a, b and c`.
fn listed(words: &[&str], and: &str) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} {and} {last}", others.join(", "))
        }
        _ => words.concat(),
    }
}

fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
