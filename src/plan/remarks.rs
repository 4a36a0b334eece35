//! Remarks about a plan that are known before anything is measured: each reason and each warning once, advice, and CPUs
//! that both ends of a case share.

use std::collections::BTreeMap;

use super::axes::once_each;
use super::{Axes, Decision, Plan};
use crate::data::{EngineName, Group, Wait};
use crate::host::facts::Cpu;
use crate::host::placement::{Pin, Placement};

/// Warnings that are shown at the start of a run. `udpbench plan` shows all.
pub(super) const MOST_SHOWN: usize = 4;

impl Plan {
    /// Counts the cases of each skip reason and each warning. The key has `skip` or `warning`, and the text.
    pub fn remarks(&self) -> BTreeMap<(&'static str, String), usize> {
        let mut remarks = BTreeMap::new();
        for planned in self.cases() {
            let texts: Vec<_> = match &planned.verdict {
                Decision::Run(_, it) => it.iter().map(|it| ("warning", it.to_string())).collect(),
                Decision::Skip(reason) => vec![("skip", reason.clone())],
            };
            for text in texts {
                *remarks.entry(text).or_default() += 1;
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

    /// Returns the value of `--pin` that gives each end CPUs of its own, where a sweep over loopback places them.
    ///
    /// # Errors
    /// Fails if the machine has too few `cpus`. The message says what to do instead.
    pub fn pin_apart(&self, cpus: &[Cpu]) -> Result<Pin, &'static str> {
        let threads = self.runnable().map(|planned| planned.case.threads);
        let placed = threads.max().map(|most| Placement::generic(most, cpus));
        let apart = placed.filter(|placed| placed.shared_cpu().is_none());
        let list = |cpus: &[Option<usize>]| cpus.iter().flatten().copied().collect::<Vec<_>>();
        let lists = apart.map(|placed| (list(&placed.senders), list(&placed.receivers)));
        match lists.filter(|(senders, _)| !senders.is_empty()) {
            Some((senders, receivers)) => Ok(Pin::To(senders, receivers)),
            None if cpus.len() == 1 => {
                Err("this machine has only one CPU for both ends: measure between two machines")
            }
            None => Err("this machine has too few CPUs for both ends: measure between two"),
        }
    }
}

impl Axes {
    /// Suggests a better command line if this one cannot answer the likely question.
    pub fn advice(&self) -> Option<String> {
        let ranked = self.engines.iter().find(|(sender, receiver)| {
            let rival = |&(s, r): &(_, _)| s == *sender && r != *receiver;
            sender.about.group != Group::Offload && self.engines.iter().any(rival)
        });
        let (sender, _) = ranked.filter(|_| self.threads.iter().any(|count| !count.is_alone()))?;
        Some(format!(
            "to rank receivers, use --sender gso: on loopback {sender} does most of the receiving work, \
             too, and limits all of them"
        ))
    }

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
