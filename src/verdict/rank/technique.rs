//! Techniques by which engines move datagrams. The technique decides an engine's gain, and where the gain shows.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::Group;
use crate::engines::{self, Entry};

/// Technique by which an engine moves datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Technique {
    /// One system call per datagram, blocking or in an event loop.
    OneCall,
    /// Many datagrams per call; each datagram still passes the network stack by itself.
    Batches,
    /// Many datagrams pass the network stack as one, and something behind it segments or joins them. Or a NIC reads
    /// them from the program's memory.
    Offload,
    /// An engine that this build does not know.
    Unknown,
}

impl Technique {
    pub(crate) const ALL: [Self; 4] = [Self::OneCall, Self::Batches, Self::Offload, Self::Unknown];

    /// Returns the technique of a row's label. If sender and receiver differ, the technique that moves more at once.
    pub(crate) fn of_label(label: &str) -> Self {
        let names = engines(label).into_iter();
        let of_engine = |name: &str| match name.parse().ok().and_then(engines::properties) {
            None => Self::Unknown,
            Some(engine) => match engine.group {
                Group::Program => Self::Unknown,
                Group::Blocking | Group::Readiness | Group::Async | Group::Harness => Self::OneCall,
                Group::Batch => Self::Batches,
                Group::Offload => Self::Offload,
            },
        };
        names.map(of_engine).max().unwrap_or(Self::Unknown)
    }

    /// Returns the name of the technique in the advice.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OneCall => "one call",
            Self::Batches => "batches",
            Self::Offload => "offload",
            Self::Unknown => "other",
        }
    }
}

/// Returns the sender of a pair whose sender alone uses offload. `None`: both ends do, or neither.
pub(super) fn sender_of_receiver(label: &str) -> Option<&str> {
    let is_offload = |engine: &str| Technique::of_label(engine) == Technique::Offload;
    match engines(label)[..] {
        [sender, receiver] if is_offload(sender) && !is_offload(receiver) => Some(sender),
        _ => None,
    }
}

/// Returns the pairs of each sender with offload that has several receivers without it, by the sender.
pub(super) fn compared_behind_offload<'l>(
    labels: &BTreeSet<&'l str>,
) -> BTreeMap<&'l str, Vec<&'l str>> {
    let mut pairs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for label in labels {
        if let Some(sender) = sender_of_receiver(label) {
            pairs.entry(sender).or_default().push(label);
        }
    }
    let receivers = |labels: &[&'l str]| -> BTreeSet<Option<&'l str>> {
        labels.iter().map(|label| engines(label).pop()).collect()
    };
    pairs.retain(|_, labels| receivers(labels).len() > 1);
    pairs
}

/// Returns whether the receivers of a row's label never sleep: each takes a CPU even when nothing comes.
pub(super) fn spins(label: &str) -> bool {
    let always = |it: &Entry| it.about.always_spins;
    let mut parts = label.split(['>', '/']);
    parts.any(|part| part == "spin" || engines::find(part).is_some_and(always))
}

/// Largest number of engines that the command names. With more, the default engines are measured.
pub(super) const MOST: usize = 5;

/// Returns the options that measure the engines of these labels: engines that serve both sides, or if a pair can only be
/// typed as such, all senders and all receivers. Empty if there are more than [`MOST`].
pub(in crate::verdict) fn options(labels: &BTreeSet<&str>) -> String {
    let all = labels.iter().map(|label| match engines(label)[..] {
        ["gso", "gro"] => Some("gso-gro".to_owned()),
        [engine] => Some(argument(engine)),
        [sender, receiver] => typed_for_both(sender, receiver),
        _ => None,
    });
    let all: Option<BTreeSet<String>> = all.collect();
    if let Some(all) = all {
        return listed("--engine", all).unwrap_or_default();
    }
    let of = |end: fn(&[&str]) -> Option<String>| {
        let ends = labels.iter().filter_map(|label| end(&engines(label)));
        ends.collect::<BTreeSet<String>>()
    };
    let senders = listed("--sender", of(|ends| ends.first().map(|it| argument(it))));
    let receivers = listed("--receiver", of(|ends| ends.last().map(|it| argument(it))));
    let options = senders.zip(receivers);
    options.map_or_else(String::new, |(senders, receivers)| {
        format!("{senders} {receivers}")
    })
}

/// Returns an option with its values. `None` if there are none, or more than [`MOST`].
fn listed(flag: &str, values: BTreeSet<String>) -> Option<String> {
    let values: Vec<String> = values.into_iter().collect();
    (1..=MOST)
        .contains(&values.len())
        .then(|| format!("{flag} {}", values.join(",")))
}

/// Returns the options that measure the engines of these labels at a rate. Programs cannot keep one, so with a program
/// among them, std sends to all receivers. Empty if there are more than [`MOST`].
pub(super) fn options_at_a_rate(labels: &BTreeSet<&str>) -> String {
    if !has_program(labels) {
        return options(labels);
    }
    let receivers = labels.iter().filter_map(|label| engines(label).pop());
    let receivers = listed("--receiver", receivers.map(argument).collect());
    receivers.map_or_else(String::new, |receivers| format!("--sender std {receivers}"))
}

/// Returns whether one of these labels has an engine that is a program.
pub(super) fn has_program(labels: &BTreeSet<&str>) -> bool {
    let mut all = labels.iter().flat_map(|label| engines(label));
    all.any(|engine| !is_known(engine))
}

/// Returns the values of `--busy-poll` that measure these labels and, beside them, `off`. Empty if none polls.
pub(super) fn busy_polls<'l>(labels: &BTreeSet<&'l str>) -> Vec<&'l str> {
    let values = labels.iter().flat_map(|label| label.split('/').skip(1));
    let times = values.filter_map(|value| value.strip_prefix("busy-"));
    let times: BTreeSet<&str> = times.collect();
    let off = times.first().map(|_| "off");
    off.into_iter().chain(times.iter().copied()).collect()
}

