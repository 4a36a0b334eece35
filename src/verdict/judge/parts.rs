//! Parts of the cases of an engine in which a change may hide: each thread count, payload, connection and IP version.

use std::collections::BTreeMap;
use std::fmt;

use crate::data::{Case, Connection, Ip, Payload, Threads};

/// Value of a parameter that cuts the cases of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Number of threads.
    Threads(Threads),
    /// Size of the payload.
    Payload(Payload),
    /// Connected or unconnected sockets.
    Connection(Connection),
    /// IP version.
    Ip(Ip),
}

/// The part of each cut that a case is in. `None`: its two sides differ in that.
pub type Parts = [Option<Part>; 4];

/// Returns the parts of a case.
pub fn of_case(case: &Case) -> Parts {
    [
        Part::Threads(case.threads),
        Part::Payload(case.payload),
        Part::Connection(case.connection),
        Part::Ip(case.ip),
    ]
    .map(Some)
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads(threads) if threads.is_alone() => write!(f, "at {threads} thread"),
            Self::Threads(threads) => write!(f, "at {threads} threads"),
            Self::Payload(payload) => write!(f, "at {payload} B"),
            Self::Connection(connection) => write!(f, "on {connection} sockets"),
            Self::Ip(ip) => write!(f, "over {ip}"),
        }
    }
}

/// Groups cases by each cut that gives two parts or more. A cut is left out if the sides of a case differ in it.
pub(super) fn cuts(
    cases: &[usize],
    parts_of: impl Fn(usize) -> Parts,
) -> Vec<Vec<(Part, Vec<usize>)>> {
    let cut = |number: usize| {
        let mut parts: BTreeMap<Part, Vec<usize>> = BTreeMap::new();
        for &case in cases {
            let members = parts.entry(parts_of(case)[number]?).or_default();
            members.push(case);
        }
        Some(parts.into_iter().collect::<Vec<_>>())
    };
    let cuts = (0..4).filter_map(cut);
    cuts.filter(|parts| parts.len() > 1).collect()
}
