//! Advice on round trips: the engines that answer soonest at each load, and what decides it besides the engine.

mod circumstances;
mod words;

use std::collections::BTreeSet;

pub(super) use self::circumstances::Circumstances;
use super::answer::{Answer, hint, never_sleep};
use super::choices::{NEEDED_PCT, is_clean, lowered, names, needs_spare_cpus};
use super::commands::only_on_a_wire;
use super::estimate::{RISK, Reading};
use super::measure::Measure;
use super::{BoardRanking, Conditions, Overloaded, RankedEngine, Standing, engines};
use crate::results::row::Network;
use crate::verdict::quality::Grade;

/// Largest number of conditions with a line each. A reader skips more.
const MOST_LINES: usize = 12;

/// Widest half of the interval of a 99th percentile that is compared, in percent: one of few rare delays says nothing of
/// the next run.
const MOST_TAIL_PCT: f64 = 20.0;

/// Hint where more could be told apart. The closing lines of a run have the command.
const MORE_WINDOWS: &str =
    "To tell more apart, four times as many windows (--rounds, --duration) halve the intervals";

/// Returns the advice on the round trips of one machine.
pub(super) fn answer(board: &BoardRanking) -> Answer {
    let labels = board.labels();
    if labels.is_empty() {
        return Answer {
            said: vec!["No recommendation: there are no round trips".to_owned()],
            ..Answer::default()
        };
    }
    if let Some(disturbed) = board.disturbed_in_words() {
        let what = format!("No recommendation: other programs took the CPUs {disturbed}");
        return Answer {
            said: vec![what],
            ..Answer::default()
        };
    }
    let at = labels.iter().map(|(conditions, label)| At {
        label,
        conditions: *conditions,
        outcome: Outcome::of(board, *conditions),
        overloaded: board
            .overloaded
            .iter()
            .filter(|one| one.conditions == *conditions)
            .collect(),
    });
    let all: Vec<At> = at.collect();
    let told = engines(board);
    let names_soonest = all.iter().any(|at| at.soonest().is_some());
    let mut said: Vec<String> = hint(board).filter(|_| names_soonest).into_iter().collect();
    said.push(headline(board, &all));
    let widest = all.iter().map(|at| at.label.len()).max().unwrap_or(0) + 1;
    let line = |at: &At| {
        format!(
            "{:<widest$}  {}",
            format!("{}:", at.label),
            at.in_words(board)
        )
    };
    said.extend(all.iter().take(MOST_LINES).map(line));
    let more = all.len().saturating_sub(MOST_LINES);
    if more > 0 {
        said.push(format!("and under {more} more conditions"));
    }
    Answer {
        said,
        gains: Vec::new(),
        hints: hints(board, &all, &told.into_iter().collect()),
        is_cut: more > 0,
        is_too_noisy: all.iter().any(At::is_open),
    }
}

fn hints(board: &BoardRanking, all: &[At], told: &BTreeSet<&str>) -> Vec<String> {
    let has_interval = all
        .iter()
        .filter_map(At::best)
        .any(|best| best.reading.interval().is_some());
    let within = has_interval.then(|| board.remark_on_intervals());
    let facts = board.circumstances.as_ref();
    let alone = all.iter().find(|at| at.conditions.are_alone());
    let best = alone.and_then(At::best).map(|best| best.label.as_str());
    let mut hints = Vec::from_iter(within);
    if all.iter().any(At::is_open) {
        hints.push(MORE_WINDOWS.to_owned());
    }
    let spinning = never_sleep(board, Measure::RoundTrip);
    hints.extend(
        spinning.map(|what| what + &alone.map_or_else(String::new, |at| at.spinning(board))),
    );
    let cpus: BTreeSet<_> = all.iter().filter_map(|at| at.conditions.cpus()).collect();
    hints.extend(facts.and_then(|facts| facts.in_words(&cpus, best)));
    hints.extend(only_on_a_wire(board, Measure::RoundTrip, told));
    hints
}