/// Returns the engine that `--engine` turns into this pair. `None`: only `--sender` and `--receiver` do.
fn typed_for_both(sender: &str, receiver: &str) -> Option<String> {
    let mut ends = [sender, receiver].into_iter();
    let engine = ends.find(|name| {
        engines::find(name).is_some_and(|entry| {
            let (sends, receives) = entry.pair();
            (sends.about.name, receives.about.name) == (sender, receiver)
        })
    })?;
    Some(argument(engine))
}

/// Returns whether this or another build has the engine. Otherwise it is a program.
fn is_known(name: &str) -> bool {
    name.parse()
        .is_ok_and(|name| engines::properties(name).is_some())
}

/// Returns what to type for an engine. Rows do not have the path of a program.
fn argument(name: &str) -> String {
    match engines::find(name) {
        Some(entry) => entry.argument(),
        None if is_known(name) => name.to_owned(),
        None => format!("exec:{name}=PROGRAM"),
    }
}

/// Returns the engines in a label: sender and receiver for `gso>mmsg/32`, one for both sides for `mmsg/32`.
fn engines(label: &str) -> Vec<&str> {
    let engines = label.split('/').next().unwrap_or_default();
    engines.split('>').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spins_says_so_in_its_label() {
        for label in ["spin", "std>spin", "std/spin", "mmsg/32/spin"] {
            assert!(spins(label), "{label}");
        }
        assert!(!spins("std") && !spins("mmsg/32/block"));
    }

    #[test]
    fn an_engine_is_of_the_technique_that_moves_most_at_once() {
        for (label, technique, typed) in [
            ("std", Technique::OneCall, "--engine std"),
            ("tokio/w4", Technique::OneCall, "--engine tokio"),
            ("mmsg/32", Technique::Batches, "--engine mmsg"),
            ("gso>gro", Technique::Offload, "--engine gso-gro"),
            ("gso>mmsg/32", Technique::Offload, "--engine gso"),
            (
                "uring-zerocopy>uring/32",
                Technique::Offload,
                "--engine uring-zerocopy",
            ),
            (
                "std>mmsg/32",
                Technique::Batches,
                "--sender std --receiver mmsg",
            ),
            ("new", Technique::Unknown, "--engine exec:new=PROGRAM"),
        ] {
            assert_eq!(Technique::of_label(label), technique, "{label}");
            assert_eq!(options(&BTreeSet::from([label])), typed);
        }
        let told = BTreeSet::from(["std", "mmsg/32", "gso>gro", "gso>mmsg/32"]);
        assert_eq!(options(&told), "--engine gso,gso-gro,mmsg,std");
        let told = BTreeSet::from(["std", "uring>mmsg/32"]);
        assert_eq!(options(&told), "--sender std,uring --receiver mmsg,std");
    }

    #[test]
    fn a_program_gets_its_datagrams_from_std_at_a_rate_as_it_cannot_send_at_one() {
        let typed = |labels: &[&'static str]| options_at_a_rate(&labels.iter().copied().collect());
        assert_eq!(typed(&["std", "mmsg/32"]), "--engine mmsg,std");
        let expected = "--sender std --receiver exec:yours=PROGRAM,mmsg,std";
        assert_eq!(typed(&["std", "std>mmsg/32", "yours"]), expected);
    }

    #[test]
    fn who_polls_is_set_beside_who_does_not() {
        let told = BTreeSet::from(["mmsg/32/busy-50us", "std"]);
        assert_eq!(busy_polls(&told), ["off", "50us"]);
        assert!(busy_polls(&BTreeSet::from(["mmsg/32"])).is_empty());
    }
}
