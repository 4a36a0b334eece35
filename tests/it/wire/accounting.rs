//! Accounting of `udpbench wire` over ssh: every lost datagram is reported at the place that dropped it.

use udpbench::results::row::{Row, Status};

use crate::common::lab::{End, Lab};
use crate::common::swept::{SHORT, Swept, lost, sweep};
use crate::common::{Place, rows, stderr};

#[test]
fn a_plain_cable_loses_nothing_in_either_direction() {
    let words = "--threads 2 --payload 300 --engine std,mmsg,mio-level --ip v4,v6 --connection connected,unconnected";
    let Some(swept) = Swept::over(Lab::builder(), words) else {
        return;
    };
    assert_eq!(swept.rows.len(), 2 * 3 * 2 * 2);
    for row in &swept.rows {
        assert_eq!(lost(row), [0; 8], "{row:?}");
        assert!(row.received_packets > Some(0), "{row:?}");
        assert!(row.nic.is_veth && row.remote_nic.is_veth);
    }
}

#[test]
fn both_directions_at_once_and_requests_close_their_accounting() {
    for words in [
        "--direction both --engine std,tokio --threads 4",
        "--direction up,down --workload rr --engine std --threads 2",
        "--direction up --workload bidir --engine std --threads 2",
        "--direction down --engine tokio --flows 20 --threads 2",
    ] {
        let words = &format!("{words} --payload 300");
        let Some(swept) = Swept::over(Lab::builder(), words) else {
            return;
        };
        for row in &swept.rows {
            assert_eq!(lost(row), [0; 8], "{words}: {row:?}");
        }
    }
}

/// A full queue here is 50 ms long, and most messages would be lost in it.
#[test]
fn what_fills_the_queue_that_ssh_needs_does_not_end_the_sweep() {
    let lab = Lab::builder().tbf(End::Near, "2736kbit burst 10kb limit 17100");
    let Some(lab) = lab.start() else {
        return;
    };
    let place = Place::new();
    let words = "--no-reference --heat 0s --pin 0:1 --direction up --threads 2 --payload 300 --engine std,mmsg \
                 --rounds 5 --duration 2500ms -q -o out.csv";
    let output = sweep(&lab, &place, words);
    assert!(output.status.success(), "{}", stderr(&output));
    for row in rows(&place.path("out.csv")) {
        assert_eq!(row.status, Status::Ok, "{row:?}");
        assert_eq!(row.unaccounted_packets, Some(0), "{row:?}");
        assert!(row.dropped_qdisc_packets > Some(0), "{row:?}");
    }
}

#[test]
fn what_a_queueing_discipline_has_no_room_for_is_what_it_counts() {
    let engines =
        "--direction up --threads 2 --payload 300 --engine std,mmsg,uring,mio-exhaustive,tokio";
    let lab = Lab::builder().tbf(End::Near, "20mbit burst 10kb limit 30kb");
    let Some(swept) = Swept::over(lab, engines) else {
        return;
    };
    let mut all = 0;
    for row in &swept.rows {
        let [unknown, qdisc, rest @ ..] = lost(row);
        assert_eq!((unknown, rest), (0, [0; 6]), "{row:?}");
        assert_eq!(row.failed_calls, Some(0), "{row:?}");
        all += qdisc;
    }
    // ssh goes through the same queue, and waits where it is full.
    let counted = swept.lab.qdisc(End::Near)["drops"].as_u64();
    let counted = counted.expect("a counter");
    assert!(all > 1000, "{all}");
    assert!((all..=all + 50).contains(&counted), "{all}, {counted}");
}

#[test]
fn what_finds_no_room_at_a_socket_is_the_sockets() {
    let words = "--direction up,down --threads 2 --payload 300 --rcvbuf 2048 --engine mmsg";
    let Some(swept) = Swept::over(Lab::builder(), words) else {
        return;
    };
    for row in &swept.rows {
        assert!(row.dropped_socket_packets > Some(0), "{row:?}");
        assert_eq!(lost(row), [0; 8], "{row:?}");
    }
}

/// Requests that are never more than a device has room for: it drops none, neither ours nor those of ssh.
const FEW: &str =
    "--direction up --workload rr --outstanding 8 --engine std --threads 2 --payload 300";

