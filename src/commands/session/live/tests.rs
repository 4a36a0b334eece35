//! Tests of the live table with made-up windows.

use super::*;
use crate::data::{Accounting, Connection, EngineName, Side, ThreadSample};
use crate::results::row::tests::case;
use crate::sys::idle_states::IdleTimes;
use crate::sys::sensors::SensorReadings;

fn cases() -> Vec<Case> {
    let named = |name| {
        let engine = EngineName::new(name);
        Case {
            sender: engine,
            receiver: engine,
            ..case()
        }
    };
    let connected = ["std", "mmsg", "nix", "mio-exhaustive"].map(named);
    let unconnected = connected.map(|case| Case {
        connection: Connection::Unconnected,
        ..case
    });
    connected.into_iter().chain(unconnected).collect()
}

/// Returns a window of 100 ms with this number of received datagrams.
fn window(case: &Case, received_packets: u64) -> Sample {
    let thread = ThreadSample {
        received_packets,
        ..ThreadSample::zero(Side::Receiver)
    };
    Sample {
        case: case.key(),
        round: 1,
        position: 1,
        opened_unix_ms: 0,
        window_ns: 100_000_000,
        threads: vec![thread],
        other_cpu_ns: None,
        coordinator_cpu_ns: None,
        power_uw: None,
        paths: Vec::new(),
        accounting: Accounting::default(),
        rcvbuf_bytes: 0,
        sndbuf_bytes: 0,
        climate: SensorReadings {
            first_millic: None,
            last_millic: None,
            hottest_millic: None,
            throttle_bits: None,
            under_voltage: None,
            cooling: None,
            lowest_khz: None,
        },
        idle_times: IdleTimes::default(),
        round_trips: None,
        pacing: None,
        busy_polled: None,
        flow_packets: Vec::new(),
        verified: None,
    }
}

/// Returns a table after three rounds of a block, without its last case, and one round of an earlier block.
fn live() -> Live {
    let mut live = Live::default();
    let v6 = |case| Case {
        ip: crate::data::Ip::V6,
        ..case
    };
    let before: Vec<Case> = cases().into_iter().map(v6).collect();
    live.block(&before[0].block(), &before);
    for (case, pps) in before.iter().zip([80_000, 160_000, 40_000]) {
        live.window(&window(case, pps));
    }
    let cases = cases();
    live.block(&case().block(), &cases);
    let (_, measured) = cases.split_last().expect("several");
    for round in 0..3 {
        for (n, case) in (0..).zip(measured) {
            live.window(&window(case, 80_000 - 9_000 * n + 1_500 * round));
        }
    }
    live
}

fn fits(live: &Live, width: u16, height: u16) {
    let lines = live.draw(width, height);
    assert!(lines.len() <= usize::from(height), "{lines:#?}");
    for line in lines {
        assert!(line.chars().count() <= usize::from(width), "{line}");
    }
}

#[test]
fn the_cases_of_the_block_in_hand_have_their_speeds() {
    insta::assert_snapshot!(live().draw(80, 24).join("\n"));
}

#[test]
fn a_small_serial_console_gets_what_fits() {
    insta::assert_snapshot!(live().draw(40, 10).join("\n"));
}

#[test]
fn the_table_fits_whatever_the_size() {
    for width in [0, 1, 20, 40, 71, 72, 80, 200] {
        for height in [0, 1, 2, 3, 4, 10, 13, 14, 15, 24] {
            fits(&live(), width, height);
        }
    }
}

#[test]
fn before_the_first_window_there_are_names_and_before_the_first_block_nothing() {
    let mut live = Live::default();
    assert_eq!(live.draw(80, 24), Vec::<String>::new());
    live.block(&case().block(), &[]);
    assert_eq!(live.draw(80, 24), ["-- 2 threads, 300 B, v4"]);
    live.block(&case().block(), &[case()]);
    assert_eq!(live.draw(80, 24)[1], "std                conn");
}

#[test]
fn strange_windows_are_nobodys() {
    let mut live = live();
    let other = Case {
        payload: 26.try_into().expect("in range"),
        ..case()
    };
    live.block(&other.block(), &[other]);
    live.window(&window(&case(), 1000));
    let lines = live.draw(80, 24);
    assert_eq!(
        lines[..2],
        ["-- 2 threads, 26 B, v4", "std                conn"]
    );
    live.window(&window(&other, 0));
    assert!(live.draw(80, 24)[1].contains("0.0 kpps"));
}
