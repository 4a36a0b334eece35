//! Puts the outcome at one load into words.

use std::collections::BTreeSet;

use super::{At, Outcome};
use crate::term::digits::{interval_text, signed};
use crate::verdict::quality::LOSSY_PCT;
use crate::verdict::rank::choices::{half_in_words, is_clean, names, needs_spare_cpus};
use crate::verdict::rank::estimate::Reading;
use crate::verdict::rank::measure::Measure;
use crate::verdict::rank::{BoardRanking, Overloaded, RankedEngine, Standing};

impl At<'_> {
    /// Names the soonest engines with their values, and the engines that are overloaded or lost too much.
    pub(super) fn in_words(&self, board: &BoardRanking) -> String {
        let own = match &self.outcome {
            Outcome::Soonest(standing, apart) => soonest(standing, *apart),
            Outcome::Noisy(standing, apart) => {
                let apart = half_in_words(*apart);
                let engines = names(&up_to_the_last_leader(standing), "and");
                format!(
                    "too noisy to say: {engines} ({}, up to {apart} apart)",
                    range(standing)
                )
            }
            Outcome::Unsure(standing) => {
                let best = &standing.places[0];
                format!(
                    "{} {}, but without an interval",
                    best.label,
                    in_us(standing, &best.reading)
                )
            }
            Outcome::Lossy(least) => {
                let (label, lost) = (&least.label, least.loss_pct.unwrap_or_default().1);
                format!("all lost {LOSSY_PCT} % or more, the least {label} ({lost:.1} %)")
            }
            Outcome::Nobody if self.overloaded.is_empty() => "nothing measured".to_owned(),
            Outcome::Nobody => "no engine kept up".to_owned(),
        };
        let (disturbed, overloaded): (Vec<&Overloaded>, Vec<&Overloaded>) =
            self.overloaded.iter().partition(|one| one.is_disturbed);
        let overloaded = overloaded.into_iter().map(|one: &Overloaded| {
            let lost = if one.lost_pct < LOSSY_PCT {
                String::new()
            } else {
                format!(", {:.1} % lost", one.lost_pct)
            };
            format!("{} (answered {:.0} %{lost})", one.engine, one.answered_pct)
        });
        let overloaded: Vec<String> = overloaded.collect();
        let overloaded = match &overloaded[..] {
            [] => String::new(),
            some => format!("; overloaded: {}", some.join(", ")),
        };
        let disturbed = disturbed
            .iter()
            .map(|one| format!("{} (answered {:.0} %)", one.engine, one.answered_pct));
        let disturbed: Vec<String> = disturbed.collect();
        let disturbed = match &disturbed[..] {
            [] => String::new(),
            some => format!("; disturbed (kept up with more load): {}", some.join(", ")),
        };
        let unclear = if disturbed.is_empty() {
            ""
        } else {
            "unclear: "
        };
        let tail = self
            .tail(board)
            .map_or_else(String::new, |(standing, tails)| {
                let tails =
                    tails.map(|(label, tail)| format!("{label} {}", in_us(standing, &tail)));
                format!("; but p99: {}", tails.join(", then "))
            });
        let lossy = self.lossy(board);
        format!("{unclear}{own}{tail}{lossy}{overloaded}{disturbed}")
    }

    /// Returns the values of the engines that keep a CPU busy.
    pub(super) fn spinning(&self, board: &BoardRanking) -> String {
        let mut averaged = board.averaged_by(Measure::RoundTrip);
        let averaged = averaged.find(|one| one.conditions == self.conditions);
        let values = averaged.into_iter().flat_map(|one| {
            let places = one.standing.places.iter();
            let places = places.filter(|place| needs_spare_cpus(board, place));
            places.map(|place| format!("{} {}", place.label, in_us(&one.standing, &place.reading)))
        });
        let values: Vec<String> = values.collect();
        if values.is_empty() {
            String::new()
        } else {
            format!(" ({}: {})", self.label, values.join(", "))
        }
    }

    /// Names the engines that lost too much, beside others that did not.
    fn lossy(&self, board: &BoardRanking) -> String {
        let mut averaged = board.averaged_by(Measure::RoundTrip);
        let averaged = averaged.find(|one| one.conditions == self.conditions);
        let places = averaged.into_iter().flat_map(|one| &one.standing.places);
        let lossy = places.filter(|place| !is_clean(place) && self.best().is_some());
        let lossy = lossy.map(|place| {
            format!(
                "{} ({:.1} %)",
                place.label,
                place.loss_pct.unwrap_or_default().1
            )
        });
        let lossy: Vec<String> = lossy.collect();
        match &lossy[..] {
            [] => String::new(),
            some => format!("; not ranked, as they lost: {}", some.join(", ")),
        }
    }
}

fn soonest(standing: &Standing, apart_pct: f64) -> String {
    if standing.leaders().count() > 1 {
        let (engines, apart) = (leaders(standing), half_in_words(apart_pct));
        return format!("{engines} alike within {apart} ({})", range(standing));
    }
    let mut places = standing.places.iter();
    let own = |place: &RankedEngine| format!("{} {}", place.label, in_us(standing, &place.reading));
    let best = places.next().map_or_else(String::new, own);
    let next = places
        .next()
        .map_or_else(String::new, |next| format!(", then {}", own(next)));
    best + &next
}

fn leaders(standing: &Standing) -> String {
    let leaders: BTreeSet<&str> = standing
        .leaders()
        .map(|place| place.label.as_str())
        .collect();
    names(&leaders, "and")
}

/// Returns the engines from the best to the last one that may be the best. One between them with a narrow interval may
/// not be, but would look left out.
fn up_to_the_last_leader(standing: &Standing) -> BTreeSet<&str> {
    let places = &standing.places;
    let last = places.iter().rposition(RankedEngine::is_first);
    let all = places[..=last.unwrap_or(0)].iter();
    all.map(|place| place.label.as_str()).collect()
}

/// Formats the lowest and the highest value of the leaders: `35.5 to 36.2 us`.
fn range(standing: &Standing) -> String {
    let half = |place: &&RankedEngine| place.reading.half_pct().unwrap_or_default();
    let widest = standing
        .leaders()
        .max_by(|a, b| half(a).total_cmp(&half(b)));
    let widest = widest.map(|place| place.reading);
    let figure = |place: &RankedEngine| {
        let own = &place.reading;
        standing.figure(own.value(), widest.as_ref().unwrap_or(own))
    };
    let (low, high) = (standing.leaders().next(), standing.leaders().last());
    let (low, high) = (
        low.map(figure).unwrap_or_default(),
        high.map(figure).unwrap_or_default(),
    );
    if low == high {
        format!("{low} us")
    } else {
        format!("{low} to {high} us")
    }
}

/// Formats a time with its interval: `35.5 us (+-2.1 %)`.
fn in_us(standing: &Standing, reading: &Reading) -> String {
    let value = standing.figure(reading.value(), reading);
    let interval = reading.interval();
    match interval.and_then(|(low, high)| interval_text(reading.value(), low, high)) {
        None => format!("{value} us"),
        Some(width) => format!("{value} us ({} %)", signed(&width, "+-")),
    }
}
