//! Engines to choose from.

use std::collections::BTreeMap;

use super::Labels;
use crate::data::EngineName;
use crate::verdict::rank::technique;
use crate::verdict::rank::{BoardRanking, RankedEngine};

/// Engines to choose from.
#[derive(Debug)]
pub(in crate::verdict::rank) struct Candidates<'a> {
    /// Number of engines that were measured, with those that never sleep.
    pub(in crate::verdict::rank) count: usize,
    /// Those that may be recommended.
    pub(in crate::verdict::rank) labels: Labels<'a>,
    /// The sender with offload of all of these: what their receivers gain shows everywhere, as all get the same
    /// datagrams. `None`: engines whose gain shows where they were measured.
    pub(in crate::verdict::rank) sender: Option<EngineName>,
}

impl<'a> Candidates<'a> {
    /// Returns the engines whose gain is known, and the receivers of each sender of `unknown`. Engines that never sleep are
    /// only for users who asked for them. With a lone engine there is nothing to choose.
    pub(in crate::verdict::rank) fn all(
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
    pub(super) fn label(&self, place: &RankedEngine) -> Option<&'a str> {
        self.labels.get(place.label.as_str()).copied()
    }
}
