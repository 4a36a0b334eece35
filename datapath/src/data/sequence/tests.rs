use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn tracked(bits: u32, gap_ns: u64, numbers: impl IntoIterator<Item = u64>) -> SequenceTracker {
    let mut tracker = SequenceTracker::new(bits);
    for (at, number) in (0..).zip(numbers) {
        tracker.enter(Arrival {
            number,
            arrived_ns: at * gap_ns,
            dropped: 0,
        });
    }
    tracker.finish(0);
    tracker
}

/// Enters numbers that come all at once, so that their pace is not known, and returns the counts.
fn counts(bits: u32, numbers: impl IntoIterator<Item = u64>) -> SequenceCounts {
    tracked(bits, 0, numbers).counts()
}

#[test]
fn what_comes_in_order_is_complete_over_the_end_of_the_numbers() {
    for bits in [8, 16, 24, 32, 64] {
        let mask = u64::MAX >> (64 - bits);
        let numbers = (0..1000).map(|n| mask.wrapping_sub(300).wrapping_add(n) & mask);
        let expected = SequenceCounts {
            received: 1000,
            following: 999,
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
        places: 2,
        following: 3,
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
        places: 1,
        late: 2,
        following: 2,
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
        following: 198,
        ..SequenceCounts::default()
    };
    assert_eq!(counts(32, numbers), expected);
    // A single number from nowhere is none.
    let expected = SequenceCounts {
        received: 3,
        strays: 2,
        following: 2,
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
    let mut model = SequenceCounts::default();
    let mut numbers = vec![highest];
    let (mut backwards, mut jumped) = (0, 0);
    for step in steps.iter().chain([&1; 4]) {
        // More numbers in order that are not higher may be a new series, and a jump is clear after four.
        let step = if backwards == 3 || jumped > 0 {
            1
        } else {
            *step
        };
        jumped = if step > 16 { 3 } else { jumped.max(1) - 1 };
        backwards = if step > 0 { 0 } else { backwards + 1 };
        let number = highest + i128::from(step);
        numbers.push(number);
        if came.first().is_some_and(|lowest| number < lowest - 64) {
            model.strays += 1;
            continue;
        }
        if !came.insert(number) {
            model.duplicates += 1;
            continue;
        }
        model.late += u64::from(number < highest);
        highest = highest.max(number);
    }
    let between = |(one, next): (&i128, &i128)| next - one - 1;
    let gaps = came.iter().zip(came.iter().skip(1)).map(between);
    let gaps: Vec<i64> = gaps.map(|gap| gap.try_into().expect("small")).collect();
    model.received = came.len() as u64;
    model.missing = gaps.iter().sum();
    model.following = gaps.iter().filter(|gap| **gap == 0).count() as u64;
    model.places =
        i64::try_from(gaps.len()).expect("few") - i64::try_from(model.following).expect("few");
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
            2 => 1_i64..=60,
            3 => -60_i64..=0,
        ], 0..600),
        far in prop::collection::vec(prop_oneof![3 => 1_i64..=5000, 2 => -4090_i64..=0], 0..200),
    ) {
        let (steps, first) = match bits {
            8 => (steps, first),
            // A jump to the first numbers of 16 bits is a sender that began again.
            16 => (steps, first & 0xfff),
            _ => ([steps, far].concat(), first),
        };
        let (numbers, model) = modelled(bits, first, &steps);
        prop_assert_eq!(counts(bits, numbers), model);
    }
}

/// Enters numbers at a pace of one in a millisecond, and returns the judgement.
fn judged(bits: u32, numbers: impl IntoIterator<Item = u64>) -> Result<SequenceCounts, Doubt> {
    let series = tracked(bits, 1_000_000, numbers).series();
    series.map(|series| series.counts)
}

#[test]
fn numbers_that_begin_again_in_each_frame_lose_what_is_missing_inside() {
    // GigE Vision: 20 frames of 60, of which ten packets of frame 10 are left out.
    let frames = (0..20_u64).flat_map(|frame| (0..60).map(move |n| (frame, n)));
    let came = frames.filter(|(frame, n)| *frame != 10 || !(20..30).contains(n));
    let counts = judged(24, came.map(|(_, n)| n)).expect("they follow");
    assert_eq!(
        (counts.received, counts.missing, counts.places),
        (1190, 10, 1)
    );
    assert_eq!((counts.restarts, counts.duplicates), (19, 0));
    // A gap near the beginning of a frame is not filled by the next one.
    let frames = (0..20_u64).flat_map(|frame| (0..60).map(move |n| (frame, n)));
    let came = frames.filter(|(frame, n)| *frame != 10 || !(2..5).contains(n));
    let counts = judged(16, came.map(|(_, n)| n)).expect("they follow");
    assert_eq!(
        (counts.missing, counts.restarts, counts.duplicates),
        (3, 19, 0)
    );
}