/// Names the engines that answer soonest under all conditions, if there are any.
fn headline(board: &BoardRanking, all: &[At]) -> String {
    let mut known = engines(board);
    known.extend(board.overloaded.iter().map(|one| one.engine.as_str()));
    let known: BTreeSet<&str> = known.into_iter().collect();
    if let [only] = &known.iter().copied().collect::<Vec<_>>()[..] {
        let place = match board.machine.network {
            Network::Loopback => ", over loopback",
            Network::Veth => ", over veth",
            Network::Wire => "",
        };
        return format!("No recommendation: only {only} was measured{place}");
    }
    let of = format!("{} {} engines", board.machine.network.among(), known.len());
    let is_disturbed = all.iter().any(At::is_disturbed);
    let perhaps = if board.quality.grade == Grade::Poor || is_disturbed {
        "perhaps "
    } else {
        ""
    };
    let loads = match all {
        [only] => only.label.to_owned(),
        _ if all.iter().all(|at| at.conditions.are_alone()) => "alone".to_owned(),
        _ if all.iter().any(|at| at.conditions.are_alone()) => "alone and under load".to_owned(),
        _ => "at every rate".to_owned(),
    };
    let loads = if all.iter().any(|at| at.tail(board).is_some()) {
        format!("by the median, {loads}")
    } else {
        loads
    };
    match everywhere(all) {
        Some((common, true)) if common.len() == 1 => {
            format!(
                "{of}: {perhaps}{} answers soonest, {loads}",
                names(&common, "and")
            )
        }
        Some((common, true)) => {
            format!(
                "{of}: {perhaps}{} answer soonest, {loads} (a tie)",
                names(&common, "and")
            )
        }
        Some((common, false)) => {
            let verb = if common.len() == 1 { "is" } else { "are" };
            format!(
                "{of}: {perhaps}{} {verb} among the soonest, {loads}",
                names(&common, "and")
            )
        }
        None if all.iter().any(|at| at.soonest().is_some()) => {
            format!("{of}, {perhaps}soonest by load:")
        }
        None if all.iter().any(At::is_open) => {
            format!("{of}: too noisy to say which answers soonest")
        }
        None => format!("No recommendation {}:", lowered(&of)),
    }
}

/// Returns the engines that answer soonest under all conditions, and whether no others do anywhere. `None`: there are
/// none, or it is not sure.
fn everywhere<'a>(all: &'a [At]) -> Option<(BTreeSet<&'a str>, bool)> {
    let sets = all.iter().map(At::soonest);
    let sets: Vec<BTreeSet<&str>> = sets.collect::<Option<_>>()?;
    let common = sets.iter().cloned();
    let common = common.reduce(|common, set| &common & &set)?;
    let are_equal = sets.iter().all(|set| *set == common);
    (!common.is_empty()).then_some((common, are_equal))
}

/// The outcome under some conditions.
struct At<'a> {
    label: &'a str,
    conditions: Conditions,
    outcome: Outcome<'a>,
    overloaded: Vec<&'a Overloaded>,
}

/// The engines that answer soonest. Standings have the places of the engines that may be recommended.
enum Outcome<'a> {
    /// One engine, or several whose round trips surely differ by no more than this, in percent.
    Soonest(Standing, f64),
    /// Several engines that may differ by this, in percent.
    Noisy(Standing, f64),
    /// The engine with the lowest value has no interval.
    Unsure(Standing),
    /// All lost too much: the one that lost least.
    Lossy(&'a RankedEngine),
    /// Nobody was measured, or all were overloaded.
    Nobody,
}

impl<'a> Outcome<'a> {
    fn of(board: &'a BoardRanking, conditions: Conditions) -> Self {
        let mut averaged = board.averaged_by(Measure::RoundTrip);
        let Some(averaged) = averaged.find(|one| one.conditions == conditions) else {
            return Self::Nobody;
        };
        let places = averaged.standing.places.iter();
        let places: Vec<&RankedEngine> = places
            .filter(|place| !needs_spare_cpus(board, place))
            .collect();
        let clean: Vec<&RankedEngine> = places
            .iter()
            .copied()
            .filter(|place| is_clean(place))
            .collect();
        if clean.is_empty() {
            let lost = |place: &&RankedEngine| place.loss_pct.unwrap_or_default().1;
            let least = places
                .into_iter()
                .min_by(|a, b| lost(a).total_cmp(&lost(b)));
            return least.map_or(Self::Nobody, Self::Lossy);
        }
        let mut standing = averaged.standing.of_these(&clean);
        if !standing.places[0].is_first() {
            return Self::Unsure(standing);
        }
        let leaders: Vec<Reading> = standing.leaders().map(|place| place.reading).collect();
        let pairs = leaders.iter().enumerate();
        let pairs =
            pairs.flat_map(|(n, one)| leaders[n + 1..].iter().map(move |other| (one, other)));
        let apart = pairs.map(|(one, other)| one.apart_at_most_pct(other, RISK));
        let apart = apart.fold(0.0, f64::max);
        if apart > NEEDED_PCT {
            Self::Noisy(standing, apart)
        } else {
            let apart = apart.max(take_near(&mut standing));
            Self::Soonest(standing, apart)
        }
    }

