//! Remarks about a plan that are known before anything is measured: each reason and each warning once.

use std::collections::BTreeMap;

use super::axes::once_each;
use super::{Axes, Decision, Plan};
use crate::data::{EngineName, Wait};

/// Warnings that are shown at the start of a run. `udpbench plan` shows all.
pub(super) const MOST_SHOWN: usize = 4;

impl Plan {
    /// Counts the cases of each skip reason and each warning. The key has `skip` or `warning`, and the text.
    pub fn remarks(&self) -> BTreeMap<(&'static str, String), usize> {
        let mut remarks = BTreeMap::new();
        for planned in self.cases() {
            let (kind, texts) = match &planned.verdict {
                Decision::Run(_, warnings) => (
                    "warning",
                    warnings.iter().map(ToString::to_string).collect(),
                ),
                Decision::Skip(reason) => ("skip", vec![reason.clone()]),
            };
            for text in texts {
                *remarks.entry((kind, text)).or_default() += 1;
            }
        }
        remarks
    }

    /// Returns the warnings as lines for the start of a run, the most frequent first.
    pub fn warnings(&self) -> Vec<String> {
        let all = self.cases().count();
        let remarks = self.remarks().into_iter();
        let mut warnings: Vec<(usize, String)> = remarks
            .filter(|((kind, _), _)| *kind == "warning")
            .map(|((_, text), count)| (count, text))
            .collect();
        warnings.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let more = warnings.len().saturating_sub(MOST_SHOWN);
        let shown = warnings.iter().take(MOST_SHOWN);
        let mut lines: Vec<String> = shown
            .map(|(count, text)| match count {
                count if *count == all => format!("warning: {text}"),
                count => format!("warning: {count} of {all} cases: {text}"),
            })
            .collect();
        if more > 0 {
            lines.push(format!("warning: {more} more: udpbench plan shows them"));
        }
        lines
    }
}

impl Axes {
    /// Returns a line about senders whose datagrams loopback copies after all. `None`: there are none.
    pub fn copied_over_loopback(&self) -> Option<String> {
        let mut senders = self.engines.iter().map(|(sender, _)| sender);
        let sender = senders.find(|sender| sender.about.sends_without_copy)?;
        Some(format!(
            "{sender} cannot gain over loopback, where the kernel copies after all: measure with udpbench wire"
        ))
    }

    /// Returns a line that names the receivers that cannot do what `--wait spin` asks. `None`: all can, or it was not
    /// asked.
    pub fn unable_to_spin(&self) -> Option<String> {
        let receivers = self.engines.iter().map(|(_, receiver)| receiver);
        let unable = receivers.filter(|receiver| !receiver.about.can_spin);
        let unable = once_each(unable.map(|receiver| receiver.name()));
        if unable.is_empty() || !self.wait.contains(&Wait::Spin) {
            return None;
        }
        let names: Vec<String> = unable.iter().map(EngineName::to_string).collect();
        Some(format!(
            "--wait spin changes nothing for {}: only std, mmsg, gro and uring spin",
            names.join(", ")
        ))
    }
}
