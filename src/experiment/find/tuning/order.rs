//! Order within a round: settings are shuffled, both trials of a pair follow each other, and each comes first equally
//! often.

/// Trial of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half {
    /// Number of the setting.
    pub(super) tuning: usize,
    /// True if the setting has the tried value.
    pub(super) is_tried: bool,
}

/// Returns the trials of a round, the first one last. Every round has its own seed, so a resumed search continues in
/// the same order.
pub(super) fn of_round(seed: u32, round: u32, tunings: &[usize]) -> Vec<Half> {
    let mut tunings = tunings.to_vec();
    fastrand::Rng::with_seed(of(seed, 0, round)).shuffle(&mut tunings);
    let pair = |tuning: usize| {
        let is_first = is_tried_first(seed, tuning, round);
        [!is_first, is_first].map(|is_tried| Half { tuning, is_tried })
    };
    tunings.into_iter().flat_map(pair).collect()
}

/// Returns whether the tried value comes first. Within two rounds, it does once.
fn is_tried_first(seed: u32, tuning: usize, round: u32) -> bool {
    let mut dice = fastrand::Rng::with_seed(of(seed, tuning + 1, round.div_ceil(2)));
    dice.bool() == (round % 2 == 0)
}

fn of(seed: u32, number: usize, round: u32) -> u64 {
    (u64::from(seed) << 32) ^ ((number as u64) << 14) ^ u64::from(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_stay_together_and_either_trial_comes_first_in_every_second_round() {
        let mut orders = Vec::new();
        for round in 1..=40 {
            let halves = of_round(7, round, &[0, 1, 2]);
            assert_eq!(halves.len(), 6);
            for pair in halves.chunks_exact(2) {
                assert_eq!(pair[0].tuning, pair[1].tuning);
                assert_ne!(pair[0].is_tried, pair[1].is_tried);
            }
            orders.push(
                halves
                    .iter()
                    .step_by(2)
                    .map(|half| half.tuning)
                    .collect::<Vec<_>>(),
            );
        }
        for tuning in 0..3 {
            for round in (1..40).step_by(2) {
                assert_ne!(
                    is_tried_first(7, tuning, round),
                    is_tried_first(7, tuning, round + 1)
                );
            }
        }
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 6, "every order of three");
    }
}
