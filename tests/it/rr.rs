//! Tests of `--workload rr`: clients send requests, servers respond, and round trips are timed.

use std::collections::BTreeSet;
use std::fs;

use udpbench::results::row::{Reason, Row, Status};

use crate::common::{Place, stderr, stdout};

const SHORT: &str = "--no-reference --heat 0s --warmup 5ms --rounds 5";

/// The rows of so long a sweep.
fn ask(place: &Place, duration: &str, options: &str) -> Vec<Row> {
    let sweep = format!("--workload rr {SHORT} --duration {duration}");
    place.sweep(&format!("{sweep} {options}"))
}

#[test]
fn every_engine_that_can_asks_and_answers() {
    let place = Place::new();
    let rows = ask(
        &place,
        "200ms",
        "--engine all --threads 2,3 --payload 300 --ip v4 --verify",
    );
    let mut answered = BTreeSet::new();
    for row in &rows {
        let case = &row.case.key();
        if row.status == Status::Skipped {
            assert_eq!(row.answered_requests, None, "{case}");
            continue;
        }
        assert_eq!(
            (row.status, &row.reason),
            (Status::Ok, &Reason::None),
            "{case}"
        );
        answered.insert(row.receiver.as_str());
        assert_eq!(row.unaccounted_packets, Some(0), "{case}");
        assert!(
            row.answered_requests > Some(0),
            "{case}: nothing was answered"
        );
        // On a busy machine a window may have no answers, and then there is no median.
        let times = [row.rtt_mean_us, row.rtt_max_us];
        assert!(times.iter().all(|us| *us > Some(0.0)), "{case}: {times:?}");
        assert!(row.rtt_p50_us <= row.rtt_max_us, "{case}: {times:?}");
        let wakeup = row.wakeup_p50_us;
        assert!(wakeup <= row.rtt_max_us, "{case}: {wakeup:?} {times:?}");
        assert!(wakeup.is_none() || row.receiver != "uring", "{case}");
        assert!(row.verified_packets > Some(0), "{case}");
    }
    let usual = [
        "std",
        "socket2",
        "nix",
        "poll",
        "epoll-drain",
        "mio-level",
        "mio-exhaustive",
    ];
    for engine in usual {
        assert!(answered.contains(engine), "{engine}: {answered:?}");
    }
    place.has_them_made_again();
}

#[test]
fn what_can_neither_ask_nor_answer_says_why() {
    let place = Place::new();
    let rows = ask(
        &place,
        "500ms",
        "--engine std,gso-gro,null --threads 1,2 --payload 7,300 --ip v4 --connection connected",
    );
    let reason = |case: &str| {
        let row = rows.iter().find(|row| row.case.key().starts_with(case));
        row.unwrap_or_else(|| panic!("no {case}"))
            .reason
            .to_string()
    };
    let reasons = [
        (
            "std:std/1t/300B",
            "one thread sends and receives in turn: use --threads 2 between hosts, and with --flows, --rate, --workload, --cmsg or a program",
        ),
        (
            "std:std/2t/7B",
            "a request holds its number: use a payload of 8 B or more",
        ),
        ("std:std/2t/300B", ""),
        ("null:null/2t/300B", "null moves no datagrams"),
    ];
    for (case, expected) in reasons {
        assert_eq!(reason(case), expected, "{case}");
    }
    assert!(reason("gso:gro/2t/300B").starts_with("gso gains by trains of datagrams"));
}