#[test]
fn a_sender_that_begins_again_near_its_last_numbers_is_seen() {
    for first in [0, 50, 5000] {
        let numbers = (first..first + 1000).chain(first.min(7)..300);
        let counts = judged(32, numbers.filter(|n| *n != 200)).expect("they follow");
        let missing = if first == 5000 { 1 } else { 2 };
        assert_eq!(
            (counts.missing, counts.restarts, counts.duplicates),
            (missing, 1, 0),
            "{first}"
        );
    }
    // Over the end of the numbers, it would be a loss of 5437 in a millisecond.
    let counts = judged(16, (60_000..60_100).chain(0..100)).expect("they follow");
    assert_eq!((counts.missing, counts.restarts), (0, 1));
}

#[test]
fn a_second_copy_of_all_or_of_bursts_is_no_loss() {
    let twice = (0..500_u64).flat_map(|n| [n, n]);
    assert_eq!(
        judged(32, twice).map(|it| (it.missing, it.duplicates)),
        Ok((0, 500))
    );
    // The copy is five datagrams late, so that five of them end each burst.
    let burst = |burst: u64| {
        let all = (0..40_u64).map(move |n| burst * 40 + n);
        let copies = |n: u64| (n % 40 >= 5).then(|| n - 5);
        let both = all
            .clone()
            .flat_map(move |n| [Some(n), copies(n)])
            .flatten();
        both.chain(all.skip(35))
    };
    let counts = judged(32, (0..20).flat_map(burst)).expect("they follow");
    assert_eq!(
        (counts.missing, counts.duplicates, counts.restarts),
        (0, 800, 0)
    );
}

#[test]
fn what_is_no_series_is_not_believed() {
    let mut random = 1_u64;
    let mut next = move || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        random >> 33
    };
    for bits in [8, 16, 24, 31] {
        for count in [3, 10, 300, 3000] {
            let numbers = (0..count).map(|_| next() % (1 << bits));
            let doubt = judged(if bits == 31 { 32 } else { bits }, numbers);
            assert_eq!(
                doubt,
                Err(Doubt::Unordered),
                "{count} numbers of {bits} bits"
            );
        }
    }
    let steps = |step| Doubt::Steps {
        step,
        is_swapped: false,
    };
    let swapped = (0..300_u64).map(|n| u64::from(u32::try_from(n).expect("small").swap_bytes()));
    let time = |n: u64| n * 1000 + n * n * 7919 % 13;
    let two = (0..300_u64).flat_map(|n| [n, n + 500_000]);
    let few = (0..300_u64).map(|n| n % 5);
    assert_eq!(judged(32, vec![7; 100]), Err(Doubt::Constant));
    assert_eq!(judged(16, (0..600).map(|n| n % 64 * 16)), Err(steps(16)));
    assert_eq!(judged(32, (0..600).map(|n| n * 2)), Err(steps(2)));
    assert_eq!(
        judged(32, swapped),
        Err(Doubt::Steps {
            step: 1 << 24,
            is_swapped: true
        })
    );
    assert_eq!(judged(32, (0..600).map(time)), Err(Doubt::Unordered));
    assert_eq!(judged(32, two), Err(Doubt::Mixed));
    assert_eq!(judged(32, few), Err(Doubt::ShortParts));
}

#[test]
fn a_jump_that_its_time_does_not_allow_is_no_loss() {
    for by in [300, 1000, 20_000] {
        let numbers = (0..300).chain(300 + by..600 + by).filter(|n| *n != 100);
        let series = tracked(16, 1_000_000, numbers)
            .series()
            .expect("they follow");
        let counts = series.counts;
        assert_eq!((counts.missing, counts.restarts, series.jumps), (1, 1, 1));
        let jump = Jump {
            at_ns: 299_000_000,
            numbers: by + 1,
            ns: 1_000_000,
            possible: 2,
        };
        assert_eq!(series.first_jump, Some(jump));
    }
    // As many may be lost in bursts, or while the path held what came before.
    let burst = |at: u64| at / 300 * 300_000_000 + at % 300 * 1000;
    let held = |at: u64| {
        if (500..1000).contains(&at) {
            1_000_000_000
        } else {
            at * 1_000_000
        }
    };
    for (arrived, lost) in [
        (&burst as &dyn Fn(u64) -> u64, 1000..1150),
        (&held, 700..1000),
    ] {
        let mut tracker = SequenceTracker::new(16);
        for number in (0..2000).filter(|n| !lost.contains(n)) {
            let arrived_ns = arrived(number);
            tracker.enter(Arrival {
                number,
                arrived_ns,
                dropped: 0,
            });
        }
        let counts = tracker.series().expect("they follow").counts;
        let missing = i64::try_from(lost.end - lost.start).expect("few");
        assert_eq!((counts.missing, counts.restarts), (missing, 0));
    }
    // In five seconds, 5000 numbers may be lost.
    let mut tracker = SequenceTracker::new(16);
    for n in (0..3000).chain(8000..9000) {
        let (number, arrived_ns, dropped) = (n, n * 1_000_000, 0);
        tracker.enter(Arrival {
            number,
            arrived_ns,
            dropped,
        });
    }
    assert_eq!(tracker.series().map(|it| it.counts.missing), Ok(5000));
}

