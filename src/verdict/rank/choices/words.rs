//! Puts the choices into words.

use super::{
    Among, Best, Choice, Choices, FullPath, Labels, NEEDED_PCT, Noisy, Outcome, Spread, is_clean,
    most_lost_pct,
};
use crate::data::EngineName;
use crate::results::row::Network;
use crate::text::digits::counted;
use crate::verdict::quality::LOSSY_PCT;
use crate::verdict::rank::estimate::Reading;
use crate::verdict::rank::limit::{self, Reached};
use crate::verdict::rank::measure::Measure;
use crate::verdict::rank::{Conditions, Overloaded, RankedEngine};

/// Largest number of engine names in a list; a reader skips longer lists.
const MOST_NAMES: usize = 4;
/// Largest number of conditions that are listed with their own best engine, and of lines about others; a reader skips
/// longer lists.
const MOST_LISTED: usize = 4;
/// Widest half of the interval of a 99th percentile that is compared, in percent: one of few rare delays says nothing of
/// the next run.
const MOST_TAIL_PCT: f64 = 20.0;

/// Widest spread that is said, in percent: a wider one is no longer symmetric.
const MOST_APART_PCT: f64 = 99.0;

/// The labels of some conditions, and what is said of all of them.
type Said<'a, T> = (Vec<&'a str>, T);

impl<'a> Choices<'a> {
    /// Names the best engines in a line, with the number of engines to choose from. `None` if no conditions have any.
    pub(in crate::verdict::rank) fn headline(&self, engines: usize) -> Option<String> {
        let best = match &self.everywhere {
            Some(best) => self.best_in_words(best, &self.conditions()),
            None => self.by_conditions()?,
        };
        let (besides, is_doubtful) = (self.besides(), self.is_doubtful());
        if self.measure == Measure::Cpu {
            let perhaps = if is_doubtful { "perhaps " } else { "" };
            let text = format!("Least CPU time per datagram{besides}: {perhaps}{best}");
            return Some(text);
        }
        let verb = if is_doubtful { "perhaps" } else { "use" };
        let by = if self.measure == Measure::RoundTrip {
            ", by the median round trip"
        } else {
            ""
        };
        let noun = if self.among == Among::AllKnown {
            "engine"
        } else {
            "receiver"
        };
        let (place, engines) = (self.board.machine.network.among(), counted(engines, noun));
        Some(format!("{place} {engines}{besides}{by}: {verb} {best}"))
    }

    /// Names the sender whose receivers were to choose from, unless all engines were.
    fn besides(&self) -> String {
        match self.among {
            Among::ReceiversOf(sender) => format!(" with sender {sender}"),
            Among::AllKnown => String::new(),
        }
    }

    /// Returns the lines on conditions without a choice, and on engines that are not in it.
    pub(in crate::verdict::rank) fn others(&self) -> Vec<String> {
        let mut others = self.all_others();
        others.truncate(MOST_LISTED);
        others
    }

    /// Returns whether the words leave out some conditions, which are too many.
    pub(in crate::verdict::rank) fn are_too_many(&self) -> bool {
        let has_too_many_best = self.everywhere.is_none() && self.by_words().len() > MOST_LISTED;
        has_too_many_best || self.all_others().len() > MOST_LISTED
    }

    fn all_others(&self) -> Vec<String> {
        // Engines that cross are all named in the headline.
        let noisy = if self.cross { Vec::new() } else { self.noisy() };
        let parts = [
            self.said(|it| self.instead(it)),
            self.said(|it| self.beside_loads(it)),
        ];
        let lines = parts.into_iter().flatten();
        let lines = lines.map(|(labels, text)| self.at(&labels, &text));
        noisy
            .into_iter()
            .chain(lines)
            .chain(self.better())
            .collect()
    }

    /// Names the engines, with the reason for the choice among equally good ones.
    fn best_in_words(&self, best: &Best, conditions: &[Conditions]) -> String {
        let limit = self.limit(best, conditions);
        let limit = limit.map_or_else(String::new, |limit| format!(": {limit}"));
        let engines = names(&best.engines, "or");
        if !best.dearer.is_empty() {
            let dearer = names(&best.dearer, "and");
            return format!("{engines} (as fast as {dearer} for less CPU time{limit})");
        }
        match best.engines.len() {
            1 => engines,
            _ => format!("{engines} (a tie within {NEEDED_PCT} %{limit})"),
        }
    }

