//! Tests of `--transport`: the same cases over Unix sockets and TCP.

use udpbench::results::row::{Reason, Row, Status};

use crate::common::transports::{SHORT, arrived_whole, engines_go_over};
use crate::common::{Place, assert_code, rows, stderr};

const ALL: &str = "--transport udp,unix-dgram,unix-stream,tcp";
/// Number of transports besides UDP.
const OTHERS: usize = 3;

fn sweep(place: &Place, options: &str) -> Vec<Row> {
    place.sweep(&format!("{SHORT} {options}"))
}

/// Checks that all cases ran, and that every message was received as it was sent.
fn hold(rows: &[Row], of_each: usize) {
    let (over_udp, over_others): (Vec<&Row>, Vec<&Row>) = rows
        .iter()
        .partition(|row| row.transport.to_string() == "udp");
    assert!(!over_udp.is_empty());
    assert_eq!(over_others.len(), OTHERS * of_each, "{rows:#?}");
    over_others.into_iter().for_each(arrived_whole);
}

#[test]
fn what_is_flooded_over_a_connection_arrives_whole() {
    let place = Place::new();
    let rows = sweep(
        &place,
        &format!(
            "{ALL} --engine std,tokio --threads 1,2,4 --payload 20,4000 --ip v4 --duration 150ms --verify"
        ),
    );
    // Two engines, three thread counts, two payloads.
    hold(&rows, 12);
}

#[test]
fn unix_sockets_have_no_ip_and_tcp_has_both() {
    let place = Place::new();
    let rows = sweep(
        &place,
        "--transport unix-stream,tcp --ip v4,v6 --engine std --threads 2 --payload 300 --duration 100ms",
    );
    let over = |transport: &str| {
        let over = rows
            .iter()
            .filter(|row| row.transport.to_string() == transport);
        over.collect::<Vec<_>>()
    };
    assert_eq!(over("unix-stream").len(), 1);
    let tcp = over("tcp");
    assert_eq!(tcp.len(), 2);
    for row in tcp {
        let has_no_v6 = row.status == Status::Skipped && row.case.key().contains("/v6/");
        assert!(
            row.status == Status::Ok || has_no_v6,
            "{}: {}",
            row.case.key(),
            row.reason
        );
    }
}

#[test]
fn what_is_asked_over_a_connection_is_answered() {
    let place = Place::new();
    let rows = sweep(
        &place,
        &format!(
            "{ALL} --workload rr --engine std,tokio --outstanding 1,4 --threads 2 --payload 300 --ip v4 --duration 200ms \
             --verify"
        ),
    );
    hold(&rows, 4);
    let asked = rows.iter().filter(|row| row.status == Status::Ok);
    for row in asked {
        assert!(row.answered_requests > Some(0), "{}", row.case.key());
        // A machine that stands still for long has its answers late; none gets lost.
        let late = row.late_responses.expect("requests were asked");
        assert!(
            row.unanswered_requests.is_some_and(|lost| lost <= late),
            "{}",
            row.case.key()
        );
    }
    place.has_them_made_again();
}

#[test]
fn both_directions_of_a_connection_are_flooded() {
    let place = Place::new();
    let rows = sweep(
        &place,
        &format!(
            "{ALL} --workload bidir --duplex full --engine std,tokio --threads 2 --payload 4000 --ip v4 --duration 200ms \
             --verify"
        ),
    );
    hold(&rows, 2);
}

#[test]
fn requests_at_a_rate_go_over_connections() {
    let place = Place::new();
    let rows = sweep(
        &place,
        &format!(
            "{ALL} --workload rr --rate 2k --engine std,tokio --threads 2 --payload 300 --ip v4 --duration 500ms --verify"
        ),
    );
    hold(&rows, 2);
}

