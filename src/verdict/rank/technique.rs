//! How an engine moves datagrams, as far as that decides what it gains and where.

use std::collections::BTreeSet;

use crate::data::{Group, Traits};

/// How an engine moves datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Technique {
    /// One system call for each datagram, blocking or in an event loop.
    OneCall,
    /// Many datagrams for each call; each of them still passes the network stack by itself.
    Batches,
    /// Many datagrams pass the network stack as one, and something behind it segments or joins them.
    Offload,
    /// An engine that this build does not know.
    Unknown,
}

impl Technique {
    pub(super) const ALL: [Self; 4] = [Self::OneCall, Self::Batches, Self::Offload, Self::Unknown];

    /// Of the engines in a row's label: of two engines, that which does more at once.
    pub(super) fn of_label(label: &str) -> Self {
        let engines = engines(label).into_iter();
        let of_engine = |name: &str| match name.parse().ok().and_then(Traits::known) {
            None => Self::Unknown,
            Some(engine) => match engine.group {
                Group::Blocking | Group::Readiness | Group::Async | Group::Harness => Self::OneCall,
                Group::Batch => Self::Batches,
                Group::Offload => Self::Offload,
            },
        };
        engines.map(of_engine).max().unwrap_or(Self::Unknown)
    }

    /// As the advice names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OneCall => "one call",
            Self::Batches => "batches",
            Self::Offload => "offload",
            Self::Unknown => "engines unknown to this build",
        }
    }
}

/// Whether receivers of a row's label never sleep: they take a CPU each even when nothing comes.
pub(super) fn spins(label: &str) -> bool {
    label.split(['>', '/']).any(|part| part == "spin")
}

/// Of more engines, those that people choose between are measured.
const MOST: usize = 5;

/// The options that measure the engines of rows' labels: those that serve both sides, or where none does, a pair. Nothing:
/// there are many.
pub(super) fn options(labels: &BTreeSet<&str>) -> String {
    let all = labels.iter().filter_map(|label| match engines(label)[..] {
        ["gso", "gro"] => Some("gso-gro"),
        [engine] => Some(engine),
        _ => None,
    });
    let all: BTreeSet<&str> = all.collect();
    if all.len() > MOST {
        return String::new();
    }
    if !all.is_empty() {
        let all: Vec<&str> = all.into_iter().collect();
        return format!("--engine {}", all.join(","));
    }
    match labels.first().map(|label| engines(label)).as_deref() {
        Some([sender, receiver]) => format!("--sender {sender} --receiver {receiver}"),
        _ => String::new(),
    }
}

/// `gso>mmsg/32`: the sender and the receiver; `mmsg/32`: one for both.
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
            (
                "gso>mmsg/32",
                Technique::Offload,
                "--sender gso --receiver mmsg",
            ),
            (
                "std>mmsg/32",
                Technique::Batches,
                "--sender std --receiver mmsg",
            ),
            ("new", Technique::Unknown, "--engine new"),
        ] {
            assert_eq!(Technique::of_label(label), technique, "{label}");
            assert_eq!(options(&BTreeSet::from([label])), typed);
        }
        let told = BTreeSet::from(["std", "mmsg/32", "gso>gro", "gso>mmsg/32"]);
        assert_eq!(options(&told), "--engine gso-gro,mmsg,std");
    }
}
