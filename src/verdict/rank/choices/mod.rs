//! Chooses the best engines under each of the conditions, or the reason for choosing none.

mod choice;
mod words;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use self::choice::apart_pct;
use self::choice::{Choice, ChoiceOutcome, near};
pub(super) use self::words::{half_in_words, names};
use super::BoardRanking;
use super::group::Conditions;
use super::limit::Reached;
use super::standing::{Measure, RankedEngine};
use super::technique::{self, Technique};
use crate::data::EngineName;
use crate::results::row::Row;
use crate::text::digits::whole;
use crate::verdict::quality::Grade;

/// By how much tied engines may differ at most, in percent: whoever takes any of them loses no more.
pub(super) const NEEDED_PCT: f64 = 5.0;

/// Labels of engines.
pub(super) type Labels<'a> = BTreeSet<&'a str>;

/// Engines to choose from.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    /// Number of engines that were measured, with those that never sleep.
    pub(super) count: usize,
    /// Those that may be recommended.
    pub(super) labels: Labels<'a>,
    /// The sender with offload of all of these: what their receivers gain shows everywhere, as all get the same
    /// datagrams. `None`: engines whose gain shows where they were measured.
    pub(super) sender: Option<EngineName>,
}

impl<'a> Candidates<'a> {
    /// Returns the engines whose gain is known, and the receivers of each sender of `unknown`. Engines that never sleep
    /// are only for users who asked for them. With a lone engine there is nothing to choose.
    pub(super) fn all(
        board: &'a BoardRanking,
        known: Labels<'a>,
        unknown: &Labels<'a>,
    ) -> Vec<Self> {
        let mut all: BTreeMap<Option<EngineName>, Labels> = BTreeMap::from([(None, known)]);
        for label in unknown {
            if let Some(sender) = technique::sender_of_receiver(board.case(label)) {
                all.entry(Some(sender)).or_default().insert(label);
            }
        }
        let spinning = board.spinning();
        let all = all.into_iter().filter(|(_, labels)| labels.len() > 1);
        let all = all.map(|(sender, labels)| Self {
            count: labels.len(),
            labels: &labels - &spinning,
            sender,
        });
        all.collect()
    }

    /// Returns the label of an engine. `None`: it may not be recommended.
    fn label(&self, place: &RankedEngine) -> Option<&'a str> {
        self.labels.get(place.label.as_str()).copied()
    }
}

/// The choices by one measure, for each of the conditions.
pub(super) struct Choices<'a> {
    board: &'a BoardRanking,
    measure: Measure,
    from: &'a Candidates<'a>,
    each: Vec<Choice<'a>>,
}

impl<'a> Choices<'a> {
    pub(super) fn of(
        board: &'a BoardRanking,
        measure: Measure,
        labels: &'a BTreeMap<Conditions, String>,
        from: &'a Candidates<'a>,
    ) -> Self {
        let mut choices = Self {
            board,
            measure,
            from,
            each: Vec::new(),
        };
        let each = labels.iter();
        let each = each.filter_map(|(conditions, label)| choices.choice(*conditions, label));
        choices.each = each.collect();
        choices.settle();
        choices
    }

    /// Reduces the best engines to those that are the best under all conditions, if there are any, and those to the
    /// ones that need the least CPU time.
    fn settle(&mut self) {
        let sets = self.each.iter().map(|choice| choice.engines.clone());
        let common = sets.reduce(|common, set| &common & &set);
        let are_best = self.each.iter().all(Choice::is_best);
        let common = common.filter(|common| are_best && !common.is_empty());
        let all: Vec<Conditions> = self.each.iter().map(|choice| choice.conditions).collect();
        let mut each = std::mem::take(&mut self.each);
        for choice in each.iter_mut().filter(|choice| choice.is_best()) {
            let own = [choice.conditions];
            let (engines, conditions) = match &common {
                Some(common) => (common, &all[..]),
                None => (&choice.engines, &own[..]),
            };
            let cheapest = self.cheapest(engines, conditions);
            let cheapest = cheapest.unwrap_or_else(|| engines.clone());
            choice.dearer = engines - &cheapest;
            choice.engines = cheapest;
        }
        self.each = each;
    }