    /// Returns the engines that answer soonest. `None`: it is not sure.
    fn soonest(&self) -> Option<BTreeSet<&str>> {
        match self {
            Self::Soonest(standing, _) => Some(
                standing
                    .leaders()
                    .map(|place| place.label.as_str())
                    .collect(),
            ),
            _ => None,
        }
    }
}

/// Takes engines for equal to the best that surely differ from it by less than a choice needs: from one run to the next,
/// medians of quiet windows move by that much, and so does the rate that a load is a share of. Returns by how much these
/// differ at most, in percent.
fn take_near(standing: &mut Standing) -> f64 {
    let best = standing.places[0].reading;
    let others = standing.places.iter_mut().filter(|it| !it.is_first());
    let apart = |place: &RankedEngine| best.apart_at_most_pct(&place.reading, RISK);
    let near = others.filter(|place| place.place.is_some() && apart(place) <= NEEDED_PCT);
    let taken = near.map(|place| {
        place.place = Some(1);
        apart(place)
    });
    taken.fold(0.0, f64::max)
}

impl At<'_> {
    /// Returns whether more windows may tell more.
    fn is_open(&self) -> bool {
        matches!(self.outcome, Outcome::Noisy(..) | Outcome::Unsure(_)) || self.is_disturbed()
    }

    /// Returns whether an engine is missing, as something disturbed its measurement.
    fn is_disturbed(&self) -> bool {
        self.overloaded.iter().any(|one| one.is_disturbed)
    }

    /// Returns the engines that answer soonest. `None`: it is not sure.
    fn soonest(&self) -> Option<BTreeSet<&str>> {
        self.outcome.soonest().filter(|_| !self.is_disturbed())
    }

    /// Returns the engine with the shortest tail, and one of the soonest whose tail is surely longer, each with its
    /// 99th percentile. `None`: there are none.
    fn tail(&self, board: &BoardRanking) -> Option<(&Standing, [(&str, Reading); 2])> {
        let Outcome::Soonest(standing, _) = &self.outcome else {
            return None;
        };
        let all = standing.places.iter();
        let all = all.filter_map(|place| Some((place.label.as_str(), self.p99(board, place)?)));
        let shortest = all.min_by(|(_, a), (_, b)| a.value().total_cmp(&b.value()))?;
        let soonest = standing.leaders();
        let mut soonest =
            soonest.filter_map(|place| Some((place.label.as_str(), self.p99(board, place)?)));
        let is_known = |tail: &Reading| tail.half_pct().is_some_and(|half| half <= MOST_TAIL_PCT);
        let longer = soonest.find(|(_, tail)| {
            let ends = tail.interval().zip(shortest.1.interval());
            let is_apart = ends.is_some_and(|((low, _), (_, high))| low > high);
            is_apart && is_known(tail) && is_known(&shortest.1)
        });
        Some((standing, [shortest, longer?]))
    }

    fn p99(&self, board: &BoardRanking, place: &RankedEngine) -> Option<Reading> {
        let own = (self.conditions, place.label.clone());
        board.tails.get(&own).copied().flatten()
    }

    /// Returns the engine with the shortest round trips, sure or not.
    fn best(&self) -> Option<&RankedEngine> {
        match &self.outcome {
            Outcome::Soonest(standing, _)
            | Outcome::Noisy(standing, _)
            | Outcome::Unsure(standing) => standing.places.first(),
            Outcome::Lossy(_) | Outcome::Nobody => None,
        }
    }
}