#[test]
fn messages_longer_than_any_buffer_go_through_in_parts() {
    let place = Place::new();
    let rows = sweep(
        &place,
        "--transport unix-dgram,unix-stream,tcp --engine std,tokio --workload flood,rr --threads 2 --payload 1048576 \
         --ip v4 --duration 500ms --verify",
    );
    let (kept_apart, in_parts): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.transport.keeps_messages());
    assert_eq!((kept_apart.len(), in_parts.len()), (4, 8));
    for row in kept_apart {
        assert!(
            row.reason.to_string().contains("carries 65507 B at most"),
            "{}",
            row.reason
        );
    }
    for row in in_parts {
        assert_eq!(
            (row.status, &row.reason),
            (Status::Ok, &Reason::None),
            "{}",
            row.case.key()
        );
        assert_eq!(
            (row.unaccounted_packets, row.corrupted_packets),
            (Some(0), Some(0)),
            "{}",
            row.case.key()
        );
    }
}

#[test]
fn other_engines_go_over_connections_as_far_as_they_can() {
    let transports = "unix-dgram,unix-stream,tcp";
    engines_go_over("std,mio-exhaustive", transports, |_| false);
}

#[test]
fn what_goes_to_an_address_of_an_interface_arrives() {
    let place = Place::new();
    let rows = sweep(
        &place,
        "--transport udp,unix-stream,tcp --address loopback,local --engine std --threads 1,2,4 --payload 300 --ip v4 \
         --connection connected --duration 100ms",
    );
    // Unix sockets have no address.
    assert_eq!(rows.len(), 3 * 5);
    for row in &rows {
        let has_none = row
            .reason
            .to_string()
            .starts_with("no interface that is up has an IPv4 address");
        assert!(
            row.status == Status::Ok || has_none,
            "{}: {}",
            row.case.key(),
            row.reason
        );
        let is_local = row.address.to_string() == "local";
        assert_eq!(
            row.case.key().ends_with("/local"),
            is_local,
            "{}",
            row.case.key()
        );
    }
}

#[test]
fn receivers_of_connections_spin_and_engines_meet() {
    let place = Place::new();
    let rows = sweep(
        &place,
        "--transport unix-dgram,unix-stream,tcp --sender std --receiver std,tokio --wait spin --threads 2 \
         --payload 300 --ip v4 --duration 150ms --verify",
    );
    assert_eq!(rows.len(), 6);
    for row in &rows {
        assert_eq!(
            (row.status, &row.reason),
            (Status::Ok, &Reason::None),
            "{}",
            row.case.key()
        );
        assert_eq!(row.received_packets, row.sent_packets, "{}", row.case.key());
    }
    let output = place.run(&format!(
        "{SHORT} --transport tcp --engine tokio --tokio-workers 2 --threads 2,4 --payload 300 --ip v4 --duration 150ms \
         -o workers.csv"
    ));
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn what_does_not_go_over_a_transport_says_so() {
    let place = Place::new();
    let reason = |options: &str| {
        let output = place.run(&format!(
            "{SHORT} --ip v4 --duration 100ms {options} -o out.csv"
        ));
        assert_code(&output, 1);
        let reason = rows(&place.path("out.csv"))[0].reason.to_string();
        std::fs::remove_file(place.path("out.csv")).expect("it was written");
        std::fs::remove_file(place.path("out.jsonl")).expect("it was written");
        reason
    };
    for (options, expected) in [
        (
            "--transport tcp --engine mmsg --threads 2",
            "mmsg does not go over tcp here, std",
        ),
        (
            "--transport websocket --engine std --threads 2",
            "no engine here goes over websocket; it has a program of its own: in the repository",
        ),
        (
            "--transport tcp --engine std --threads 3",
            "an even number of --threads",
        ),
        (
            "--transport tcp --engine std --threads 2 --payload 0",
            "use a --payload of 1 or more",
        ),
        (
            "--transport unix-stream --engine std --threads 1 --payload 100000",
            "would wait for room",
        ),
        (
            "--transport tcp --engine std --threads 2 --flows 2",
            "leave out --flows",
        ),
        (
            "--transport tcp --engine std --threads 2 --tos 185",
            "use a multiple of 4",
        ),
        (
            "--transport tcp --engine std --workload rr --threads 2 --outstanding 64 --payload 4000",
            "use a smaller --outstanding or --payload",
        ),
        (
            "--transport unix-dgram --engine std --workload rr --threads 2 --outstanding 11 --payload 26",
            "use a smaller --outstanding or --payload",
        ),
    ] {
        let found = reason(options);
        assert!(found.contains(expected), "{options}: {found}");
    }
}
