//! Parts of the cases of an engine in which a change may hide: each thread count, payload, connection and IP version.

use super::Pair;
use crate::data::Case;
use crate::verdict::compare::Part;

/// Function that assigns a case to its part.
type Cut = fn(&Case) -> Part;

const CUTS: [Cut; 4] = [
    |case| Part::Threads(case.threads),
    |case| Part::Payload(case.payload),
    |case| Part::Connection(case.connection),
    |case| Part::Ip(case.ip),
];

/// Returns each cut that gives two parts or more: each part with the positions of its pairs. A cut is left out if A
/// and B differ in it.
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