#[test]
fn a_jump_that_the_socket_mostly_dropped_is_loss_however_long() {
    let jump = |by: u64, dropped: u64| {
        let mut tracker = SequenceTracker::new(32);
        for n in 0..2000 {
            // A million numbers per second, before and in the jump.
            let number = 10_000_000 + if n < 1000 { n } else { n + by };
            tracker.enter(Arrival {
                number,
                arrived_ns: number * 1000,
                dropped: if n == 1000 { dropped } else { 0 },
            });
        }
        tracker.finish(0);
        let series = tracker.series();
        series.map(|it| (it.counts.missing, it.matched_drops))
    };
    for (by, dropped) in [(300_000, 240_000), (1_200_000, 1_000_000)] {
        let missing = i64::try_from(by).expect("few");
        assert_eq!(jump(by, dropped), Ok((missing, dropped)), "{by}");
    }
    // The time is long enough for it.
    assert_eq!(jump(300_000, 100), Ok((300_000, 100)));
}

#[test]
fn short_numbers_that_may_have_gone_around_are_not_believed() {
    let after = |gap_ms: u64| {
        let mut tracker = SequenceTracker::new(8);
        for n in (0..1000).chain(1000 + gap_ms..2000) {
            let (number, arrived_ns, dropped) = (n % 256, n * 1_000_000, 0);
            tracker.enter(Arrival {
                number,
                arrived_ns,
                dropped,
            });
        }
        tracker.series().map(|it| it.counts.missing)
    };
    assert_eq!(after(100), Ok(100));
    assert!(matches!(after(150), Err(Doubt::Around { .. })));
    assert_eq!(after(200), Err(Doubt::Copies));
    assert_eq!(after(300), Err(Doubt::ToZero));
}

#[test]
fn missing_numbers_are_tied_to_drops_of_their_time() {
    let matched = |arrivals: &[(u64, u64)]| {
        let mut tracker = SequenceTracker::new(32);
        for (at, &(number, dropped)) in (0..).zip(arrivals) {
            tracker.enter(Arrival {
                number,
                arrived_ns: at,
                dropped,
            });
        }
        let series = tracker.series().expect("they follow");
        (
            series.counts.missing,
            series.matched_drops,
            series.possible_drops,
        )
    };
    let plain = [(1, 0), (2, 0), (3, 0), (4, 0)];
    let then = |more: &[(u64, u64)]| matched(&[&plain[..], more].concat());
    assert_eq!(then(&[(8, 0), (9, 0)]), (3, 0, 0));
    assert_eq!(then(&[(8, 3), (9, 0)]), (3, 3, 3));
    assert_eq!(then(&[(8, 2), (9, 0)]), (3, 2, 2));
    // The drops of another source, long before and long after.
    let others = (5..80).map(|n| (n, if n == 5 { 9 } else { 0 }));
    let others = others
        .chain([(82, 0)])
        .chain((83..160).map(|n| (n, u64::from(n == 159))));
    assert_eq!(then(&others.collect::<Vec<_>>()), (2, 0, 0));
    // Number 5 may have been dropped after 6 had overtaken it, if datagrams overtake each other at all.
    assert_eq!(then(&[(6, 0), (7, 1)]), (1, 0, 0));
    assert_eq!(then(&[(6, 0), (7, 1), (9, 0), (8, 0), (10, 0)]), (1, 0, 1));
    assert_eq!(then(&[(6, 0), (5, 0), (7, 1)]), (0, 0, 0));
    // Only every eighth comes through, and the socket tells it.
    let eighth: Vec<(u64, u64)> = (0..100).map(|n| (n * 8, 7)).collect();
    assert_eq!(matched(&eighth), (99 * 7, 99 * 7, 99 * 7));
}
