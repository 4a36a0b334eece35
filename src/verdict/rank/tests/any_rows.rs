//! Tests that any rows can be ranked, whatever their values.

use proptest::prelude::*;

use super::*;
use crate::host::placement::Placement;
use crate::term::fold::is_command;

proptest! {
    #[test]
    fn no_rows_are_too_strange_to_be_ranked(rows in proptest::collection::vec(strange(), 0..30)) {
        let ranking = rank(&[file(&rows)]);
        let widths = [60, 80, 100].into_iter().zip([false, true, true]);
        for (by, (width, details)) in [RankBy::Speed, RankBy::Cpu, RankBy::Both].into_iter().zip(widths) {
            let view = View { by, top: 2, details };
            for line in table::draw(&ranking, view, width).lines() {
                // A word that is wider than the line stays whole.
                let widest = line.split(' ').map(|word| word.chars().count()).max();
                let fits = is_command(line) || line.chars().count() <= usize::from(width);
                prop_assert!(fits || widest > Some(usize::from(width) - 10), "{}", line);
            }
        }
        for averaged in ranking.iter().flat_map(|board| &board.averaged) {
            prop_assert!(averaged.groups <= averaged.of);
            let placed = averaged.standing.places.iter().filter_map(|place| place.place);
            let places: Vec<usize> = placed.collect();
            prop_assert!(places.is_empty() || places[0] == 1, "{places:?}");
        }
    }
}

/// Generates any number, mostly plausible ones.
fn number() -> impl Strategy<Value = Option<f64>> {
    let usual = (0.1_f64..10.0).prop_map(Some);
    prop_oneof![4 => usual, 1 => proptest::num::f64::ANY.prop_map(Some), 1 => Just(None)]
}

fn strange() -> impl Strategy<Value = Row> {
    let engine = "(std|mmsg|null|mio-once|x{90}|\u{6f22}{60})";
    let numbers = proptest::collection::vec(number(), 12);
    let counts = (1_u16..4, any::<u32>(), proptest::option::of(any::<usize>()));
    let rate = prop_oneof![
        1 => Just("/rr".to_owned()),
        2 => (0_u32..3, 1_u32..5).prop_map(|(load, own)| {
            format!("/rr/rate{}", 10 * own * [1, 5, 9][load as usize])
        }),
        3 => Just(String::new()),
    ];
    (engine, counts, numbers, any::<bool>(), rate).prop_map(
        |(engine, (threads, rounds, ratio_pairs), numbers, connected, rate)| Row {
            connection: if connected {
                Connection::Connected
            } else {
                Connection::Unconnected
            },
            rounds,
            // A different run per row: rows of the same run are dropped as repeats.
            started_at: rounds.to_string(),
            ratio_pairs,
            ratio_to_std: numbers[0].filter(|_| rate.is_empty()),
            ratio_to_std_low: numbers[1],
            ratio_to_std_high: numbers[2],
            ratio_sd_pct: numbers[3],
            cpu_ratio_to_std: numbers[4],
            cpu_ratio_sd_pct: numbers[5],
            received_pps: numbers[6],
            received_mbps: numbers[7],
            cv_pct: numbers[8],
            received_pps_low: numbers[9],
            cpu_ns_per_packet: numbers[10],
            loss_pct: numbers[11],
            rtt_p50_us: numbers[8],
            rtt_p50_us_low: numbers[9],
            rtt_p50_us_high: numbers[10],
            residual_rtt_sd_pct: numbers[3],
            wakeup_p50_us: numbers[4],
            window_ms: numbers[5],
            pin: Placement::from_lists(
                2.try_into().expect("in range"),
                &[rounds as usize % 3],
                &[0],
            )
            .filter(|_| rounds % 4 > 0),
            cpu_model: "very long ".repeat(usize::from(threads) * 5),
            ..of_load(row(&engine, threads, 1.0, 1.0), &rate)
        },
    )
}

/// Returns the row with the load of this end of a key: requests, with or without a rate.
fn of_load(row: Row, end: &str) -> Row {
    let key = format!("std:std/2t/300B/connected/v4{end}");
    let other = Row::of_case(&crate::data::Case::of_key(&key).expect("a case"));
    Row {
        case: other.case,
        workload: other.workload,
        target_pps: other.target_pps,
        ratio_to_std: if end.is_empty() {
            row.ratio_to_std
        } else {
            None
        },
        ..row
    }
}
