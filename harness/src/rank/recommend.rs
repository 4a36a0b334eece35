//! What to use, and how sure that is.

use super::measure::{By, Measure, Unit};
use super::over_all::OverAll;
use super::table::counted;
use super::{BoardRanking, Place, Standing};
use crate::data::EngineName;

/// Half of an interval that is wider than this, in percent of its value, is too wide to choose among those that tie.
const NEEDED_PCT: f64 = 5.0;

/// What to use, a claim each: the fastest first, then the cheapest, then what speaks against them.
pub(super) fn claims(board: &BoardRanking, by: By) -> Vec<String> {
    let asked = Measure::ALL.into_iter().filter(|&one| by.includes(one));
    let asked = asked.filter_map(|measure| board.over_all_by(measure));
    let asked: Vec<&OverAll> = asked.collect();
    let Some(first) = asked.first() else {
        return vec!["No recommendation: nothing could be ranked".to_owned()];
    };
    let standing = &first.standing;
    if let ([only], []) = (&standing.places[..], &first.left_out[..]) {
        let engine = &only.engine;
        return vec![format!("No recommendation: only {engine} was measured")];
    }
    let second = asked.get(1).map(|cpu| cheapest(&cpu.standing));
    let parts = [Some(best(first)), second, loss(&asked), doubt(standing)];
    parts.into_iter().flatten().collect()
}

/// The best engines and what speaks for them.
fn best(over_all: &OverAll) -> String {
    let standing = &over_all.standing;
    let settings = counted(over_all.settings, "setting");
    let Some(witness) = witness(standing) else {
        let missing = match (standing.measure, standing.unit) {
            // One run says nothing about how much these scatter.
            (Measure::Cpu, Unit::Absolute) => "std as well, or more runs",
            _ => "more rounds or runs",
        };
        return format!(
            "No recommendation: no engine has an interval over all settings; measure {missing}"
        );
    };
    if let Some(noise) = noise(standing) {
        let names = names(standing, "and");
        return format!(
            "Too noisy to say: {names} within {noise}, {NEEDED_PCT} % needed; try --until {NEEDED_PCT}%, or stop \
             what else runs (udpbench check)"
        );
    }
    let (names, claim) = (names(standing, "or"), claim(standing, witness));
    let engine = &witness.engine;
    if standing.leaders().count() > 1 {
        format!("Use {names}, which cannot be told apart: over {settings} {engine} {claim}")
    } else if !witness.is_first() {
        format!("Use {names}: over {settings} {engine}, the next, {claim}")
    } else if standing.places.len() == 1 {
        format!("Use {names}: over {settings} it {claim}; no other has enough of them")
    } else if better_without_interval(standing).is_empty() {
        format!("Use {names}: over {settings} it {claim}, ahead of all others")
    } else {
        format!(
            "Use {names}: over {settings} it {claim}, ahead of all others that have an interval"
        )
    }
}

/// How noisy those on the first place are, where that is why they cannot be told apart: the widest, `+-78 %`.
fn noise(standing: &Standing) -> Option<String> {
    if standing.leaders().count() < 2 {
        return None;
    }
    let half_pct = |place: &Place| {
        let (low, high) = place.reading.interval()?;
        Some(50.0 * (high - low) / place.reading.value())
    };
    let widest = standing.leaders().filter_map(half_pct).reduce(f64::max)?;
    match widest {
        _ if widest <= NEEDED_PCT => None,
        // It is not symmetric any more.
        _ if widest > 99.0 => Some("+-99 % or more".to_owned()),
        _ => Some(format!("+-{widest:.0} %")),
    }
}

/// The cheapest beside the fastest.
fn cheapest(cpu: &Standing) -> String {
    let Some(witness) = witness(cpu) else {
        return "the cheapest is unknown".to_owned();
    };
    let (names, claim) = (names(cpu, "and"), claim(cpu, witness));
    let engine = &witness.engine;
    if let Some(noise) = noise(cpu) {
        format!("too noisy to say which is the cheapest: {names} within {noise}")
    } else if cpu.leaders().count() > 1 {
        format!("the cheapest are {names}, which cannot be told apart: {engine} {claim}")
    } else if !witness.is_first() {
        format!("the cheapest is {names}: {engine}, the next, {claim}")
    } else {
        format!("the cheapest is {engine}: it {claim}")
    }
}

/// The engine whose value is quoted: the best one, or of ratios to std the best one beside std; of several that
/// cannot be told apart, one of them.
fn witness(standing: &Standing) -> Option<&Place> {
    let says_something = |place: &&Place| {
        standing.unit == Unit::Absolute || place.engine != EngineName::REFERENCE.as_str()
    };
    let is_tie = standing.leaders().count() > 1;
    let first = standing.places.iter().position(Place::is_first)?;
    // The next of a single one is the next by value, whether or not it has an interval.
    let is_candidate = |place: &&Place| place.is_first() || !is_tie;
    let mut placed = standing.places[first..].iter().filter(is_candidate);
    placed.find(says_something).or(standing.places.get(first))
}

/// A value in words, with its interval.
fn claim(standing: &Standing, place: &Place) -> String {
    let figure = |value: f64| standing.figure(value, &place.reading);
    let interval = place.reading.interval();
    let interval = interval.map(|(low, high)| format!(" ({} to {})", figure(low), figure(high)));
    let value = figure(place.reading.value()) + &interval.unwrap_or_default();
    match (standing.measure, standing.unit) {
        (Measure::Speed, Unit::TimesStd) => format!("received {value} times as much as std"),
        (Measure::Speed, Unit::Absolute) => {
            format!("received {value} thousand datagrams per second")
        }
        (Measure::Cpu, Unit::TimesStd) => {
            format!("took {value} times the CPU time of std per datagram")
        }
        (Measure::Cpu, Unit::Absolute) => format!("took {value} ns of CPU time per datagram"),
    }
}

/// The leaders by name, as many as can be read.
fn names(standing: &Standing, and: &str) -> String {
    let leaders = standing.leaders().map(|place| place.engine.clone());
    let mut names: Vec<String> = leaders.collect();
    if names.len() > MOST_NAMES + 1 {
        let more = names.split_off(MOST_NAMES).len();
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} {and} {last}", others.join(", "))
        }
        _ => names.concat(),
    }
}

const MOST_NAMES: usize = 4;

/// The most that a leader lost, where that is worth a word.
fn loss(asked: &[&OverAll]) -> Option<String> {
    let leaders = asked
        .iter()
        .flat_map(|over_all| over_all.standing.leaders());
    let losses = leaders.filter_map(|place| Some((place.loss_pct?, &place.engine)));
    let (loss_pct, engine) = losses.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (loss_pct >= 1.0).then(|| format!("but {engine} lost up to {loss_pct:.1} % of the datagrams"))
}

/// What makes the answer unsure.
fn doubt(standing: &Standing) -> Option<String> {
    let engines = match better_without_interval(standing) {
        [] => return None,
        [only] => format!("{} was", only.engine),
        [best, others @ ..] => format!("{} and {} more were", best.engine, others.len()),
    };
    Some(format!(
        "{engines} better, but without an interval: measure more rounds"
    ))
}

/// Engines before the first one with a place.
fn better_without_interval(standing: &Standing) -> &[Place] {
    let first = standing.places.iter().position(Place::is_first);
    &standing.places[..first.unwrap_or(0)]
}
