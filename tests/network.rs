//! Loopbacks that lose datagrams on the way: in network namespaces of their own, where a queueing discipline or
//! a firewall drops them. Skipped, loudly, where this user may not have such a namespace.

mod common;

use std::process::{Command, Output};

use common::{Place, lines, program, rows, samples, stderr};
use udpbench::log::Event;
use udpbench::row::{Row, Status};

const FLOOD: &str = "--sender std --receiver std --no-reference --threads 2 --payload 300 --ip v4 --soak 0s \
                     --duration 300ms --rounds 5 -q -o out.csv";

/// Runs the program where `setup`, in a shell, has made the loopback what it is. `None`: it cannot be made so.
fn flood(place: &Place, setup: &str, arguments: &str) -> Option<Output> {
    const NO_NAMESPACE: i32 = 99;
    let script = format!(
        "ip link set lo up && {setup} || exit {NO_NAMESPACE}; exec \"$@\" {FLOOD} {arguments}"
    );
    let program = program();
    let mut unshare = Command::new("unshare");
    unshare.args(["--map-root-user", "--net", "sh", "-c", &script, "sh"]);
    unshare.arg(program.get_program()).args(program.get_args());
    unshare.current_dir(place.path("."));
    let output = unshare.output().ok()?;
    let said = stderr(&output);
    if output.status.code() == Some(NO_NAMESPACE) || said.starts_with("unshare:") {
        eprintln!("SKIPPED: no namespace with `{setup}`: {said}");
        return None;
    }
    Some(output)
}

fn the_row(place: &Place) -> Row {
    let mut rows = rows(&place.path("out.csv"));
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

#[test]
fn what_a_queueing_discipline_dropped_in_the_warm_up_is_not_the_windows() {
    let setup = "tc qdisc add dev lo root tbf rate 20mbit burst 10kb limit 30kb";
    for connection in ["connected", "unconnected"] {
        let place = Place::new();
        let arguments = format!("--warmup 100ms --connection {connection}");
        let Some(output) = flood(&place, setup, &arguments) else {
            return;
        };
        let row = the_row(&place);
        assert_eq!(row.status, Status::Ok, "{row:?} {}", stderr(&output));
        // The two columns count the same datagrams, to within the 30 kB at each edge of a window.
        let received = row.received_packets.expect("measured");
        let lanes = samples(&place.path("out.jsonl")).into_iter();
        let taken: u64 = lanes
            .flat_map(|sample| sample.lanes)
            .map(|lane| lane.received_packets)
            .sum();
        assert!(
            taken > 0 && received.abs_diff(taken) < 5 * 2 * 120,
            "{row:?}"
        );
        assert!(row.dropped_kernel_packets > Some(0), "{row:?}");
    }
}

#[test]
fn what_a_firewall_rejects_is_dropped_in_the_kernel_after_any_warm_up() {
    let setup = "iptables -A INPUT -p udp -m statistic --mode nth --every 10 -j REJECT";
    for (warmup, connection) in [
        ("5ms", "connected"),
        ("300ms", "connected"),
        ("300ms", "unconnected"),
    ] {
        let place = Place::new();
        let arguments = format!("--warmup {warmup} --connection {connection}");
        let Some(output) = flood(&place, setup, &arguments) else {
            return;
        };
        let row = the_row(&place);
        assert_eq!(row.status, Status::Ok, "{row:?} {}", stderr(&output));
        let part = |packets: Option<u64>| packets.expect("measured") as f64;
        let rejected = part(row.dropped_kernel_packets) / part(row.sent_packets);
        assert!(
            (0.08..0.12).contains(&rejected),
            "{warmup}, {connection}: {row:?}"
        );
        assert_eq!(row.unaccounted_packets, Some(0), "{row:?}");
    }
}

#[test]
fn a_window_whose_packet_counts_do_not_add_up_is_measured_once_more() {
    // Silent: no counter of the kernel says so.
    let setup = "iptables -A INPUT -p udp -m statistic --mode nth --every 10 -j DROP";
    let place = Place::new();
    let Some(output) = flood(&place, setup, "--warmup 5ms --connection connected") else {
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let row = the_row(&place);
    assert_eq!((row.status, row.rounds), (Status::Failed, 5), "{row:?}");
    assert_eq!(row.repeated_windows, Some(5), "{row:?}");
    let mut rounds = Vec::new();
    for line in lines(&place.path("out.jsonl")) {
        if let Event::Repeated { round, sample, .. } = line {
            assert!(sample.is_some_and(|sample| !sample.is_sound()));
            rounds.push(round);
        }
    }
    assert_eq!(rounds, [1, 2, 3, 4, 5]);
}
