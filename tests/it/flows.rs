//! Tests of `--flows`: many sockets in one thread.

use std::collections::BTreeSet;

use udpbench::results::row::{Reason, Row, Status};

use crate::common::Place;

const SHORT: &str = "--no-reference --heat 0s --warmup 5ms --rounds 5 --ip v4";
const UNCONNECTED: &str = "--connection unconnected --payload 100";
const ONE: &str = "--connection connected --payload 100 --threads 2";

/// The rows of a sweep.
fn sweep(place: &Place, options: &str) -> Vec<Row> {
    place.sweep(&format!("{SHORT} {options}"))
}

/// Returns the engines that ran, and checks that their accounting closes and that all flows were served.
fn served(rows: &[Row]) -> BTreeSet<&str> {
    let ran = rows.iter().filter(|row| row.status != Status::Skipped);
    ran.map(|row| {
        let case = &row.case.key();
        assert_eq!(
            (row.status, &row.reason),
            (Status::Ok, &Reason::None),
            "{case}"
        );
        assert_eq!(row.unaccounted_packets, Some(0), "{case}");
        assert_eq!(row.starved_flows, Some(0), "{case}");
        let (slowest, fastest) = (row.slowest_flow_pps, row.fastest_flow_pps);
        assert!(slowest > Some(0.0) && slowest <= fastest, "{case}");
        assert!(row.jains_index > Some(0.3), "{case}: {:?}", row.jains_index);
        row.receiver.as_str()
    })
    .collect()
}

/// Engines that are in every build and serve many sockets.
const MANY: [&str; 7] = [
    "spin",
    "poll",
    "epoll-level",
    "epoll-drain",
    "mio-level",
    "mio-exhaustive",
    "mio-eager",
];

#[test]
fn every_engine_that_waits_for_many_sockets_serves_them_all() {
    let place = Place::new();
    let rows = sweep(
        &place,
        "--engine all --threads 2,3 --payload 100 --flows 7 --duration 400ms --verify",
    );
    let served = served(&rows);
    for engine in MANY {
        assert!(served.contains(engine), "{engine}: {served:?}");
    }
    for row in &rows {
        assert!(row.case.key().ends_with("/flows7"), "{}", row.case.key());
        assert_eq!(row.sharing, None, "each has a port");
        if row.status == Status::Ok {
            assert!(row.verified_packets > Some(0), "{}", row.case.key());
            assert_eq!(row.corrupted_packets, Some(0), "{}", row.case.key());
        }
    }
    place.has_them_made_again();
}

#[test]
fn clients_ask_over_each_of_their_flows() {
    let place = Place::new();
    let rows = sweep(
        &place,
        "--workload rr --engine all --threads 2,3 --payload 100 --flows 7 --duration 400ms --verify",
    );
    let served = served(&rows);
    for engine in MANY {
        assert!(served.contains(engine), "{engine}: {served:?}");
    }
    let answered = rows.iter().filter(|row| row.status == Status::Ok);
    for row in answered {
        assert!(row.verified_packets > Some(0), "{}", row.case.key());
        assert_eq!(row.corrupted_packets, Some(0), "{}", row.case.key());
    }
}

#[test]
fn requests_at_a_rate_go_round_the_flows() {
    let place = Place::new();
    let rows = sweep(
        &place,
        &format!(
            "--workload rr --rate 2k {ONE} --engine epoll-level,tokio --flows 5 --duration 1s --verify"
        ),
    );
    let served = served(&rows);
    assert!(served.contains("epoll-level"), "{served:?}");
    for row in rows.iter().filter(|row| row.status == Status::Ok) {
        assert_eq!(row.corrupted_packets, Some(0), "{}", row.case.key());
    }
}

#[test]
fn a_server_that_is_not_connected_answers_all_its_clients_over_one_socket() {
    let place = Place::new();
    let rows = sweep(
        &place,
        &format!(
            "--workload rr --sender epoll-level --receiver std,mio-level,tokio {UNCONNECTED} --threads 2,3 --flows 50 \
             --duration 400ms --verify"
        ),
    );
    assert!(served(&rows).contains("std"), "{rows:?}");
    for row in rows.iter().filter(|row| row.status == Status::Ok) {
        assert_eq!(row.corrupted_packets, Some(0), "{}", row.case.key());
    }
    let alone = place.run(&format!(
        "{SHORT} --workload rr --engine std {UNCONNECTED} --threads 2 --flows 2 --duration 200ms -o alone.csv"
    ));
    assert_eq!(alone.status.code(), Some(1), "nothing could run");
    let reason = crate::common::rows(&place.path("alone.csv"))[0]
        .reason
        .to_string();
    assert!(reason.contains("it can be the --receiver"), "{reason}");
}

#[test]
fn what_serves_one_socket_says_so() {
    let place = Place::new();
    let options = "--connection connected --payload 100 --flows 10 --duration 200ms";
    let rows = sweep(
        &place,
        &format!("{options} --engine std,null,epoll-level --threads 1,2"),
    );
    let reason = |case: &str| {
        let row = rows.iter().find(|row| row.case.key().starts_with(case));
        row.unwrap_or_else(|| panic!("no {case}"))
            .reason
            .to_string()
    };
    let alone = "one thread sends and receives in turn: use --threads 2 between hosts, and with --flows, --rate, --workload, --cmsg or a program";
    for (case, expected) in [
        (
            "std:std/2t",
            "std serves one socket per thread: its calls wait for that one alone",
        ),
        (
            "null:null/2t",
            "null serves one socket per thread: its calls wait for that one alone",
        ),
        ("epoll-level:epoll-level/1t", alone),
        ("epoll-level:epoll-level/2t", ""),
    ] {
        assert_eq!(reason(case), expected, "{case}");
    }
}

#[test]
fn a_thousand_flows_are_served_by_two_threads() {
    let place = Place::new();
    let rows = sweep(
        &place,
        &format!("{ONE} --engine epoll-level --flows 2,1000 --duration 500ms"),
    );
    let mut rows = rows;
    // An emulated kernel.
    rows.retain(|row| {
        !row.reason
            .to_string()
            .starts_with("this kernel lists the drops")
    });
    assert_eq!(served(&rows).len(), 1);
}