    fn conditions(&self) -> Vec<Conditions> {
        self.each.iter().map(|choice| choice.conditions).collect()
    }

    /// Says what kept equally fast engines from being faster under these conditions. `None`: it is not known, or not the
    /// same.
    fn limit(&self, best: &Best, conditions: &[Conditions]) -> Option<String> {
        let these = self
            .each
            .iter()
            .filter(|choice| conditions.contains(&choice.conditions));
        let full: Option<Vec<&String>> = these
            .map(|choice| choice.full.as_ref().map(|full| &full.what))
            .collect();
        match full.as_deref() {
            Some([first, others @ ..]) if others.iter().all(|other| other == first) => {
                Some((*first).clone())
            }
            _ => limit::in_words(&self.reached(best, conditions)),
        }
    }

    /// Returns what is known of equally fast engines under these conditions. Empty: they are ranked by something else, or
    /// something is not known.
    fn reached(&self, best: &Best, conditions: &[Conditions]) -> Vec<Reached> {
        let engines = best.engines.iter().chain(&best.dearer);
        let own = engines.flat_map(|engine| {
            let own = |conditions: &Conditions| (*conditions, (*engine).to_owned());
            conditions.iter().map(own)
        });
        let all: Option<Vec<Reached>> = own
            .map(|own| self.board.reached.get(&own).copied())
            .collect();
        let all = all.filter(|_| self.measure == Measure::Speed);
        all.unwrap_or_default()
    }

    /// Says what engines take of the CPUs under the first conditions in which equally fast ones fill the path. `None`: there
    /// are none.
    pub(in crate::verdict::rank) fn cpus_where_full(&self) -> Option<String> {
        let is_full = |choice: &&Choice| match &choice.outcome {
            Outcome::Best(best) => self.limit(best, &[choice.conditions]).is_some(),
            _ => false,
        };
        let choice = self.each.iter().find(is_full)?;
        let Outcome::Best(best) = &choice.outcome else {
            return None;
        };
        let mut engines: Vec<(&str, f64)> = Vec::new();
        for engine in best.engines.iter().chain(&best.dearer) {
            let own = (choice.conditions, (*engine).to_owned());
            engines.push((engine, self.board.reached.get(&own)?.cpus));
        }
        engines.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        engines.truncate(MOST_NAMES);
        let texts = engines
            .iter()
            .map(|(engine, cpus)| format!("{engine} {cpus:.2}"));
        let texts: Vec<String> = texts.collect();
        let (at, texts) = (choice.label, texts.join(", "));
        Some(format!("CPUs that both ends take there, {at}: {texts}"))
    }

    /// Names the best engines under each of the conditions. `None` if no conditions have any.
    fn by_conditions(&self) -> Option<String> {
        match &self.by_words()[..] {
            [] => None,
            [(labels, words)] => Some(format!("{words} for {}", listed(labels, "and"))),
            many if many.len() > MOST_LISTED => {
                let by = match self.measure {
                    Measure::RoundTrip => "load",
                    Measure::Speed | Measure::Cpu => "payload and threads",
                };
                Some(format!("{}, by {by}", names(&self.engines(), "or")))
            }
            several => {
                let text =
                    |(labels, words): &Said<String>| format!("{}: {words}", listed(labels, "and"));
                let texts: Vec<String> = several.iter().map(text).collect();
                Some(format!("for {}", texts.join("; ")))
            }
        }
    }

