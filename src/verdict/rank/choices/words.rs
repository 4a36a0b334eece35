//! Puts the choices into words.

use std::collections::BTreeSet;

use super::{Among, Best, Choice, Choices, NEEDED_PCT, Noisy};
use crate::data::EngineName;
use crate::term::digits::counted;
use crate::verdict::quality::{Grade, LOSSY_PCT};
use crate::verdict::rank::BoardRanking;
use crate::verdict::rank::measure::Measure;

/// Largest number of engine names in a list; a reader skips longer lists.
const MOST_NAMES: usize = 4;
/// Largest number of conditions that are listed with their own best engine; a reader skips longer lists.
const MOST_LISTED: usize = 3;

impl<'a> Choices<'a> {
    /// Puts the choices into words. `limit` says why engines may be equally fast here.
    pub(in crate::verdict::rank) fn text(&self, limit: &str) -> Text {
        let best = self.everywhere.as_ref();
        // Engines that cross are all named in one sentence.
        let noisy = if self.cross { Vec::new() } else { self.noisy() };
        let others = [
            self.lossy(),
            self.overruns(),
            self.without_intervals(),
            self.better(),
        ];
        Text {
            best: match best {
                Some(best) => Some(best.in_words(limit)),
                None => self.by_conditions(limit),
            },
            others: noisy
                .into_iter()
                .chain(others.into_iter().flatten())
                .collect(),
            noun: match self.among {
                Among::AllKnown => "engine",
                Among::ReceiversOf(_) => "receiver",
            },
            besides: match self.among {
                Among::ReceiversOf(sender) => format!(" with sender {sender}"),
                Among::AllKnown if self.is_without_offload => " besides offload".to_owned(),
                Among::AllKnown => String::new(),
            },
        }
    }

    /// Returns whether the words leave out the best engine of each of the conditions, which are too many.
    pub(in crate::verdict::rank) fn are_too_many(&self) -> bool {
        self.everywhere.is_none() && self.by_words("").len() > MOST_LISTED
    }

    /// Names the best engines under each of the conditions. `None` if no conditions have any.
    fn by_conditions(&self, limit: &str) -> Option<String> {
        match &self.by_words(limit)[..] {
            [] => None,
            [(words, labels)] => Some(format!("{words} at {}", listed(labels, "and"))),
            many if many.len() > MOST_LISTED => Some(format!(
                "{}, by payload and threads",
                names(&self.engines(), "or")
            )),
            several => {
                let text = |(words, labels): &(String, Vec<&str>)| {
                    format!("{}: {words}", listed(labels, "and"))
                };
                let texts: Vec<String> = several.iter().map(text).collect();
                Some(format!("for {}", texts.join("; ")))
            }
        }
    }

    /// Names the best engines in words, with the labels of the conditions under which they are.
    fn by_words(&self, limit: &str) -> Vec<(String, Vec<&'a str>)> {
        let mut by_words: Vec<(String, Vec<&str>)> = Vec::new();
        for (label, choice) in &self.each {
            let words = match choice {
                Choice::Best(best) => best.in_words(limit),
                Choice::Noisy(noisy) if self.cross => {
                    format!("{} (too noisy to say which)", names(&noisy.engines, "or"))
                }
                _ => continue,
            };
            match by_words.iter_mut().find(|(known, _)| *known == words) {
                Some((_, labels)) => labels.push(label),
                None => by_words.push((words, vec![label])),
            }
        }
        by_words
    }

