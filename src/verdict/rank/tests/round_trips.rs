//! Tests of the advice on round trips, for readers who read nothing else.

use super::*;
use crate::data::Case;
use crate::host::placement::Placement;
use crate::results::row::tests::row_of_a_wire;
use crate::results::row::{CaseWarning, Reason};
use crate::term::fold::is_command;

/// Loads of `latency`, in percent. 0: alone.
const LOADS: [u32; 4] = [0, 10, 50, 90];

/// Returns a row of requests: its median in microseconds, and the standard deviation of its 15 windows in percent.
/// `rate`: 0 for clients that wait.
fn placed(client: usize) -> Option<Placement> {
    Placement::from_lists(2.try_into().expect("in range"), &[client], &[0])
}

fn asked(engine: &str, rate: u32, p50_us: f64, sd_pct: f64) -> Row {
    let rated = if rate == 0 {
        String::new()
    } else {
        format!("/rate{rate}")
    };
    let key = format!("{engine}:{engine}/2t/26B/connected/v4/rr{rated}");
    let case = Case::of_key(&key).expect("a case");
    let reach = 2.1 * 1.02 * sd_pct / 15.0_f64.sqrt() / 100.0;
    Row {
        status: Status::Ok,
        reason: Reason::None,
        rounds: 15,
        window_ms: Some(133.0),
        pin: placed(1),
        loss_pct: Some(0.0),
        received_pps: Some(f64::from(rate.max(1000))),
        received_pps_low: Some(0.99 * f64::from(rate.max(1000))),
        received_pps_high: Some(1.01 * f64::from(rate.max(1000))),
        cpu_ns_per_packet: Some(9000.0),
        rtt_p50_us: Some(p50_us),
        rtt_p50_us_low: Some(p50_us / (1.0 + reach)),
        rtt_p50_us_high: Some(p50_us * (1.0 + reach)),
        residual_rtt_sd_pct: Some(sd_pct),
        wakeup_p50_us: (rate == 0).then_some(p50_us / 2.0),
        ratio_to_std: (rate == 0).then_some(1.0),
        answered_requests: Some(5000),
        unanswered_requests: Some(0),
        board: "made-up".to_owned(),
        ..Row::of_case(&case)
    }
}

/// Returns the rows of `latency`: medians of each engine alone and at 10, 50 and 90 % of a rate of its own.
fn latency(engines: &[(&str, [f64; 4])], sd_pct: f64) -> Vec<Row> {
    let rows = (1..).zip(engines).flat_map(|(n, (engine, medians_us))| {
        let own = 20_000 + 100 * n;
        let loads = LOADS.into_iter().zip(medians_us);
        loads.map(move |(pct, p50_us)| asked(engine, own * pct / 100, *p50_us, sd_pct))
    });
    rows.collect()
}

fn overloaded(row: &Row, answered_pct: f64) -> Row {
    let rate = f64::from(u32::from(row.target_pps.expect("a rate")));
    Row {
        rtt_p50_us: None,
        rtt_p50_us_low: None,
        rtt_p50_us_high: None,
        residual_rtt_sd_pct: None,
        received_pps: Some(rate * answered_pct / 100.0),
        ..row.clone()
    }
}

/// Returns the answer in a terminal of 80 columns.
fn ending(rows: &[Row]) -> String {
    let text = ranked(rows).answer(RankBy::Both).draw(80);
    for line in text.lines() {
        assert!(is_command(line) || line.chars().count() <= 80, "{line}");
    }
    text
}

const CLEAR: [(&str, [f64; 4]); 3] = [
    ("std", [41.0, 52.0, 60.0, 95.0]),
    ("nix", [45.0, 57.0, 66.0, 110.0]),
    ("tokio", [61.0, 72.0, 80.0, 140.0]),
];

