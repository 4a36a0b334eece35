//! Tests of `--rate`: paced floods.

use std::collections::BTreeSet;
use std::fs;

use udpbench::results::row::{Reason, Row, Status};

use crate::common::{Place, stderr, stdout};

const SHORT: &str = "--no-reference --heat 0s --warmup 20ms --rounds 5 --duration 500ms";

fn rows(place: &Place, options: &str) -> Vec<Row> {
    place.sweep(&format!("{SHORT} {options}"))
}

/// The most that may have been sent in all windows of a row: what is due in them, and what was due in the warm-up and
/// went later, as a busy machine may hold a thread up for long; what goes until it stops; and a burst at each edge.
/// That no more goes than is due holds from the start of a thread on: the test of `PacedFlood` has that.
fn most(row: &Row) -> f64 {
    const HELD_UP_S: f64 = 0.3;
    let rounds = f64::from(row.rounds);
    let seconds = rounds * (row.window_ms.expect("it was measured") / 1e3 + HELD_UP_S);
    let rate = f64::from(u32::from(row.target_pps.expect("a rate")));
    // A train of segments is the longest.
    let burst = 128.0;
    rate * seconds + rounds * row.senders as f64 * 2.0 * burst
}

#[test]
fn every_engine_that_floods_keeps_to_a_rate() {
    let place = Place::new();
    let rows = rows(
        &place,
        "--engine all --threads 2,3 --payload 100 --ip v4 --rate 20k --verify",
    );
    let mut sent = BTreeSet::new();
    for row in &rows {
        let case = &row.case.key();
        if row.status == Status::Skipped {
            assert_eq!(row.late_packets, None, "{case}");
            continue;
        }
        assert_eq!(
            (row.status, &row.reason),
            (Status::Ok, &Reason::None),
            "{case}"
        );
        assert_eq!(row.unaccounted_packets, Some(0), "{case}");
        assert_eq!(row.ratio_to_std, None, "{case}");
        assert!(
            row.late_packets.is_some() && row.verified_packets > Some(0),
            "{case}"
        );
        let packets = row.sent_packets.expect("it was measured") as f64;
        assert!(
            packets > 0.0 && packets <= most(row),
            "{case}: {packets} of {}",
            most(row)
        );
        // A busy machine may send fewer, and then says so.
        let said = row.warnings.iter().any(|it| it.code() == "rate-not-kept");
        let seconds = f64::from(row.rounds) * row.window_ms.expect("it was measured") / 1e3;
        let bursts = 5.0 * 2.0 * 128.0 * row.senders as f64;
        assert!(
            said || packets > 0.9 * 20_000.0 * seconds - bursts,
            "{case}: {packets}"
        );
        assert!(
            ["kernel", "calls"].contains(&row.gap_source.as_str()),
            "{case}"
        );
        assert!(row.gap_max_us > Some(0.0), "{case}");
        assert!(
            row.gap_p50_us <= row.gap_p99_us || row.gap_p99_us.is_none(),
            "{case}"
        );
        assert!(row.gap_p99_us <= row.gap_max_us, "{case}");
        assert!(row.jitter_us >= Some(0.0), "{case}: {:?}", row.jitter_us);
        let is_reordered = row.reordered_packets > Some(0);
        assert_eq!(is_reordered, row.reordering_extent > Some(0), "{case}");
        sent.insert(row.sender.as_str());
    }
    for engine in [
        "std",
        "socket2",
        "nix",
        "mmsg",
        "gso",
        "mio-exhaustive",
        "tokio",
    ] {
        assert!(
            sent.contains(engine) || !cfg!(feature = "tokio"),
            "{engine}: {sent:?}"
        );
    }
    place.has_them_made_again();
}

#[test]
fn a_rate_in_bits_is_one_of_payload() {
    let place = Place::new();
    let rows = rows(
        &place,
        "--engine std --threads 2 --payload 100,500 --ip v4 --connection connected --rate 800kbit,1k \
         --arrivals even,poisson",
    );
    let asked = |case: &str| {
        let found = rows.iter().find(|row| row.case.key() == case);
        let rate = found.unwrap_or_else(|| panic!("no {case}")).target_pps;
        u32::from(rate.expect("a rate"))
    };
    for (case, rate) in [
        ("std:std/2t/100B/connected/v4/rate800kbit", 1000),
        ("std:std/2t/500B/connected/v4/rate800kbit", 200),
        ("std:std/2t/500B/connected/v4/rate1000/poisson", 1000),
    ] {
        assert_eq!(asked(case), rate, "{case}");
    }
    assert_eq!(rows.len(), 8);
    place.has_them_made_again();
}

#[test]
fn what_cannot_go_at_a_rate_says_why() {
    let place = Place::new();
    let rows = rows(
        &place,
        "--engine std --threads 1,2 --payload 0,100 --ip v4 --connection connected --rate 10bit,1k",
    );
    let reason = |case: &str| {
        let row = rows.iter().find(|row| row.case.key() == case);
        row.unwrap_or_else(|| panic!("no {case}"))
            .reason
            .to_string()
    };
    for (case, expected) in [
        (
            "std:std/1t/100B/connected/v4/rate1000",
            "one thread sends and receives in turn: use --threads 2 between hosts, and with --flows, --rate, --workload, --cmsg or a program",
        ),
        (
            "std:std/2t/0B/connected/v4/rate10bit",
            "--rate 10bit: datagrams without payload have no bits of it; use a rate in datagrams, such as 20k",
        ),
        (
            "std:std/2t/100B/connected/v4/rate10bit",
            "--rate 10bit is 0.013 datagrams of 100 B per second: use a rate that makes 1 to 100000000",
        ),
        ("std:std/2t/0B/connected/v4/rate1000", ""),
    ] {
        assert_eq!(reason(case), expected, "{case}");
    }
}

#[test]
fn many_flows_share_the_rate_of_their_thread() {
    let place = Place::new();
    let rows = rows(
        &place,
        "--engine poll,epoll-drain --threads 2 --payload 100 --ip v4 --connection connected --flows 10 --rate 2k",
    );
    for row in &rows {
        let case = &row.case.key();
        assert_eq!(
            (row.status, &row.reason),
            (Status::Ok, &Reason::None),
            "{case}"
        );
        let packets = row.sent_packets.expect("it was measured") as f64;
        assert!(packets > 0.0 && packets <= most(row), "{case}: {packets}");
        assert_eq!(row.starved_flows, Some(0), "{case}");
    }
    place.has_them_made_again();
}

#[test]
fn speed_at_a_rate_is_not_compared_but_cpu_time_is_ranked() {
    let place = Place::new();
    let options = "--engine std --threads 2 --payload 100 --ip v4 --connection connected --rate 1k";
    rows(&place, options);
    fs::copy(place.path("out.jsonl"), place.path("new.jsonl")).expect("copied");
    let output = place.run("compare out.csv new.jsonl");
    let said = stdout(&output) + &stderr(&output);
    assert!(said.contains("at a given rate"), "{said}");

    let both = options.replace("--engine std", "--engine std,mmsg");
    let output = place.run(&format!("{SHORT} {both} -o both.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    let ranking = stdout(&place.run("rank both.csv"));
    assert!(
        ranking.contains("Least CPU time per datagram: "),
        "{ranking}"
    );
}
