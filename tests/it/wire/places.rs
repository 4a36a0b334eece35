//! Loss places that no counter of this program names, or whose counters other traffic moves: each is reported
//! correctly.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use udpbench::data::Places;
use udpbench::results::row::{Row, Status};

use crate::common::lab::{End, Lab};
use crate::common::pages::root;
use crate::common::swept::{SHORT, Swept, lost, sweep, wire};
use crate::common::{AtEnd, Place, rows, stderr, wait_until};

/// Returns the datagrams lost at a place.
fn lost_at(row: &Row, place: &str) -> u64 {
    let names = Places::default().lost().map(|(name, _)| name);
    let all = names.into_iter().zip(lost(row));
    let at = all.into_iter().find(|(name, _)| *name == place);
    at.expect("a place").1
}

fn says(row: &Row, words: &str) -> bool {
    row.warnings
        .iter()
        .any(|warning| warning.to_string().contains(words))
}

/// Returns whether that command works at the far end.
fn set_up(lab: &Lab, command: &str) -> bool {
    let mut words = command.split_whitespace();
    let mut program = lab.far(words.next().expect("a program"));
    let output = program.args(words).output();
    let works = output.as_ref().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("SKIPPED: `{command}`: {output:?}");
    }
    works
}

#[test]
fn frames_above_the_mtu_of_the_other_end_are_the_interfaces_and_no_qdiscs() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    assert!(set_up(&lab, "ip link set dev eth0 mtu 1280"));
    let place = Place::new();
    let words = "--direction up --threads 2 --payload 1400 --engine std,mmsg --ip v4";
    sweep(&lab, &place, &format!("{SHORT} {words}"));
    for row in rows(&place.path("out.csv")) {
        assert_eq!(
            (row.status, row.received_packets),
            (Status::Failed, Some(0)),
            "{row:?}"
        );
        assert!(row.sent_packets > Some(0), "{row:?}");
        assert_eq!(row.sent_packets, row.dropped_nic_out_packets, "{row:?}");
        assert!(
            says(&row, "the MTUs differ: 1500 here, 1280 at the other end"),
            "{row:?}"
        );
        assert!(!says(&row, "in fragments"), "{row:?}");
        assert!(!says(&row, "too short"), "{row:?}");
    }
}

#[test]
fn what_a_filter_at_the_receiver_drops_was_not_lost_on_the_path() {
    // Every third datagram, of ours and of the probes, which are repeated.
    let firewall = |table: &str, chain: &str| {
        vec![format!(
            "iptables -w -t {table} -A {chain} -p udp -m statistic --mode nth --every 3 --packet 2 -j DROP"
        )]
    };
    let tc = vec![
        "tc qdisc add dev eth0 clsact".to_owned(),
        "tc filter add dev eth0 ingress protocol ip prio 1 u32 match ip protocol 17 0xff action pass random determ \
         drop 3"
            .to_owned(),
    ];
    let hook = [
        "add table netdev f",
        "add chain netdev f i { type filter hook ingress device eth0 priority 0; }",
        "add rule netdev f i meta l4proto udp numgen inc mod 3 == 2 drop",
    ];
    let hook = hook.map(|words| format!("nft {words}")).to_vec();
    for commands in [
        firewall("raw", "PREROUTING"),
        firewall("filter", "INPUT"),
        tc,
        hook,
    ] {
        let Some(lab) = Lab::builder().start() else {
            return;
        };
        if !commands.iter().all(|command| set_up(&lab, command)) {
            continue;
        }
        // At a rate that the receiver's queue holds for a second, so that a receiver without a CPU loses nothing.
        let words =
            "--direction up --threads 2 --payload 300 --engine std --ip v4 --rate 5k --rcvbuf 4M";
        let swept = Swept::within(lab, words);
        let row = swept.the_row();
        let kernel_in = lost_at(row, "kernel in");
        let third = (row.sent_packets.expect("measured") - kernel_in) / 2;
        assert!(
            kernel_in > 0 && kernel_in.abs_diff(third) < 10,
            "{commands:?}: {row:?}"
        );
        assert_eq!(
            lost(row).iter().sum::<u64>(),
            kernel_in,
            "{commands:?}: {row:?}"
        );
    }
}

