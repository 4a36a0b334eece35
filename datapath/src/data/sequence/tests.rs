use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn counts(bits: u32, numbers: impl IntoIterator<Item = u64>) -> SequenceCounts {
    let mut tracker = SequenceTracker::new(bits);
    let mut counts = SequenceCounts::default();
    for number in numbers {
        counts += tracker.enter(number);
    }
    counts
}

#[test]
fn what_comes_in_order_is_complete_over_the_end_of_the_numbers() {
    for bits in [8, 16, 24, 32, 64] {
        let mask = u64::MAX >> (64 - bits);
        let numbers = (0..1000).map(|n| mask.wrapping_sub(300).wrapping_add(n) & mask);
        let expected = SequenceCounts {
            received: 1000,
            ..SequenceCounts::default()
        };
        assert_eq!(counts(bits, numbers), expected, "{bits} bits");
    }
}

#[test]
fn a_late_datagram_is_no_loss_and_comes_twice_once() {
    let expected = SequenceCounts {
        received: 6,
        missing: 2,
        jumps: 2,
        late: 1,
        duplicates: 2,
        ..SequenceCounts::default()
    };
    assert_eq!(counts(16, [1, 2, 5, 3, 3, 6, 8, 8]), expected);
}

#[test]
fn a_number_before_the_first_one_belongs_to_the_series() {
    let expected = SequenceCounts {
        received: 4,
        missing: 1,
        late: 2,
        ..SequenceCounts::default()
    };
    assert_eq!(counts(32, [10, 8, 11, 7]), expected);
}

#[test]
fn a_sender_that_begins_again_loses_nothing() {
    let numbers = (50_000..50_100).chain(0..100);
    let expected = SequenceCounts {
        received: 200,
        restarts: 1,
        ..SequenceCounts::default()
    };
    assert_eq!(counts(32, numbers), expected);
    // A single number from nowhere is none.
    let expected = SequenceCounts {
        received: 3,
        strays: 2,
        ..SequenceCounts::default()
    };
    assert_eq!(counts(32, [1, 2, 1 << 31, 7 << 20, 3]), expected);
}

#[test]
fn a_jump_up_to_half_of_the_numbers_is_loss() {
    for (bits, longest) in [(8, 127), (16, 32_767), (24, 1 << 20), (64, 1 << 20)] {
        assert_eq!(
            counts(bits, [0, longest]).missing,
            i64::try_from(longest).expect("small") - 1
        );
        assert_eq!(counts(bits, [0, longest + 1]).strays, 1, "{bits} bits");
    }
}

/// Numbers by their steps from the highest one so far, and the counts that a set of all numbers gives.
fn modelled(bits: u32, first: u64, steps: &[i64]) -> (Vec<u64>, SequenceCounts) {
    let mask = u128::from(u64::MAX >> (64 - bits));
    let offset = 1_i128 << 70;
    let mut highest = offset;
    let mut came = BTreeSet::from([highest]);
    let mut model = SequenceCounts {
        received: 1,
        ..SequenceCounts::default()
    };
    let mut numbers = vec![highest];
    for step in steps {
        let number = highest + i128::from(*step);
        numbers.push(number);
        if !came.insert(number) {
            model.duplicates += 1;
            continue;
        }
        model.received += 1;
        if number < highest {
            model.late += 1;
        } else {
            model.jumps += u64::from(number > highest + 1);
            highest = number;
        }
    }
    let span = came
        .last()
        .zip(came.first())
        .map_or(0, |(last, first)| last - first + 1);
    model.missing = i64::try_from(span).expect("small") - i64::try_from(came.len()).expect("small");
    let wrapped = numbers.into_iter().map(|number| {
        let number = u128::try_from(number - offset + i128::from(first) + (1 << 80));
        u64::try_from(number.expect("positive") & mask).expect("masked")
    });
    (wrapped.collect(), model)
}

proptest! {
    #[test]
    fn counts_are_those_of_a_set(
        bits in prop::sample::select(vec![8_u32, 16, 24, 32, 64]),
        first: u64,
        steps in prop::collection::vec(prop_oneof![
            6 => Just(1_i64),
            2 => 1_i64..=100,
            3 => -63_i64..=0,
        ], 0..600),
        far in prop::collection::vec(prop_oneof![3 => 1_i64..=5000, 2 => -4095_i64..=0], 0..200),
    ) {
        let steps = if bits == 8 { steps } else { [steps, far].concat() };
        let (numbers, model) = modelled(bits, first, &steps);
        prop_assert_eq!(counts(bits, numbers), model);
    }
}
