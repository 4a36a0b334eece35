//! The order within a round: cases shuffled, both sides of a case one after the other, A first as often as B.

use super::log::Header;
use super::{Pair, Side};
use crate::data::BlockKey;

/// Pairs that are measured on one side, and then on the other.
pub(super) struct Group {
    pub(super) sides: [Side; 2],
    /// By their numbers.
    pub(super) pairs: Vec<usize>,
}

/// What is measured in a round, in its order. Every round has a seed of its own, so that what is resumed goes on in the
/// order in which it would have gone on.
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
        // A command takes its time: it is run once for all cases of a block.
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

/// Which side comes first: in each two rounds, each once.
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