#[test]
fn requests_under_way_are_as_many_as_asked_for_and_parameters_of_floods_go_away() {
    let place = Place::new();
    let options = "--engine std,mmsg --threads 2 --payload 100 --ip v4 --connection connected";
    let rows = ask(
        &place,
        "500ms",
        &format!("{options} --outstanding 1,8 --batch 1,32"),
    );
    let cases: BTreeSet<String> = rows.iter().map(|row| row.case.key()).collect();
    let expected = [
        "mmsg:mmsg/2t/100B/connected/v4/rr",
        "mmsg:mmsg/2t/100B/connected/v4/rr/outstanding8",
        "std:std/2t/100B/connected/v4/rr",
        "std:std/2t/100B/connected/v4/rr/outstanding8",
    ];
    assert_eq!(Vec::from_iter(cases), expected);
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let place = Place::new();
    for (options, flag) in [
        ("--outstanding 8", "--outstanding 8: add --workload rr"),
        (
            "--workload bidir --rate 20k",
            "--rate 20000: bidir measures how fast both directions go at once",
        ),
        ("--service 1ms", "--service 1ms: add --workload rr"),
        ("--arrivals poisson", "--arrivals poisson: add --rate"),
        (
            "--workload rr --arrivals poisson",
            "--arrivals poisson: add --rate",
        ),
        (
            "--workload rr --rate 1k --outstanding 8",
            "--outstanding 8: leave it out",
        ),
    ] {
        let output = place.run(&format!("plan {options}"));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{options}: {said}");
        assert!(said.contains(flag), "{options}: {said}");
    }
    let output = place.run("ab -- --workload rr --rate 1k --engine std --threads 2");
    assert!(
        stderr(&output).contains("--rate 1000"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn requests_that_are_lost_are_given_up_and_the_accounting_closes() {
    let place = Place::new();
    // More is under way than the server's queue holds.
    let options = "--engine std --threads 2 --payload 8000 --ip v4 --connection connected \
                   --outstanding 1024 --rcvbuf 20000";
    let rows = ask(&place, "2s", options);
    let row = rows.first().expect("a row");
    assert_eq!(
        (row.status, row.unaccounted_packets),
        (Status::Ok, Some(0)),
        "{row:?}"
    );
    assert!(
        row.dropped_socket_packets > Some(0),
        "the queue is too short: {row:?}"
    );
    assert!(
        row.unanswered_requests > Some(0),
        "what was dropped has no answer: {row:?}"
    );
}

#[test]
fn requests_at_a_rate_are_sent_at_it_and_more_than_can_be_answered_has_no_round_trips() {
    let place = Place::new();
    let options = "--engine nix --threads 2 --payload 100 --ip v4 --connection connected \
                   --rate 1k,50M --arrivals even,poisson";
    let rows = ask(&place, "1500ms", options);
    assert_eq!(rows.len(), 4);
    for row in &rows {
        let case = &row.case.key();
        assert_eq!(
            (row.status, row.unaccounted_packets),
            (Status::Ok, Some(0)),
            "{case}"
        );
        let rate = f64::from(u32::from(row.target_pps.expect("a rate")));
        let warned = row.warnings.iter();
        let warned = warned.filter(|it| it.code() == "above-capacity");
        let is_overloaded = warned.count() > 0;
        // On a busy machine, anything may be.
        assert!(is_overloaded || rate < 1e6, "{case}: {:?}", row.warnings);
        assert_eq!(row.rtt_p50_us.is_none(), is_overloaded, "{case}");
        assert_eq!(row.ratio_to_std, None, "{case}");
        let answered = row.received_pps.expect("a rate");
        // At random: 300 in a window, so six standard deviations are a third.
        assert!(
            is_overloaded || (answered / rate - 1.0).abs() < 0.34,
            "{case}: {answered}"
        );
    }
    // What was asked for is no result: round trips are, unless it was too much.
    fs::copy(place.path("out.jsonl"), place.path("new.jsonl")).expect("copied");
    for (command, expected) in [
        ("rank out.csv", "only nix was measured, and overloaded"),
        ("compare out.csv new.jsonl", "at a given rate"),
    ] {
        let output = place.run(command);
        let said = stdout(&output) + &stderr(&output);
        // Other tests may take the CPUs.
        let is_disturbed = said.contains("other programs took the CPUs");
        assert!(is_disturbed || said.contains(expected), "{command}: {said}");
    }
}

#[test]
fn a_server_with_work_to_do_answers_so_much_later() {
    let place = Place::new();
    let options = "--engine std --threads 2 --payload 100 --ip v4 --connection connected \
                   --service 2ms,sleep:3ms";
    let rows = ask(&place, "500ms", options);
    assert_eq!(rows.len(), 2);
    for row in &rows {
        let service = row.service_time.expect("it has one");
        let least_us = service.ns as f64 / 1000.0;
        assert!(row.rtt_p50_us >= Some(least_us), "{service}: {row:?}");
    }
}

#[test]
fn the_table_shows_round_trips() {
    let place = Place::new();
    let output = place.run(&format!(
        "--workload flood,rr {SHORT} --duration 100ms --engine std --threads 2 --payload 100 --ip v4 -o out.csv"
    ));
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    let (flood, ask) = text.split_once("p50 us").expect("a second table");
    assert!(flood.contains("Mb/s") && !ask.contains("tx ns"), "{text}");
    assert!(ask.contains("workload rr"), "{text}");
}

#[test]
fn threads_beside_the_loop_wait_for_many_at_a_time() {
    let place = Place::new();
    let options =
        "--engine std,epoll-level,tokio --threads 2 --payload 100 --ip v4 --connection connected";
    let rows = ask(
        &place,
        "1s",
        &format!(
            "{options} --outstanding 32 --service sleep:2ms --server-model inline,pool,spawn-blocking --verify"
        ),
    );
    let rate = |engine: &str, model: &str| {
        let is_it = |row: &&Row| {
            let is_model = row
                .server_model
                .is_some_and(|of_row| of_row.to_string() == model);
            row.receiver == engine && is_model
        };
        let row = rows.iter().find(is_it)?;
        assert_eq!(row.corrupted_packets.unwrap_or(0), 0, "{}", row.case.key());
        assert_eq!(
            row.unaccounted_packets.unwrap_or(0),
            0,
            "{}",
            row.case.key()
        );
        row.received_pps
    };
    for engine in ["std", "epoll-level"] {
        let (inline, pool) = (rate(engine, "inline"), rate(engine, "pool"));
        let (inline, pool) = inline.zip(pool).expect("both ran");
        // 32 are outstanding: one after the other takes many times as long.
        assert!(pool > inline, "{engine}: {inline} and {pool} per second");
        assert_eq!(rate(engine, "spawn-blocking"), None);
    }
    if let Some(inline) = rate("tokio", "inline") {
        let spawned = rate("tokio", "spawn-blocking").expect("tokio has threads for it");
        assert!(spawned > inline, "{inline} and {spawned} per second");
    }
    let reason = "std has no threads for what blocks: use --server-model pool, or tokio";
    assert!(
        rows.iter().any(|row| row.reason.to_string() == reason),
        "{reason}"
    );
}

#[test]
fn flows_that_threads_answer_beside_the_loop_are_all_counted() {
    let place = Place::new();
    let options =
        "--engine epoll-level,tokio --threads 2 --payload 100 --ip v4 --connection connected";
    let models = "--flows 20 --service sleep:1ms --server-model pool,spawn-blocking --verify";
    for row in ask(&place, "1s", &format!("{options} {models}")) {
        let is_had =
            !row.reason.to_string().contains("cannot run here") && row.status != Status::Skipped;
        if is_had {
            assert_eq!(
                (row.status, &row.reason),
                (Status::Ok, &Reason::None),
                "{}",
                row.case.key()
            );
            assert_eq!(row.unaccounted_packets, Some(0), "{}", row.case.key());
            assert_eq!(row.corrupted_packets, Some(0), "{}", row.case.key());
        }
    }
}
