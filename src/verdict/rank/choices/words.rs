//! Puts the choices into words.

use super::{Choice, Choices, Labels, NEEDED_PCT, Outcome};
use crate::data::EngineName;
use crate::text::digits::counted;
use crate::verdict::quality::LOSSY_PCT;
use crate::verdict::rank::estimate::{Figure, Reading};
use crate::verdict::rank::limit;
use crate::verdict::rank::measure::Measure;
use crate::verdict::rank::{Overloaded, RankedEngine};

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
type Said<'a> = (Vec<&'a str>, String);

impl<'a> Choices<'a> {
    /// Returns a line that names the best engines, unless no conditions have any, and the lines on conditions without a
    /// choice and on engines that are not in it.
    pub(in crate::verdict::rank) fn lines(&self) -> Vec<String> {
        let mut others = self.others();
        if others.len() > MOST_LISTED {
            others.truncate(MOST_LISTED);
            others.push("There are more conditions: see udpbench rank --details".to_owned());
        }
        self.headline().into_iter().chain(others).collect()
    }

    /// Names the best engines in a line. `None` if no conditions have any.
    pub(in crate::verdict::rank) fn headline(&self) -> Option<String> {
        let best = match &self.best_in_words()[..] {
            [] => return None,
            [(labels, words)] if labels.len() == self.each.len() => words.clone(),
            [(labels, words)] => format!("{words} for {}", listed(labels, "and")),
            many if many.len() > MOST_LISTED => {
                let engines = names(&self.engines(), "or");
                format!("{engines}, by conditions (udpbench rank --details shows which)")
            }
            several => {
                let texts = several
                    .iter()
                    .map(|(labels, words)| format!("{}: {words}", listed(labels, "and")));
                format!("for {}", texts.collect::<Vec<String>>().join("; "))
            }
        };
        let verb = match (self.is_doubtful(), self.measure) {
            (true, _) => "perhaps ",
            (false, Measure::Cpu) => "",
            (false, Measure::Speed | Measure::RoundTrip) => "use ",
        };
        let count = counted(self.from.count, "engine");
        let (place, besides) = (self.board.machine.network.among(), self.besides());
        let of = match self.measure {
            Measure::Cpu => format!("Least CPU time per datagram{besides}"),
            Measure::RoundTrip => format!("{place} {count}{besides}, by the median round trip"),
            Measure::Speed => format!("{place} {count}{besides}"),
        };
        Some(format!("{of}: {verb}{best}"))
    }

    /// Names the sender whose receivers were to choose from, unless all engines were.
    fn besides(&self) -> String {
        let sender = self.from.sender;
        sender.map_or_else(String::new, |sender| format!(" with sender {sender}"))
    }