#[test]
fn medians_that_differ_surely_and_by_little_are_alike_as_another_run_may_turn_them_round() {
    let with = |factor: f64| {
        let mut engines = CLEAR;
        engines[1].1 = CLEAR[0].1.map(|us| us * factor);
        let text = ending(&latency(&engines, 1.0));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let near = with(1.025);
    let expected = "use std or nix (a tie within 5 %)";
    assert!(near.contains(expected), "{near}");
    let far = with(1.07);
    let expected = "use std ";
    assert!(far.contains(expected), "{far}");
}

#[test]
fn every_ending_of_latency_says_what_a_careful_engineer_would() {
    let mut all = String::new();
    let mut end = |name: &str, rows: &[Row]| all.extend(["-- ", name, "\n", &ending(rows), "\n"]);
    end("a clear winner", &latency(&CLEAR, 2.0));

    let mut alike = CLEAR;
    alike[1].1 = CLEAR[0].1.map(|us| us * 1.004);
    end("two alike", &latency(&alike, 2.0));
    end("too noisy", &latency(&alike, 40.0));

    let crossing = [
        ("std", [41.0, 52.0, 60.0, 95.0]),
        ("nix", [61.0, 51.0, 50.0, 85.0]),
    ];
    end("engines that cross", &latency(&crossing, 2.0));

    let mut rows = latency(&CLEAR, 2.0);
    rows[11] = overloaded(&rows[11], 72.0);
    rows[3] = Row {
        loss_pct: Some(12.0),
        ..overloaded(&rows[3], 88.0)
    };
    end("two are overloaded at 90 %", &rows);
    for row in [3, 7, 11] {
        rows[row] = overloaded(&rows[row], 72.0);
    }
    end("all are overloaded at 90 %", &rows);

    let mut rows = latency(&CLEAR, 2.0);
    rows[6] = overloaded(&rows[6], 72.0);
    end("one seems overloaded at 50 %, and kept up at 90 %", &rows);

    let mut rows = latency(&CLEAR, 2.0);
    rows[0].loss_pct = Some(3.0);
    end("the soonest loses alone", &rows);
    for row in &mut rows {
        row.loss_pct = Some(30.0);
    }
    end("all lose", &rows);

    end("one engine", &latency(&CLEAR[..1], 2.0));
    let alone = latency(&CLEAR, 2.0)
        .into_iter()
        .filter(|row| row.target_pps.is_none())
        .map(|row| Row {
            ratio_to_std: None,
            ..row
        });
    end("no loads", &alone.collect::<Vec<_>>());
    let given: Vec<Row> = [(5000, 1.0), (20_000, 1.5)]
        .into_iter()
        .flat_map(|(rate, slower)| {
            ["std", "nix"].map(|engine| {
                let us = if engine == "std" { 50.0 } else { 55.0 };
                asked(engine, rate, us * slower, 2.0)
            })
        })
        .collect();
    end("given rates only", &given);

    let once = latency(&CLEAR, 2.0).into_iter().map(|row| Row {
        rtt_p50_us_low: None,
        rtt_p50_us_high: None,
        residual_rtt_sd_pct: None,
        ..row
    });
    end("one window each", &once.collect::<Vec<_>>());

    let one_cpu = latency(&CLEAR[..2], 2.0).into_iter().map(|row| Row {
        pin: placed(0),
        idle_states: "C1 30 %".to_owned(),
        ..row
    });
    let one_cpu: Vec<Row> = one_cpu.collect();
    end("on one CPU", &one_cpu);
    let both = latency(&CLEAR[..2], 2.0)
        .into_iter()
        .map(|row| Row { seed: 7, ..row });
    end(
        "on one CPU and on two",
        &one_cpu.into_iter().chain(both).collect::<Vec<_>>(),
    );

    let spinning = [CLEAR[0], ("spin", [5.0, 6.0, 7.0, 8.0])];
    end("an engine that never sleeps", &latency(&spinning, 2.0));

    let poor = latency(&CLEAR, 2.0).into_iter().map(|row| Row {
        warnings: vec![CaseWarning::LostCpuTime.into()],
        ..row
    });
    end("poor", &poor.collect::<Vec<_>>());

    let wire = row_of_a_wire();
    let wire = latency(&CLEAR[..2], 2.0).into_iter().map(|row| Row {
        case: Case {
            direction: wire.direction,
            ..row.case
        },
        direction: wire.direction,
        remote: wire.remote.clone(),
        remote_board: wire.remote_board.clone(),
        ..row
    });
    end("a wire", &wire.collect::<Vec<_>>());
    insta::assert_snapshot!(all);
}

/// Loads are shares of each engine's own rate, so that the rates of no two engines are equal.
#[test]
fn engines_are_ranked_at_each_load() {
    let board = ranked(&latency(&CLEAR, 2.0));
    let labels = board.labels();
    let lists = board.averaged_by(Measure::RoundTrip).map(|one| {
        let places = one.standing.places.iter();
        let places = places.map(|place| (place.label.as_str(), place.place));
        (labels[&one.conditions].as_str(), places.collect::<Vec<_>>())
    });
    let places = [("std", Some(1)), ("nix", Some(2)), ("tokio", Some(3))];
    let expected = ["alone", "10 %", "50 %", "90 %"].map(|load| (load, places.to_vec()));
    assert_eq!(lists.collect::<Vec<_>>(), expected);
    assert!(board.averaged_by(Measure::Speed).next().is_none());
    // Only alone is there a reference beside an engine.
    let mut cpu = board.averaged_by(Measure::Cpu);
    assert!(cpu.all(|one| one.standing.unit == Unit::Absolute && one.standing.places.len() == 3));
    let text = table::draw(&rank(&[file(&latency(&CLEAR, 2.0))]), BOTH, 100);
    assert!(text.contains(", in p50 us\n     1  std "), "{text}");
}

/// Histograms know a median to within 0.4 %.
#[test]
fn a_difference_within_the_buckets_of_the_histograms_is_none() {
    let rows = [("std", 41.0), ("nix", 41.2)].map(|(engine, us)| Row {
        ratio_to_std: None,
        ..asked(engine, 0, us, 0.01)
    });
    let places = ranked(&rows).averaged[0].standing.places.clone();
    assert!(places.iter().all(RankedEngine::is_first), "{places:?}");
}

#[test]
fn throughput_and_round_trips_of_a_machine_have_an_answer_each() {
    let mut rows = latency(&CLEAR[..2], 2.0);
    rows.extend([row("std", 2, 1.0, 1.0), row("mmsg", 2, 1.21, 0.9)]);
    let ranking = rank(&[file(&rows)]);
    let answers = ranking
        .iter()
        .map(|board| board.answer(RankBy::Both).said[0].clone());
    let expected = [
        "Over loopback, of 2 engines: use mmsg",
        "Over loopback, of 2 engines, by the median round trip: use std",
    ];
    assert_eq!(answers.collect::<Vec<_>>(), expected);
}

/// With a reference, the ratios of a round say more.
#[test]
fn requests_beside_a_reference_are_ranked_by_their_rate() {
    let rows = ["std", "nix"].map(|engine| asked(engine, 0, 41.0, 2.0));
    let board = ranked(&rows);
    assert!(board.averaged_by(Measure::Speed).next().is_some());
    assert!(board.averaged_by(Measure::RoundTrip).next().is_none());
}