    fn by_words(&self) -> Vec<Said<'a, String>> {
        self.said(|choice| match &choice.outcome {
            Outcome::Best(best) => Some(self.best_in_words(best, &[choice.conditions])),
            Outcome::Noisy(noisy) if self.cross => {
                let names = names(&noisy.engines, "or");
                Some(format!("{names} (too noisy to say which)"))
            }
            _ => None,
        })
    }

    /// Collects the conditions of which the same is said.
    fn said<T: PartialEq>(&self, of: impl Fn(&Choice<'a>) -> Option<T>) -> Vec<Said<'a, T>> {
        let mut all: Vec<Said<T>> = Vec::new();
        for choice in &self.each {
            let Some(said) = of(choice) else { continue };
            match all.iter_mut().find(|(_, other)| *other == said) {
                Some((labels, _)) => labels.push(choice.label),
                None => all.push((vec![choice.label], said)),
            }
        }
        all
    }

    /// Prefixes the text with the labels of its conditions, unless it holds for all conditions.
    fn at(&self, labels: &[&str], text: &str) -> String {
        if labels.len() == self.each.len() {
            return text.to_owned();
        }
        format!("For {}: {}", listed(labels, "and"), lowered(text))
    }

    /// Returns one line per set of engines that are too noisy to rank.
    fn noisy(&self) -> Vec<String> {
        let of = |choice: &Choice<'a>| match &choice.outcome {
            Outcome::Noisy(noisy) => Some((noisy.engines.clone(), noisy.beat_std.clone())),
            _ => None,
        };
        let line = |(labels, (engines, beat_std)): Said<(Labels, Labels)>| {
            let of_these = self
                .each
                .iter()
                .filter(|choice| labels.contains(&choice.label));
            let spreads = of_these.filter_map(|choice| match &choice.outcome {
                Outcome::Noisy(noisy) => Some(noisy.spread),
                _ => None,
            });
            let widest = spreads.max_by(|one, other| one.pct().total_cmp(&other.pct()));
            let spread = widest.unwrap_or(Spread::Apart(0.0));
            let noisy = Noisy {
                engines,
                spread,
                beat_std,
            };
            self.at(&labels, &self.noisy_in_words(&noisy))
        };
        self.said(of).into_iter().map(line).collect()
    }

    fn noisy_in_words(&self, noisy: &Noisy) -> String {
        let engines = names(&noisy.engines, "and");
        let pct = half_in_words(noisy.spread.pct());
        let spread = match noisy.spread {
            Spread::Apart(most) if most > MOST_APART_PCT => "perhaps far apart".to_owned(),
            Spread::Apart(_) => format!("up to {pct} apart"),
            Spread::Wide(_) => format!("+-{pct} {}", self.board.reach_of_intervals()),
        };
        let has_std = noisy.engines.contains(EngineName::REFERENCE.as_str());
        if noisy.beat_std == noisy.engines {
            format!("{engines} beat std, too noisy to say which is the best ({spread})")
        } else if has_std && !noisy.beat_std.is_empty() {
            let better = names(&noisy.beat_std, "or");
            format!("Perhaps {better}, or std is as good: measure more (--rounds)")
        } else {
            format!("Too noisy to say which is the best: {engines} ({spread})")
        }
    }

    /// Returns the reason for no recommendation. `None`: there is one, or engines are too noisy.
    fn instead(&self, choice: &Choice<'a>) -> Option<String> {
        let why = match &choice.outcome {
            Outcome::Best(_) | Outcome::Noisy(_) | Outcome::Nobody => return None,
            Outcome::Lossy(least) => {
                format!(
                    "all lost {LOSSY_PCT} % or more, the least {}",
                    with_loss(least)
                )
            }
            Outcome::Overrun(overrun) => {
                let overran = match self.board.machine.network {
                    Network::Loopback => "its own receivers",
                    Network::Veth | Network::Wire => "the path or its receivers",
                };
                format!(
                    "{} received more than {} for less CPU time, but overran {overran} ({:.1} % lost)",
                    overrun.engine.label,
                    names(&overrun.others, "and"),
                    most_lost_pct(overrun.engine),
                )
            }
            Outcome::Full => {
                let FullPath { rate, what } = choice.full.as_ref()?;
                format!("{what}: compare CPU times below {:.0} Mb/s", rate.mbps)
            }
            Outcome::Unsure => {
                "no engine has an interval; measure more rounds, and std as well".to_owned()
            }
        };
        Some(format!("No recommendation{}: {why}", self.besides()))
    }

    /// Names the engines that are not ranked at a load, and one whose slowest round trips are shorter.
    fn beside_loads(&self, choice: &Choice<'a>) -> Option<String> {
        if self.measure != Measure::RoundTrip {
            return None;
        }
        let none_kept_up = matches!(choice.outcome, Outcome::Nobody);
        let ranked = choice.engines().map(|_| self.places(choice));
        let lossy = ranked.into_iter().flatten().filter(|it| !is_clean(it));
        let (disturbed, overloaded): (Vec<&Overloaded>, Vec<&Overloaded>) =
            choice.overloaded.iter().partition(|one| one.is_disturbed);
        let answered = |all: Vec<&Overloaded>| all.into_iter().map(answered).collect();
        let parts: [(&str, Vec<String>); 3] = [
            ("overloaded", answered(overloaded)),
            ("disturbed (kept up with more load)", answered(disturbed)),
            ("not ranked, as they lost", lossy.map(with_loss).collect()),
        ];
        let parts = parts.into_iter().filter(|(_, engines)| !engines.is_empty());
        let parts = parts.map(|(what, engines)| format!("{what}: {}", engines.join(", ")));
        let nobody = none_kept_up.then(|| "no engine kept up".to_owned());
        let parts: Vec<String> = nobody
            .into_iter()
            .chain(parts)
            .chain(self.tail(choice))
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Names the engine with the shortest tail, if that of one of the best is surely longer.
    fn tail(&self, choice: &Choice<'a>) -> Option<String> {
        let Outcome::Best(best) = &choice.outcome else {
            return None;
        };
        let p99 = |place: &'a RankedEngine| -> Option<(&'a str, Reading)> {
            let own = (choice.conditions, place.label.clone());
            Some((
                place.label.as_str(),
                self.board.tails.get(&own).copied().flatten()?,
            ))
        };
        let mut all = self
            .places(choice)
            .filter(|place| is_clean(place))
            .filter_map(p99);
        let shortest = all
            .clone()
            .min_by(|(_, a), (_, b)| a.value().total_cmp(&b.value()))?;
        let is_known = |tail: &Reading| tail.half_pct().is_some_and(|half| half <= MOST_TAIL_PCT);
        let (longer, _) = all.find(|(label, tail)| {
            let ends = tail.interval().zip(shortest.1.interval());
            let is_apart = ends.is_some_and(|((low, _), (_, high))| low > high);
            is_apart && best.engines.contains(label) && is_known(tail) && is_known(&shortest.1)
        })?;
        Some(format!(
            "in this run, p99 was shorter with {} than with {longer}",
            shortest.0
        ))
    }

    /// Returns the engines that may be recommended under the conditions of a choice, the best first.
    fn places(&self, choice: &Choice) -> impl Iterator<Item = &'a RankedEngine> + Clone {
        let averaged = self.board.average(self.measure, choice.conditions);
        let places = averaged.into_iter().flat_map(|one| &one.standing.places);
        let (board, among) = (self.board, self.among);
        places.filter(move |place| among.has(board, place))
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
}