    /// Selects some of the choices, each with the label of its conditions.
    fn some<'s, T>(&'s self, of: impl Fn(&'s Choice<'a>) -> Option<T>) -> Vec<(&'a str, T)> {
        let each = self.each.iter();
        each.filter_map(|(label, choice)| Some((*label, of(choice)?)))
            .collect()
    }

    /// Returns one line per set of engines that are too noisy to rank.
    fn noisy(&self) -> Vec<String> {
        let noisy = self.some(|choice| match choice {
            Choice::Noisy(noisy) => Some(noisy),
            _ => None,
        });
        let mut sets: Vec<Vec<(&str, &Noisy)>> = Vec::new();
        for (label, noisy) in noisy {
            let is_same = |set: &&mut Vec<(&str, &Noisy)>| {
                let (_, first) = set[0];
                (&first.engines, &first.beat_std) == (&noisy.engines, &noisy.beat_std)
            };
            match sets.iter_mut().find(is_same) {
                Some(set) => set.push((label, noisy)),
                None => sets.push(vec![(label, noisy)]),
            }
        }
        let line = |set: &Vec<(&str, &Noisy)>| {
            let widest = set.iter().map(|(_, noisy)| noisy.widest_pct);
            let widest = half_in_words(widest.fold(0.0, f64::max));
            let within = self.within;
            let (_, first) = &set[0];
            let engines = names(&first.engines, "and");
            let has_std = first.engines.contains(EngineName::REFERENCE.as_str());
            let needed = format!("+-{widest} {within}, {NEEDED_PCT} % needed");
            let what = if first.beat_std == first.engines {
                format!("{engines} beat std, too noisy to say which is the best ({needed})")
            } else if has_std && !first.beat_std.is_empty() {
                let better = names(&first.beat_std, "or");
                format!(
                    "Perhaps {better}: too few rounds to be sure that std is not as good; measure more (--rounds)"
                )
            } else {
                format!("Too noisy to say which is the best: {engines} ({needed})")
            };
            self.at(set, &what)
        };
        sets.iter().map(line).collect()
    }

    fn lossy(&self) -> Option<String> {
        let lossy = self.some(|choice| match choice {
            Choice::Lossy(engine, pct) => Some((*engine, *pct)),
            _ => None,
        });
        let least = lossy.iter().map(|(label, (engine, (low, high)))| {
            let range = if high - low < 0.05 {
                format!("{high:.1} %")
            } else {
                format!("{low:.1} to {high:.1} %")
            };
            if lossy.len() == 1 {
                format!("{engine} ({range})")
            } else {
                format!("{engine} at {label} ({range})")
            }
        });
        let least: Vec<String> = least.take(MOST_LISTED).collect();
        let least: Vec<&str> = least.iter().map(String::as_str).collect();
        let what = format!(
            "No recommendation: all lost {LOSSY_PCT} % or more, the least {}",
            listed(&least, "and")
        );
        (!lossy.is_empty()).then(|| self.at(&lossy, &what))
    }

    /// Says which engine received more than others for less CPU time, but sent more than it received.
    fn overruns(&self) -> Option<String> {
        let overruns = self.some(|choice| match choice {
            Choice::Overrun(overrun) => Some(overrun),
            _ => None,
        });
        let parts = overruns.iter().map(|(label, overrun)| {
            let (engine, others) = (&overrun.engine.label, names(&overrun.others, "and"));
            let at = if overruns.len() == 1 { String::new() } else { format!("at {label} ") };
            let (_, lost) = overrun.engine.loss_pct.unwrap_or_default();
            format!(
                "{at}{engine} received more than {others} for less CPU time, but overran {} ({lost:.1} % lost)",
                self.overrun
            )
        });
        let parts: Vec<String> = parts.take(MOST_LISTED).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let what = format!("No recommendation: {}", listed(&parts, "and"));
        (!overruns.is_empty()).then(|| self.at(&overruns, &what))
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

    /// Prefixes the text with the labels of its conditions, unless it holds for all conditions.
    fn at<T>(&self, some: &[(&str, T)], text: &str) -> String {
        if some.len() == self.each.len() {
            return text.to_owned();
        }
        let labels: Vec<&str> = some.iter().map(|(label, _)| *label).collect();
        format!("At {}: {}", listed(&labels, "and"), lowered(text))
    }
}

/// Choices in words.
pub(in crate::verdict::rank) struct Text {
    /// The best engines. `None` if no conditions have any.
    best: Option<String>,
    /// Reasons for a missing or doubtful choice.
    pub(in crate::verdict::rank) others: Vec<String>,
    /// Word for one of those that were to choose from.
    noun: &'static str,
    /// Engines that were to choose from, unless all were.
    besides: String,
}

impl Best<'_> {
    /// Names the engines, with the reason for the choice among equally fast ones.
    fn in_words(&self, limit: &str) -> String {
        let names = names(&self.engines, "or");
        match self.engines.len() {
            _ if self.is_by_cpu => {
                format!("{names} (as fast as others for less CPU time{limit})")
            }
            1 => names,
            _ => format!("{names} (a tie{limit})"),
        }
    }
}

impl Text {
    /// Returns the line of advice, with the number of engines to choose from.
    pub(in crate::verdict::rank) fn best(
        &self,
        board: &BoardRanking,
        measure: Measure,
        engines: usize,
    ) -> Option<String> {
        let best = self.best.as_ref()?;
        let verb = match (measure, board.quality.grade) {
            (Measure::Cpu, _) => {
                let besides = &self.besides;
                return Some(format!("Least CPU time per datagram{besides}: {best}"));
            }
            (Measure::RoundTrip | Measure::Speed, Grade::Poor) => "perhaps",
            (Measure::RoundTrip | Measure::Speed, _) => "use",
        };
        let (place, besides) = (board.machine.network.among(), &self.besides);
        let engines = counted(engines, self.noun);
        Some(format!("{place} {engines}{besides}: {verb} {best}"))
    }
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
pub(in crate::verdict::rank) fn names(engines: &BTreeSet<&str>, and: &str) -> String {
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
pub(in crate::verdict::rank) fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
