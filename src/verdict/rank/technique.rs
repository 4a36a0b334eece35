//! Techniques by which engines move datagrams. The technique decides an engine's gain, and where the gain shows.

use std::collections::BTreeSet;

use crate::data::{Case, EngineName, Group, Wait};
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

    /// Returns the technique of a case. If sender and receiver differ, the technique that moves more at once.
    pub(crate) fn of(case: &Case) -> Self {
        Self::of_engine(case.sender).max(Self::of_engine(case.receiver))
    }

    fn of_engine(name: EngineName) -> Self {
        match engines::properties(name) {
            None => Self::Unknown,
            Some(engine) => match engine.group {
                Group::Program => Self::Unknown,
                Group::Blocking | Group::Readiness | Group::Async | Group::Harness => Self::OneCall,
                Group::Batch => Self::Batches,
                Group::Offload => Self::Offload,
            },
        }
    }

    /// Returns by how much a state of a virtual machine that outlasts a run changes the ratio to another engine, in percent
    /// (docs/METHODOLOGY.md).
    pub(crate) fn state_pct(self) -> f64 {
        match self {
            Self::OneCall | Self::Batches => 20.0,
            Self::Offload | Self::Unknown => 50.0,
        }
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

/// Returns the sender of a case whose sender alone uses offload. `None`: both ends do, or neither.
pub(super) fn sender_of_receiver(case: &Case) -> Option<EngineName> {
    let is_offload = |engine| Technique::of_engine(engine) == Technique::Offload;
    (is_offload(case.sender) && !is_offload(case.receiver)).then_some(case.sender)
}

/// Returns whether the receivers of a case never sleep: each takes a CPU even when nothing comes.
pub(super) fn spins(case: &Case) -> bool {
    let always = |name: EngineName| {
        let entry = engines::find(name.as_str());
        entry.is_some_and(|entry| entry.about.always_spins)
    };
    case.wait == Some(Wait::Spin) || always(case.sender) || always(case.receiver)
}

/// Largest number of engines that the command names. With more, the default engines are measured.
const MOST: usize = 5;

/// Sender and receiver of a case.
pub(super) type Pair = (EngineName, EngineName);

/// Returns the options that measure these pairs: engines that serve both sides, or if a pair can only be typed as such,
/// all senders and all receivers. Empty if there are more than [`MOST`].
pub(super) fn options(pairs: &BTreeSet<Pair>) -> String {
    let all: Option<BTreeSet<String>> = pairs.iter().map(typed_for_both).collect();
    let options = if let Some(all) = all {
        vec![listed("--engine", all)]
    } else {
        let senders = pairs.iter().map(|(sender, _)| argument(*sender));
        vec![listed("--sender", senders.collect()), receivers(pairs)]
    };
    let options: Option<Vec<String>> = options.into_iter().collect();
    options.unwrap_or_default().join(" ")
}

fn receivers(pairs: &BTreeSet<Pair>) -> Option<String> {
    let receivers = pairs.iter().map(|(_, receiver)| argument(*receiver));
    listed("--receiver", receivers.collect())
}

/// Returns an option with its values. `None` if there are none, or more than [`MOST`].
fn listed(flag: &str, values: BTreeSet<String>) -> Option<String> {
    let values: Vec<String> = values.into_iter().collect();
    (1..=MOST)
        .contains(&values.len())
        .then(|| format!("{flag} {}", values.join(",")))
}

/// Returns the options that measure these pairs at a rate. Programs cannot keep one, so with a program among them, std
/// sends to all receivers. Empty if there are more than [`MOST`].
pub(super) fn options_at_a_rate(pairs: &BTreeSet<Pair>) -> String {
    if !has_program(pairs) {
        return options(pairs);
    }
    let receivers = receivers(pairs);
    receivers.map_or_else(String::new, |receivers| format!("--sender std {receivers}"))
}

/// Returns whether one of these pairs has an engine that is a program.
pub(super) fn has_program(pairs: &BTreeSet<Pair>) -> bool {
    let mut all = pairs
        .iter()
        .flat_map(|(sender, receiver)| [sender, receiver]);
    all.any(|engine| !is_known(*engine))
}

/// Returns the values of `--busy-poll` that measure these cases and, beside them, `off`. Empty if none polls.
pub(super) fn busy_polls<'c>(cases: impl Iterator<Item = &'c Case>) -> Vec<String> {
    let times = cases.filter_map(|case| Some(case.busy_poll?.to_string()));
    let times: BTreeSet<String> = times.collect();
    let off = times.first().map(|_| "off".to_owned());
    off.into_iter().chain(times).collect()
}

