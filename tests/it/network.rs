//! Loopbacks that lose datagrams, in network namespaces of their own where a queueing discipline or a firewall drops
//! them. Skipped with a message if the user may not create a namespace.

use std::process::{Command, Output};

use crate::common::{Place, assert_code, lines, program, rows, samples, stderr};
use udpbench::results::log::Event;
use udpbench::results::row::{Row, Status, Warning};

const FLOOD: &str = "--loopback whole --no-reference --threads 2 --payload 300 --ip v4 --heat 0s \
                     --duration 300ms --rounds 5 -q -o out.csv";

/// Floods with `std` where `setup`, in a shell, has made the loopback what it is. `None`: it cannot be made so.
fn flood(place: &Place, setup: &str, arguments: &str) -> Option<Output> {
    let of_std = format!("--sender std --receiver std {arguments}");
    flood_of(place, setup, &of_std)
}

/// Floods in a namespace of its own after `setup`, with engines among the arguments.
fn flood_of(place: &Place, setup: &str, arguments: &str) -> Option<Output> {
    in_namespace(place, setup, &format!("{FLOOD} {arguments}"))
}

/// Runs the program in a namespace of its own after `setup`.
fn in_namespace(place: &Place, setup: &str, arguments: &str) -> Option<Output> {
    const NO_NAMESPACE: i32 = 99;
    let script =
        format!("ip link set lo up && {setup} || exit {NO_NAMESPACE}; exec \"$@\" {arguments}");
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
    let setup = "tc qdisc add dev lo root tbf rate 20mbit burst 10kb limit 10kb";
    for connection in ["connected", "unconnected"] {
        let place = Place::new();
        let arguments = format!("--warmup 100ms --connection {connection}");
        let Some(output) = flood(&place, setup, &arguments) else {
            return;
        };
        let row = the_row(&place);
        assert_eq!(row.status, Status::Ok, "{row:?} {}", stderr(&output));
        // The two columns count the same datagrams, to within the 20 kB at each edge of a window, and what waits for a
        // receiver that is off its CPU.
        let received = row.received_packets.expect("measured");
        let threads = samples(&place.path("out.jsonl")).into_iter();
        let taken: u64 = threads
            .flat_map(|sample| sample.threads)
            .map(|thread| thread.received_packets)
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
    assert_code(&output, 1);
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

#[test]
fn what_a_firewall_refuses_on_the_way_out_was_sent_and_is_lost_at_the_sender() {
    let setup = "iptables -A OUTPUT -p udp -m statistic --mode nth --every 10 -j DROP";
    let place = Place::new();
    let arguments = "--engine std,mmsg,uring,tokio --connection connected";
    let Some(output) = flood_of(&place, setup, arguments) else {
        return;
    };
    for row in rows(&place.path("out.csv")) {
        assert_eq!(row.status, Status::Ok, "{row:?} {}", stderr(&output));
        let (sent, refused) = (row.sent_packets, row.refused_packets);
        let (sent, refused) = (sent.expect("measured"), refused.expect("measured"));
        // One in ten of all, to within one at each edge of a window.
        assert!((sent / 10).abs_diff(refused) <= 2 * 5, "{row:?}");
        let lost = sent - row.received_packets.expect("measured");
        let elsewhere = row.dropped_socket_packets.expect("measured");
        assert_eq!(lost, refused + elsewhere, "{row:?}");
        assert_eq!(row.failed_calls, Some(0), "{row:?}");
        let warns = |it: &Warning| {
            let text = it.to_string();
            text.contains("EPERM") && text.contains("firewall")
        };
        assert!(row.warnings.iter().any(warns), "{row:?}");
    }
}

#[test]
fn where_everything_is_refused_the_case_says_why_it_failed() {
    // Not the probe, which has one byte.
    let setup = "iptables -A OUTPUT -p udp -m length --length 328 -j DROP";
    let place = Place::new();
    let Some(output) = flood(&place, setup, "--connection connected") else {
        return;
    };
    let row = the_row(&place);
    assert_eq!(row.status, Status::Failed, "{row:?} {}", stderr(&output));
    assert!(
        row.reason.to_string().starts_with("nothing was received"),
        "{row:?}"
    );
    assert!(row.reason.to_string().contains("EPERM"), "{row:?}");
    assert_eq!(row.refused_packets, row.sent_packets, "{row:?}");
    assert_eq!(row.loss_pct, Some(100.0), "{row:?}");
}

/// Engines whose calls each send several datagrams, cut by the kernel.
const SENDERS_OF_TRAINS: [&str; 2] = ["gso", "zerocopy"];

#[test]
fn trains_over_a_path_of_a_small_mtu_are_sent_one_by_one_with_a_remark() {
    let paths = [
        (
            "v4",
            "ip route replace local 127.0.0.1 dev lo table local mtu 1000",
        ),
        (
            "v6",
            "ip -6 route del local ::1 dev lo table local && \
             ip -6 route add local ::1 dev lo table local mtu 1280",
        ),
    ];
    for (ip, path) in paths {
        for (sender, controls) in SENDERS_OF_TRAINS
            .iter()
            .flat_map(|it| [(it, "none"), (it, "pktinfo")])
        {
            let place = Place::new();
            let arguments = format!(
                "--sender {sender} --receiver mmsg --train 8 --cmsg {controls} --loopback whole --no-reference --threads 2 \
                 --payload 1400 --ip {ip} --heat 0s --duration 100ms --rounds 5 -q -o out.csv"
            );
            let Some(output) = in_namespace(&place, path, &arguments) else {
                return;
            };
            let row = the_row(&place);
            assert_eq!(row.status, Status::Ok, "{row:?} {}", stderr(&output));
            let remark = format!("{sender}: kernel or NIC refused trains");
            assert!(
                row.warnings
                    .iter()
                    .any(|it| it.to_string().contains(&remark)),
                "{ip} {controls}: {:?}",
                row.warnings
            );
            assert!(
                row.received_packets.is_some_and(|packets| packets > 0),
                "{row:?}"
            );
        }
    }
}

#[test]
fn a_limit_that_this_namespace_only_reads_is_raised_on_the_host() {
    let place = Place::new();
    let Some(output) = in_namespace(&place, "true", "check --rcvbuf 64M") else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = said.split_whitespace().collect();
    let fix = "on the host of this container, not in it: sudo sysctl -w net.core.rmem_max=";
    assert!(words.join(" ").contains(fix), "{said}");
}
