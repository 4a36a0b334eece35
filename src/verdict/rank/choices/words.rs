//! Puts the choices into words.

use super::{Choice, ChoiceOutcome, Choices, Labels, NEEDED_PCT};
use crate::data::EngineName;
use crate::text::digits::counted;
use crate::verdict::rank::limit;
use crate::verdict::rank::standing::Measure;

/// Largest number of engine names in a list; a reader skips longer lists.
const MOST_NAMES: usize = 4;
/// Largest number of conditions that are listed with their own best engine, and of lines about others; a reader skips
/// longer lists.
const MOST_LISTED: usize = 4;

impl Choices<'_> {
    /// Returns a line for all conditions of which the same is said: the best engines, or why there are none.
    /// `are_best`: only for conditions that have some.
    pub(in crate::verdict::rank) fn lines(&self, are_best: bool) -> Vec<String> {
        // Choices of which the same is said, but for the spread.
        let mut said: Vec<(String, Vec<&Choice>)> = Vec::new();
        for choice in &self.each {
            let text = self.in_words(choice, 0.0);
            match said.iter_mut().find(|(other, _)| *other == text) {
                _ if are_best && !choice.is_best() => {}
                Some((_, alike)) => alike.push(choice),
                None => said.push((text, vec![choice])),
            }
        }
        let mut lines = Vec::new();
        for (_, alike) in said.iter().take(MOST_LISTED) {
            let spreads = alike.iter().map(|choice| match choice.outcome {
                ChoiceOutcome::Noisy { apart_pct, .. } => apart_pct,
                _ => 0.0,
            });
            let text = self.in_words(alike[0], spreads.fold(0.0, f64::max));
            let labels: Vec<&str> = alike.iter().map(|choice| choice.label).collect();
            let labels = &labels[..];
            let of = match (labels.len() == self.each.len(), lines.is_empty()) {
                (true, _) => self.subject(),
                (false, true) => format!("{}, for {}", self.subject(), listed(labels, "and")),
                (false, false) => format!("For {}", listed(labels, "and")),
            };
            lines.push(format!("{of}: {text}"));
        }
        if said.len() > MOST_LISTED {
            lines.push("There are more conditions: see udpbench rank --details".to_owned());
        }
        lines
    }

    /// Says from what is chosen, and by what.
    fn subject(&self) -> String {
        let count = counted(self.from.count, "engine");
        let place = self.board.machine.network.among();
        let of = match self.measure {
            Measure::Cpu => "Least CPU time per datagram".to_owned(),
            Measure::RoundTrip => format!("{place} {count}, by the median round trip"),
            Measure::Speed => format!("{place} {count}"),
        };
        // The sender whose receivers were to choose from, unless all engines were.
        let sender = self.from.sender;
        of + &sender.map_or_else(String::new, |sender| format!(" with sender {sender}"))
    }

    /// Names the best engines with the reason for the choice among equally good ones, or says why there are none.
    /// `apart_pct`: by how much noisy ones differ at most.
    fn in_words(&self, choice: &Choice, apart_pct: f64) -> String {
        let text = match &choice.outcome {
            ChoiceOutcome::Best => {
                let verb = match (self.is_doubtful(), self.measure) {
                    (true, _) => "perhaps ",
                    (false, Measure::Cpu) => "",
                    (false, Measure::Speed | Measure::RoundTrip) => "use ",
                };
                let (engines, dearer) = (names(&choice.engines, "or"), &choice.dearer);
                let limit = self.limit(choice);
                let limit = limit.map_or_else(String::new, |limit| format!(": {limit}"));
                let why = match names(dearer, "and") {
                    some if !some.is_empty() => {
                        format!(" (as fast as {some} for less CPU time{limit})")
                    }
                    _ if choice.engines.len() > 1 => {
                        format!(" (a tie within {NEEDED_PCT} %{limit})")
                    }
                    none => none,
                };
                format!("{verb}{engines}{why}")
            }
            ChoiceOutcome::Noisy { beat_std, .. } => noisy_in_words(choice, beat_std, apart_pct),
            ChoiceOutcome::Nobody(why) => format!("no recommendation: {why}"),
        };
        text + &self.beside(choice)
    }

    /// Says what kept equally fast engines from being faster. `None`: it is not known, or not the same.
    fn limit(&self, choice: &Choice) -> Option<String> {
        let engines = choice.engines.iter().chain(&choice.dearer);
        let reached = engines.map(|engine| self.reached(choice.conditions, engine));
        let reached: Option<Vec<_>> = reached.collect();
        limit::in_words(&reached.filter(|_| self.measure == Measure::Speed)?)
    }

    /// Names the engines that are not ranked at a load. Empty if all are.
    fn beside(&self, choice: &Choice) -> String {
        let places = self.board.standing(self.measure, choice.conditions);
        let places = places.into_iter().flat_map(|it| &it.places);
        let lossy = places.filter(|it| self.from.label(it).is_some() && !it.is_clean());
        let is_named = self.measure == Measure::RoundTrip && !choice.engines.is_empty();
        let lossy = lossy.filter(|_| is_named);
        let lossy = lossy.map(|it| {
            let (label, lost) = (&it.label, it.most_lost_pct());
            format!("{label} ({lost:.1} % lost)")
        });
        let overloaded = choice.overloaded.iter().map(|one| {
            let kept_up = if one.is_disturbed {
                ", disturbed: kept up with more load"
            } else {
                ""
            };
            let (label, pct) = (&one.engine, one.answered_pct);
            format!("{label} (answered {pct:.0} %{kept_up})")
        });
        let all: Vec<String> = overloaded.chain(lossy).collect();
        match all.join(", ") {
            none if none.is_empty() => none,
            some => format!("; not ranked: {some}"),
        }
    }
}

/// Says that noise hides which engine is the best, and by how much they differ at most.
fn noisy_in_words(choice: &Choice, beat_std: &Labels, apart_pct: f64) -> String {
    let spread = match apart_pct {
        f64::INFINITY => "an interval is missing: measure more rounds".to_owned(),
        pct => format!("up to {} apart", half_in_words(pct)),
    };
    let better = match names(beat_std, "and") {
        none if none.is_empty() => none,
        some if choice.engines.contains(EngineName::REFERENCE.as_str()) => {
            format!(", {some} perhaps better than std")
        }
        some => format!(", {some} better than std"),
    };
    let engines = names(&choice.engines, "and");
    format!("too noisy to say which is the best: {engines} ({spread}{better})")
}

/// Formats half of an interval, in percent. A wide one is no longer symmetric.
pub(in crate::verdict::rank) fn half_in_words(pct: f64) -> String {
    match pct {
        _ if pct > 99.0 => "99 % or more".to_owned(),
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
