//! Techniques by which engines move datagrams. The technique decides an engine's gain, and where the gain shows.

use crate::data::{Case, EngineName, Group, Wait};
use crate::engines;

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

    /// Returns by how much a state of a virtual machine that outlasts a run changes the ratio to another engine, in
    /// percent (docs/METHODOLOGY.md).
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::of_key;

    /// Returns a case of these engines, with this end of its key.
    fn case(engines: &str, end: &str) -> Case {
        let (sender, receiver) = engines.split_once('>').unwrap_or((engines, engines));
        of_key(&format!("{sender}:{receiver}/2t/300B/connected/v4{end}"))
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
        for (engines, technique) in [
            ("std", Technique::OneCall),
            ("tokio", Technique::OneCall),
            ("mmsg", Technique::Batches),
            ("gso>gro", Technique::Offload),
            ("gso>mmsg", Technique::Offload),
            ("uring-zerocopy>uring", Technique::Offload),
            ("std>mmsg", Technique::Batches),
            ("new", Technique::Unknown),
        ] {
            assert_eq!(Technique::of(&case(engines, "")), technique, "{engines}");
        }
    }
}