#[test]
fn what_a_driver_loses_by_its_own_counter_was_not_lost_on_the_path() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    // A veth whose XDP program drops every eighth UDP packet stands for a driver that loses: only `ethtool -S` shows
    // it.
    let directory = lab.directory().join("bpf");
    fs::create_dir(&directory).expect("writable");
    let script = root().join("scripts/tools/tries/xdp.py");
    let attach = format!(
        "python3 {} {} xdpdrv 4",
        script.display(),
        directory.display()
    );
    if !set_up(&lab, &attach) {
        return;
    }
    let words =
        "--direction up --threads 2 --payload 300 --engine std --ip v4 --rate 5k --rcvbuf 4M";
    let swept = Swept::within(lab, words);
    let row = swept.the_row();
    let (sent, lost_there) = (row.sent_packets.expect("measured"), lost_at(row, "NIC in"));
    // The first of each window may be any of the eight.
    assert!(lost_there.abs_diff(sent / 8) <= 5, "{row:?}");
    assert_eq!(lost(row).iter().sum::<u64>(), lost_there, "{row:?}");
    let counters = row.nic_counters.strip_prefix("receiver: rx_queue_");
    let counted = counters.and_then(|rest| rest.rsplit_once("_xdp_drops "));
    let counted: u64 = counted
        .and_then(|(_, packets)| packets.parse().ok())
        .expect("one counter moved");
    assert!(
        counted >= lost_there && counted - lost_there <= 5,
        "{row:?}"
    );
    assert!(
        says(row, "an XDP program at this interface dropped packets"),
        "{row:?}"
    );
}

#[test]
fn a_window_in_which_the_link_goes_down_is_measured_again() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let words = "--pin 0,0:1,1 --no-reference --heat 0s --warmup 5ms --rounds 5 --duration 1500ms -q -o out.csv \
                 --direction up --threads 2 --payload 300 --engine std --ip v4 --rate 5k";
    let mut command = wire(&lab, &place, words);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let sweep = command.spawn().expect("it can be started");
    let received = || {
        lab.link(End::Far)["stats64"]["rx"]["packets"]
            .as_u64()
            .expect("a counter")
    };
    let first = received();
    // In the midst of a window: probes and verification are fewer.
    wait_until("datagrams flow", || received() > first + 2500);
    assert!(set_up(&lab, "ip link set dev eth0 down"));
    thread::sleep(Duration::from_millis(100));
    assert!(set_up(&lab, "ip link set dev eth0 up"));
    let output = sweep.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&place.path("out.csv"));
    assert_eq!(
        (rows[0].status, rows[0].repeated_windows),
        (Status::Ok, Some(1)),
        "{rows:?}"
    );
    let said = "measured again (repeated_windows), the first as the link went down or came up";
    assert!(says(&rows[0], said), "{rows:?}");
    assert!(
        !says(&rows[0], "carrier_changes"),
        "that window is in no figure: {rows:?}"
    );
}

#[test]
fn more_received_than_sent_hides_losses_and_is_said_to() {
    let rules = "count size 300; a>b duplicate every 3; a>b drop every 7";
    let words = "--direction up --threads 2 --payload 300 --engine std --ip v4 --rate 2k --verify";
    let Some(swept) = Swept::over(Lab::builder().test_wire(rules), words) else {
        return;
    };
    let row = swept.the_row();
    assert!(row.unexpected_packets > Some(0), "{row:?}");
    assert!(
        says(row, "more were received than sent (unexpected_packets)"),
        "{row:?}"
    );
    assert!(says(row, "at least 0 %"), "{row:?}");
    assert!(
        row.duplicated_packets > Some(0) && row.missing_packets > Some(0),
        "{row:?}"
    );
}

#[test]
fn other_traffic_to_closed_ports_is_not_silently_taken_for_ours() {
    let Some(lab) = Lab::builder()
        .test_wire("count size 300; a>b drop every 10")
        .start()
    else {
        return;
    };
    let far = lab.ipv4(End::Far);
    let other = lab.socket(End::Near, lab.ipv4(End::Near));
    let is_over = AtomicBool::new(false);
    let swept = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let _ = other.send_to(&[0; 64], (far, 9));
                thread::sleep(Duration::from_micros(200));
            }
        });
        let words = "--direction up --threads 2 --payload 300 --engine std --ip v4 --rate 2k";
        let _over = AtEnd(|| is_over.store(true, Ordering::Relaxed));
        Swept::within(lab, words)
    });
    let row = swept.the_row();
    assert!(lost_at(row, "protocol") > 0, "{row:?}");
    assert!(
        says(row, "closed ports counted (NoPorts): ours were open"),
        "{row:?}"
    );
}