#[test]
fn what_the_path_does_to_each_datagram_is_found_in_its_place() {
    // Probes and ssh do not count. A slow machine sends no more than a thousand.
    for (rules, place, times) in [
        ("a>b drop 3,5-7,100-109", 3, 14),
        ("a>b misdirect 11-15,200", 7, 6),
    ] {
        let lab = Lab::builder().test_wire(&format!("count size 300; {rules}"));
        let Some(swept) = Swept::over(lab, FEW) else {
            return;
        };
        let (row, report) = (swept.the_row(), swept.lab.report());
        let mut expected = [0; 8];
        expected[place] = times;
        assert_eq!(lost(row), expected, "{rules}: {report}");
        assert_eq!(row.unexpected_packets, Some(0));
        let seen = ["a>b", "b>a"].map(|way| report[way]["datagrams"]["seen"].as_u64());
        let seen = seen.into_iter().map(|seen| seen.expect("a count")).sum();
        assert_eq!(row.sent_packets, Some(seen), "{rules}: {report}");
    }
}

#[test]
fn what_comes_twice_was_never_sent_twice() {
    let lab = Lab::builder().test_wire("count size 300; b>a duplicate 4,100-108");
    let Some(swept) = Swept::over(lab, FEW) else {
        return;
    };
    let row = swept.the_row();
    assert_eq!(row.unexpected_packets, Some(10), "{}", swept.lab.report());
    assert_eq!((lost(row), row.late_responses), ([0; 8], Some(10)));
}

#[test]
fn a_payload_above_the_mtu_is_said_to_be_cut() {
    let Some(swept) = Swept::over(
        Lab::builder().mtu(1400),
        "--direction up --threads 2 --payload 1372,1373 --engine std",
    ) else {
        return;
    };
    let mut rows = swept.rows.iter();
    let of = |bytes: u32| move |row: &&Row| u32::from(row.payload_bytes) == bytes;
    let says = |row: &Row| row.warnings.iter().any(|it| it.code() == "fragments");
    assert!(!says(rows.clone().find(of(1372)).expect("a row")));
    assert!(says(rows.find(of(1373)).expect("a row")));
}

#[test]
fn what_the_path_takes_whole_is_found_where_it_is_less_than_the_interfaces_do() {
    let Some(lab) = Lab::builder().test_wire("a>b drop size 1301-").start() else {
        return;
    };
    let place = Place::new();
    // At a rate: a device that is full for seconds has no room for what ssh says, either.
    let words = "--direction up --threads 2 --payload 1300,1301 --engine gso-gro --rate 2k";
    let output = sweep(&lab, &place, &format!("{SHORT} --duration 100ms {words}"));
    let said = stderr(&output);
    assert!(
        said.contains("payloads of more than 1300 B do not get to 10.77.0.2 unfragmented"),
        "{said}"
    );
    for row in rows(&place.path("out.csv")) {
        if u32::from(row.payload_bytes) == 1300 {
            assert_eq!(row.status, Status::Ok, "{row:?}");
        } else {
            assert_eq!(row.status, Status::Skipped, "{row:?}");
            assert!(row.reason.to_string().contains("1300 B at most"), "{row:?}");
        }
    }
}

#[test]
fn the_way_back_is_tried_as_well() {
    let Some(lab) = Lab::builder().test_wire("b>a drop size 1301-").start() else {
        return;
    };
    let place = Place::new();
    let words = "--direction down --threads 2 --payload 1300,1301 --engine gso-gro --rate 2k";
    let output = sweep(&lab, &place, &format!("{SHORT} --duration 100ms {words}"));
    let said = stderr(&output);
    let expected =
        "payloads of more than 1300 B do not get to 10.77.0.1 unfragmented from 10.77.0.2";
    assert!(said.contains(expected), "{said}");
    for row in rows(&place.path("out.csv")) {
        let is_whole = u32::from(row.payload_bytes) == 1300;
        assert_eq!(row.status == Status::Ok, is_whole, "{row:?}");
        assert!(
            is_whole || row.reason.to_string().contains("1300 B at most"),
            "{row:?}"
        );
    }
}

#[test]
fn the_kernel_gives_its_own_reasons_beside_the_accounting() {
    let lab = Lab::builder().tbf(End::Near, "20mbit burst 10kb limit 30kb");
    let words = "--direction up --threads 2 --payload 300 --engine std --drop-reasons";
    let Some(swept) = Swept::over(lab, words) else {
        return;
    };
    let row = swept.the_row();
    let qdisc = row.dropped_qdisc_packets.expect("measured");
    if row.drop_reasons.is_empty() {
        eprintln!("SKIPPED: this kernel gives no reasons");
        return;
    }
    let told = row
        .drop_reasons
        .split_once("QDISC_DROP ")
        .expect("it is one");
    let digits = told.1.split(|letter: char| !letter.is_ascii_digit()).next();
    let told: u64 = digits.expect("a number").parse().expect("a number");
    // Those of ssh among them.
    assert!((qdisc..=qdisc + 50).contains(&told), "{row:?}");
}
