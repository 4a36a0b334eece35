//! Order within a round: cases are shuffled, both sides of a case follow each other, and each side comes first
//! equally often.

use super::header::Header;
use super::{Pair, Side};
use crate::data::BlockKey;

/// Pairs that are measured first on one side, then on the other.
pub(super) struct Group {
    pub(super) sides: [Side; 2],
    /// Numbers of the pairs.
    pub(super) pairs: Vec<usize>,
}

/// Returns the groups of a round in the order of measurement. Every round has its own seed, so a resumed comparison
/// continues in the same order.
pub(super) fn of_round(header: &Header, pairs: &[Pair], round: u32) -> Vec<Group> {
    let has_command = Side::BOTH
        .iter()
        .any(|&side| header.setup(side).before.is_some());
    let mut groups: Vec<Group> = Vec::new();
    let mut last: Option<BlockKey> = None;
    for (number, pair) in pairs.iter().enumerate() {
        if pair.refusal().is_some() {
            continue;
        }
        // A command takes long: it runs once for all cases of a block.
        let block = Some(pair.a.case.block()).filter(|_| has_command);
        match groups.last_mut() {
            Some(group) if block.is_some() && block == last => group.pairs.push(number),
            _ => groups.push(Group {
                sides: sides(header.seed, number, round),
                pairs: vec![number],
            }),
        }
        last = block;
    }
    let mut shuffle = fastrand::Rng::with_seed(seed(header.seed, 0, round));
    shuffle.shuffle(&mut groups);
    for group in &mut groups {
        shuffle.shuffle(&mut group.pairs);
    }
    groups
}

/// Returns the order of the sides. Within two rounds, each side comes first once.
fn sides(seed_of_all: u32, number: usize, round: u32) -> [Side; 2] {
    let mut dice = fastrand::Rng::with_seed(seed(seed_of_all, number + 1, round.div_ceil(2)));
    let first = if dice.bool() == (round % 2 == 0) {
        Side::A
    } else {
        Side::B
    };
    [first, first.other()]
}

fn seed(of_all: u32, number: usize, round: u32) -> u64 {
    (u64::from(of_all) << 32) ^ ((number as u64) << 14) ^ u64::from(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_comes_first_in_every_second_round() {
        for number in 0..20 {
            for round in (1..40).step_by(2) {
                let [first, second] = [round, round + 1].map(|round| sides(7, number, round)[0]);
                assert_eq!(first.other(), second);
            }
        }
        let first = (0..100).map(|number| sides(7, number, 1)[0]);
        let count = first.filter(|&side| side == Side::A).count();
        assert!((30..70).contains(&count), "{count}");
    }
}