/// Returns the engine that `--engine` turns into this pair. `None`: only `--sender` and `--receiver` do.
fn typed_for_both(&(sender, receiver): &Pair) -> Option<String> {
    let names = (sender.as_str(), receiver.as_str());
    let serves_both = |name: &EngineName| {
        let both = engines::find(name.as_str()).map(Entry::pair);
        both.is_some_and(|(sends, receives)| (sends.about.name, receives.about.name) == names)
    };
    match [sender, receiver].into_iter().find(serves_both) {
        _ if names == ("gso", "gro") => Some("gso-gro".to_owned()),
        None if sender != receiver => None,
        both => Some(argument(both.unwrap_or(sender))),
    }
}

/// Returns whether this or another build has the engine. Otherwise it is a program.
fn is_known(name: EngineName) -> bool {
    engines::properties(name).is_some()
}

/// Returns what to type for an engine. Rows do not have the path of a program.
fn argument(name: EngineName) -> String {
    match engines::find(name.as_str()) {
        Some(entry) => entry.argument(),
        None if is_known(name) => name.to_string(),
        None => format!("exec:{name}=PROGRAM"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::of_key;

    /// Returns a case of these engines, with this end of its key.
    fn case(engines: &str, end: &str) -> Case {
        let (sender, receiver) = engines.split_once('>').unwrap_or((engines, engines));
        of_key(&format!("{sender}:{receiver}/2t/300B/connected/v4{end}"))
    }

    fn pairs(engines: &[&str]) -> BTreeSet<Pair> {
        let cases = engines.iter().map(|engines| case(engines, ""));
        cases.map(|case| (case.sender, case.receiver)).collect()
    }

    #[test]
    fn what_spins_says_so_in_its_case() {
        let cases = [
            ("spin", ""),
            ("std>spin", ""),
            ("std", "/spin"),
            ("mmsg", "/spin"),
        ];
        for (engines, end) in cases {
            assert!(spins(&case(engines, end)), "{engines}{end}");
        }
        assert!(!spins(&case("std", "")) && !spins(&case("mmsg", "/block")));
    }

    #[test]
    fn an_engine_is_of_the_technique_that_moves_most_at_once() {
        for (engines, technique, typed) in [
            ("std", Technique::OneCall, "--engine std"),
            ("tokio", Technique::OneCall, "--engine tokio"),
            ("mmsg", Technique::Batches, "--engine mmsg"),
            ("gso>gro", Technique::Offload, "--engine gso-gro"),
            ("gso>mmsg", Technique::Offload, "--engine gso"),
            (
                "uring-zerocopy>uring",
                Technique::Offload,
                "--engine uring-zerocopy",
            ),
            (
                "std>mmsg",
                Technique::Batches,
                "--sender std --receiver mmsg",
            ),
            ("new", Technique::Unknown, "--engine exec:new=PROGRAM"),
        ] {
            assert_eq!(Technique::of(&case(engines, "")), technique, "{engines}");
            assert_eq!(options(&pairs(&[engines])), typed);
        }
        let told = pairs(&["std", "mmsg", "gso>gro", "gso>mmsg"]);
        assert_eq!(options(&told), "--engine gso,gso-gro,mmsg,std");
        let told = pairs(&["std", "uring>mmsg"]);
        assert_eq!(options(&told), "--sender std,uring --receiver mmsg,std");
    }

    #[test]
    fn a_program_gets_its_datagrams_from_std_at_a_rate_as_it_cannot_send_at_one() {
        let typed = |engines| options_at_a_rate(&pairs(engines));
        assert_eq!(typed(&["std", "mmsg"]), "--engine mmsg,std");
        let expected = "--sender std --receiver exec:yours=PROGRAM,mmsg,std";
        assert_eq!(typed(&["std", "std>mmsg", "yours"]), expected);
    }

    #[test]
    fn who_polls_is_set_beside_who_does_not() {
        let told = [case("mmsg", "/busy-50us"), case("std", "")];
        assert_eq!(busy_polls(told.iter()), ["off", "50us"]);
        assert!(busy_polls(told[1..].iter()).is_empty());
    }
}