    /// Reduces equally fast engines to those that need the least CPU time under each of these conditions, or nearly the
    /// least. `None`: CPU times do not tell them apart, or noise hides which ones need the least.
    fn cheapest(&self, engines: &Labels<'a>, conditions: &[Conditions]) -> Option<Labels<'a>> {
        if self.measure != Measure::Speed {
            return None;
        }
        let mut common = engines.clone();
        for &conditions in conditions {
            // Conditions without CPU times do not restrict the others.
            let Some(standing) = self.board.standing(Measure::Cpu, conditions) else {
                continue;
            };
            let standing = standing.of_these(|place| engines.contains(place.label.as_str()));
            let leaders: Vec<&RankedEngine> = standing.leaders().iter().collect();
            let cheapest = self.labels(leaders.iter().copied().chain(near(&standing)));
            if apart_pct(&leaders) > NEEDED_PCT || cheapest == *engines {
                return None;
            }
            common = &common & &cheapest;
        }
        (!common.is_empty() && common != *engines).then_some(common)
    }

    /// Returns those of these engines that may be recommended.
    fn labels<'p>(&self, places: impl IntoIterator<Item = &'p RankedEngine>) -> Labels<'a> {
        let places = places.into_iter();
        places.filter_map(|place| self.from.label(place)).collect()
    }

    /// Returns what is known of the rows of this engine between two hosts.
    fn reached(&self, conditions: Conditions, label: &str) -> Option<Reached> {
        let rows: &[Row] = self.board.rows_of(conditions, label);
        rows.iter().find_map(Reached::of)
    }

    /// Returns the engines that are, or may be, the best under any conditions.
    pub(super) fn engines(&self) -> Labels<'a> {
        let engines = self.each.iter().flat_map(|choice| &choice.engines);
        engines.copied().collect()
    }

    /// Returns the best engines under each of the conditions. `None`: it is not sure.
    #[cfg(test)]
    pub(super) fn best_of_each(&self) -> Vec<Option<Labels<'a>>> {
        let best = |choice: &Choice<'a>| choice.is_best().then(|| choice.engines.clone());
        self.each.iter().map(best).collect()
    }

    /// Returns whether another run may have other engines as the best: something disturbed this one, or a state of the
    /// virtual machine may be what they lead by.
    fn is_doubtful(&self) -> bool {
        self.board.quality.grade == Grade::Poor
            || self.each.iter().any(Choice::is_disturbed)
            || (self.board.is_virtual && self.each.iter().any(|it| self.may_lead_by_state(it)))
    }

    /// Returns whether a state of a virtual machine may be what the best engines lead by.
    fn may_lead_by_state(&self, choice: &Choice<'a>) -> bool {
        let is_state = |measure, are_others: &dyn Fn(&str) -> bool| {
            let standing = self.board.standing(measure, choice.conditions)?;
            let is_named = |place: &&RankedEngine| choice.engines.contains(place.label.as_str());
            let last = standing.places.iter().rev().find(is_named)?;
            let is_other = |it: &&RankedEngine| it.is_clean() && are_others(&it.label);
            let next = standing.places.iter().find(is_other)?;
            let ratio = last.reading.value() / next.reading.value();
            let lead_pct = 100.0 * (ratio.max(1.0 / ratio) - 1.0);
            let of_state =
                |place: &RankedEngine| Technique::of(self.board.case(&place.label)).state_pct();
            Some(lead_pct < of_state(last).max(of_state(next)))
        };
        let named = &choice.engines | &choice.dearer;
        let are_behind = |label: &str| self.from.labels.contains(label) && !named.contains(label);
        let are_dearer = |label: &str| choice.dearer.contains(label);
        choice.is_best()
            && (is_state(self.measure, &are_behind) == Some(true)
                || is_state(Measure::Cpu, &are_dearer) == Some(true))
    }

    /// Returns whether more windows may tell more engines apart.
    pub(super) fn are_open(&self) -> bool {
        let is_noisy = |choice: &Choice| matches!(choice.outcome, ChoiceOutcome::Noisy { .. });
        let mut each = self.each.iter();
        each.any(|choice| is_noisy(choice) || choice.is_disturbed())
    }

    /// Returns a rate that the path takes under all conditions in which engines fill it, in datagrams per second.
    /// `None`: they fill it nowhere.
    pub(super) fn rate_below_full(&self) -> Option<u64> {
        /// Part of the full rate.
        const PART: f64 = 0.9;
        let full = self.each.iter().filter_map(|choice| choice.full.as_ref());
        full.map(|full| whole(PART * full.pps)).min()
    }

    /// Returns whether engines fill the path somewhere in a way that leaves their CPU times without a meaning.
    pub(super) fn need_a_rate(&self) -> bool {
        let mut each = self.each.iter();
        each.any(|choice| choice.full.is_some() && !choice.is_best())
    }

    /// Returns whether a lower rate can tell engines apart.
    pub(super) fn need_a_lower_rate(&self) -> bool {
        self.each.iter().any(|choice| choice.is_to_slow_down)
    }
}