/// Names an engine, and what it answered.
fn answered(one: &Overloaded) -> String {
    let lost = match one.lost_pct {
        pct if pct < LOSSY_PCT => String::new(),
        pct => format!(", {pct:.1} % lost"),
    };
    format!("{} (answered {:.0} %{lost})", one.engine, one.answered_pct)
}

/// Names an engine, and its largest loss.
fn with_loss(place: &RankedEngine) -> String {
    format!("{} ({:.1} %)", place.label, most_lost_pct(place))
}

/// Formats half of an interval, in percent. A wide one is no longer symmetric.
pub(in crate::verdict::rank) fn half_in_words(pct: f64) -> String {
    match pct {
        _ if pct > MOST_APART_PCT => "99 % or more".to_owned(),
        _ if pct < 10.0 => format!("{pct:.1} %"),
        _ => format!("{pct:.0} %"),
    }
}

/// Lists engines by name, std first, with "N more" in place of names beyond [`MOST_NAMES`].
pub(in crate::verdict::rank) fn names(engines: &Labels, and: &str) -> String {
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

/// Joins words as in `a, b and c`.
pub(in crate::verdict::rank) fn listed(words: &[&str], and: &str) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} {and} {last}", others.join(", "))
        }
        _ => words.concat(),
    }
}

/// Returns the text with a small first letter.
fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