    /// Names the best engines under each of the conditions, with the reason for the choice among equally good ones.
    fn best_in_words(&self) -> Vec<Said<'a>> {
        self.said(|choice| {
            let (engines, dearer) = (names(&choice.engines, "or"), &choice.dearer);
            let limit = self.limit(choice);
            let limit = limit.map_or_else(String::new, |limit| format!(": {limit}"));
            let why = if !dearer.is_empty() {
                let dearer = names(dearer, "and");
                format!(" (as fast as {dearer} for less CPU time{limit})")
            } else if choice.engines.len() > 1 {
                format!(" (a tie within {NEEDED_PCT} %{limit})")
            } else {
                String::new()
            };
            choice.is_best().then(|| engines + &why)
        })
    }

    /// Says what kept equally fast engines from being faster. `None`: it is not known, or not the same.
    fn limit(&self, choice: &Choice) -> Option<String> {
        let engines = choice.engines.iter().chain(&choice.dearer);
        let reached = engines.map(|engine| self.reached(choice.conditions, engine));
        let reached: Option<Vec<_>> = reached.collect();
        limit::in_words(&reached.filter(|_| self.measure == Measure::Speed)?)
    }

    fn others(&self) -> Vec<String> {
        let doubts = self.said(|choice| match &choice.outcome {
            Outcome::Best => None,
            Outcome::Noisy { beat_std, .. } => Some(self.noisy_in_words(choice, beat_std)),
            Outcome::Nobody(why) => Some(format!("No recommendation{}: {why}", self.besides())),
        });
        let beside = self.said(|choice| self.beside(choice));
        let lines = doubts.into_iter().chain(beside);
        lines
            .map(|(labels, text)| {
                if labels.len() == self.each.len() {
                    text
                } else {
                    format!("For {}: {}", listed(&labels, "and"), lowered(&text))
                }
            })
            .collect()
    }

    /// Collects the conditions of which the same is said.
    fn said(&self, of: impl Fn(&Choice<'a>) -> Option<String>) -> Vec<Said<'a>> {
        let mut all: Vec<Said> = Vec::new();
        for choice in &self.each {
            let Some(said) = of(choice) else { continue };
            match all.iter_mut().find(|(_, other)| *other == said) {
                Some((labels, _)) => labels.push(choice.label),
                None => all.push((vec![choice.label], said)),
            }
        }
        all
    }

    /// Says that noise hides which engine is the best, with the widest spread of these engines under any conditions.
    fn noisy_in_words(&self, choice: &Choice, beat_std: &Labels) -> String {
        let alike = self.each.iter().filter(|it| it.engines == choice.engines);
        let spreads = alike.filter_map(|it| match &it.outcome {
            Outcome::Noisy {
                apart_pct,
                beat_std: others,
            } => (others == beat_std).then_some(*apart_pct),
            _ => None,
        });
        let spread = match spreads.fold(0.0, f64::max) {
            f64::INFINITY => "an interval is missing: measure more rounds".to_owned(),
            pct if pct > MOST_APART_PCT => "perhaps far apart".to_owned(),
            pct => format!("up to {} apart", half_in_words(pct)),
        };
        let engines = names(&choice.engines, "and");
        if *beat_std == choice.engines {
            format!("{engines} beat std, too noisy to say which is the best ({spread})")
        } else if beat_std.is_empty() || !choice.engines.contains(EngineName::REFERENCE.as_str()) {
            format!("Too noisy to say which is the best: {engines} ({spread})")
        } else {
            let better = names(beat_std, "or");
            format!("Perhaps {better}, or std is as good: measure more (--rounds)")
        }
    }

    /// Names the engines that are not ranked at a load, and one whose slowest round trips are shorter.
    fn beside(&self, choice: &Choice<'a>) -> Option<String> {
        if self.measure != Measure::RoundTrip {
            return None;
        }
        let lossy = self.places(choice).filter(|it| !it.is_clean());
        let lossy = lossy.filter(|_| !choice.engines.is_empty());
        let lossy = lossy.map(|it| format!("{} ({:.1} %)", it.label, it.most_lost_pct()));
        let overloaded = |is_disturbed: bool| {
            let all = choice.overloaded.iter();
            let all = all.filter(|one| one.is_disturbed == is_disturbed);
            all.map(|one| answered(one)).collect()
        };
        let parts: [(&str, Vec<String>); 3] = [
            ("overloaded", overloaded(false)),
            ("disturbed (kept up with more load)", overloaded(true)),
            ("not ranked, as they lost", lossy.collect()),
        ];
        let parts = parts.into_iter().filter(|(_, engines)| !engines.is_empty());
        let parts = parts.map(|(what, engines)| format!("{what}: {}", engines.join(", ")));
        let parts: Vec<String> = parts.chain(self.tail(choice)).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Names the engine with the shortest tail, if that of one of the best is surely longer.
    fn tail(&self, choice: &Choice<'a>) -> Option<String> {
        let clean = self.places(choice).filter(|place| place.is_clean());
        let mut tails = clean.filter_map(|place| {
            let [row] = self.board.rows_of(choice.conditions, &place.label) else {
                return None;
            };
            let p99 = Reading::of(Figure {
                value: row.rtt_p99_us,
                interval: row.rtt_p99_us_low.zip(row.rtt_p99_us_high),
                ..Figure::default()
            })?;
            let is_known = p99.half_pct().is_some_and(|half| half <= MOST_TAIL_PCT);
            Some((place.label.as_str(), p99)).filter(|_| is_known)
        });
        let shortest = tails.clone();
        let (soon, shortest) = shortest.min_by(|(_, a), (_, b)| a.value().total_cmp(&b.value()))?;
        let (longer, _) = tails.find(|(label, tail)| {
            let is_best = choice.is_best() && choice.engines.contains(label);
            // Without residual errors, it does if the intervals are disjoint.
            is_best && tail.exceeds(&shortest, 0.0)
        })?;
        Some(format!(
            "in this run, p99 was shorter with {soon} than with {longer}"
        ))
    }

    /// Returns the engines that may be recommended under the conditions of a choice, the best first.
    fn places(&self, choice: &Choice) -> impl Iterator<Item = &'a RankedEngine> + Clone {
        let standing = self.board.standing(self.measure, choice.conditions);
        let places = standing.into_iter().flat_map(|it| &it.places);
        let from = self.from;
        places.filter(move |place| from.label(place).is_some())
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
fn listed(words: &[&str], and: &str) -> String {
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
