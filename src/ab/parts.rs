//! The parts of an engine's cases in which a change may hide: each thread count, payload, connection and ip.

use std::fmt;

use super::Pair;
use crate::data::{Case, Connection, Ip, Payload, Threads};

/// Some of the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Those of one thread count.
    Threads(Threads),
    /// Those of one payload.
    Payload(Payload),
    /// Those on connected, or on unconnected sockets.
    Connection(Connection),
    /// Those of one version of IP.
    Ip(Ip),
}

/// A way to cut cases into parts.
type Cut = fn(&Case) -> Part;

const CUTS: [Cut; 4] = [
    |case| Part::Threads(case.threads),
    |case| Part::Payload(case.payload),
    |case| Part::Connection(case.connection),
    |case| Part::Ip(case.ip),
];

/// Each cut of these pairs into two parts or more: the pairs of each part, by their places. What A and B do not have in
/// common cuts nothing.
pub(super) fn cuts(pairs: &[Pair]) -> Vec<Vec<(Part, Vec<usize>)>> {
    let parts = |cut: &Cut| {
        let mut parts: Vec<(Part, Vec<usize>)> = Vec::new();
        for (place, pair) in pairs.iter().enumerate() {
            let part = cut(&pair.a.case);
            if part != cut(&pair.b.case) {
                return Vec::new();
            }
            match parts.iter_mut().find(|(known, _)| *known == part) {
                Some((_, places)) => places.push(place),
                None => parts.push((part, vec![place])),
            }
        }
        parts.sort_unstable();
        parts
    };
    let cuts = CUTS.iter().map(parts);
    cuts.filter(|parts| parts.len() > 1).collect()
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads(threads) if threads.is_alone() => f.pad("1 thread"),
            Self::Threads(threads) => f.pad(&format!("{threads} threads")),
            Self::Payload(payload) => f.pad(&format!("{payload} B")),
            Self::Connection(connection) => f.pad(&connection.to_string()),
            Self::Ip(ip) => f.pad(&ip.to_string()),
        }
    }
}
