//! Tests of the counters against known losses, in network namespaces of threads.

use std::net::UdpSocket;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::UdpGsoSegment;
use socket2::SockRef;

use super::*;
use crate::sys::kernel_drops;
use crate::sys::loss_counters::LossReader;
use crate::sys::path_counters::PathCounters;

/// Runs `test` in a thread with its own namespaces of network and mounts, after the shell script `setup` ran there.
/// Skips the test, loudly, if no namespace can be made.
pub(crate) fn in_namespace(setup: &str, test: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let inside = scope.spawn(|| {
            if let Err(error) = unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS) {
                eprintln!("SKIPPED: no network namespace: {error}");
                return;
            }
            // A child is in the namespace of the thread that starts it. IPv6 would send packets on its own.
            let quiet = "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 || :";
            let script = format!("set -e\nip link set lo up\n{quiet}\n{setup}");
            let shell = Command::new("sh").args(["-c", &script]).output();
            match shell {
                Ok(output) if output.status.success() => test(),
                other => eprintln!("SKIPPED: no namespace with `{setup}`: {other:?}"),
            }
        });
        if let Err(panic) = inside.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Sends this number of datagrams of 1000 B to an address, over the interface of its route.
pub(crate) fn send(to: &str, datagrams: u64) {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a port is free");
    socket.connect(to).expect("there is a route");
    for _ in 0..datagrams {
        // The call may report the closed port of an earlier datagram instead (udp(7)).
        if socket.send(&[0; 1000]).is_err() {
            socket.send(&[0; 1000]).expect("the second time");
        }
    }
}

/// Returns the growth of the counters while `test` runs.
pub(crate) fn between(interface: &str, test: impl FnOnce()) -> PathCounters {
    let mut reader = LossReader::of_interface(interface).expect("it is there");
    let before = reader.read();
    test();
    // Waits for packets that are left for ksoftirqd.
    while kernel_drops::backlog_is_empty() == Some(false) {
        thread::yield_now();
    }
    PathCounters::between(&before, &reader.read(), interface).expect("it is still there")
}

/// Shell script that makes a veth pair. Its end `va` has a neighbour.
pub(crate) const VETH: &str = "ip link add va type veth peer name vb
    ip addr add 10.9.9.1/24 dev va
    ip link set va up
    ip link set vb up
    ip neigh add 10.9.9.2 lladdr 02:00:00:00:00:02 dev va nud permanent\n";

/// Checks that packets that left the qdiscs and packets that they dropped add up to `sent`.
fn dropped_of(sent: u64, setup: &str) {
    let setup = [VETH, setup].concat();
    in_namespace(&setup, || {
        if !tells_of_qdiscs("va") {
            return;
        }
        let moved = between("va", || {
            send("10.9.9.2:7", sent);
            wait_until_all_left("va");
        });
        assert!(moved.qdisc_drops > 0, "{setup}: {moved:?}");
        assert_eq!(
            moved.qdisc_drops + moved.tx_packets,
            sent,
            "{setup}: {moved:?}"
        );
        assert_eq!(moved.nic_out_drops, 0, "{setup}: {moved:?}");
        // The layers above the qdisc count its drops again.
        assert_eq!(moved.udp_sndbuf_errors, moved.qdisc_drops, "{moved:?}");
        assert_eq!(moved.ip_out_discards, moved.qdisc_drops, "{moved:?}");
        assert_eq!(moved.qdisc_drops, drops_by_tc("va"), "{setup}");
    });
}

fn tells_of_qdiscs(interface: &str) -> bool {
    let mut reader = InterfaceReader::open(interface).expect("it is there");
    let tells = !reader.qdiscs().expect("readable").is_empty();
    if !tells {
        eprintln!("SKIPPED: this kernel tells of no qdiscs, as emulators do not");
    }
    tells
}

fn wait_until_all_left(interface: &str) {
    let mut reader = InterfaceReader::open(interface).expect("it is there");
    let start = Instant::now();
    loop {
        let qdiscs = reader.qdiscs().expect("readable");
        if qdiscs.iter().all(|qdisc| qdisc.queued_packets == 0) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{qdiscs:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the drops of the root qdisc, which tc prints first.
fn drops_by_tc(interface: &str) -> u64 {
    let output = Command::new("tc")
        .args(["-s", "qdisc", "show", "dev", interface])
        .output();
    let text = String::from_utf8(output.expect("tc").stdout).expect("text");
    let (_, rest) = text.split_once("(dropped ").expect("it says so");
    let (drops, _) = rest.split_once(',').expect("a list");
    drops.parse().expect("a number")
}

#[test]
fn what_a_token_bucket_dropped_is_counted_once() {
    let tbf = "tc qdisc add dev va root handle 1: tbf rate 20mbit burst 5kb limit 20kb";
    dropped_of(200, tbf);
    // The inner queue is the smaller one.
    let inner = "\ntc qdisc replace dev va parent 1:1 handle 10: bfifo limit 9kb";
    dropped_of(200, &[tbf, inner].concat());
}

#[test]
fn what_classes_dropped_is_counted_once() {
    let htb = "tc qdisc add dev va root handle 1: htb default 1
        tc class add dev va parent 1: classid 1:1 htb rate 20mbit burst 5kb\n";
    for leaf in ["pfifo limit 5", "tbf rate 10mbit burst 5kb limit 9kb"] {
        let leaf = format!("{htb}tc qdisc add dev va parent 1:1 handle 10: {leaf}");
        dropped_of(200, &leaf);
    }
}

#[test]
fn a_train_of_gso_that_is_lost_counts_once() {
    const TRAINS: u64 = 50;
    let htb = "tc qdisc add dev va root handle 1: htb default 1
        tc class add dev va parent 1: classid 1:1 htb rate 50mbit burst 20kb
        tc qdisc add dev va parent 1:1 handle 10: pfifo limit 5";
    in_namespace(&[VETH, htb].concat(), || {
        if !tells_of_qdiscs("va") {
            return;
        }
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a port is free");
        if setsockopt(&socket, UdpGsoSegment, &1000).is_err() {
            eprintln!("SKIPPED: no UDP_SEGMENT in this kernel");
            return;
        }
        socket.connect("10.9.9.2:7").expect("there is a route");
        let moved = between("va", || {
            for _ in 0..TRAINS {
                socket
                    .send(&[0; 10_000])
                    .expect("the qdisc's drops are silent");
            }
            wait_until_all_left("va");
        });
        assert!(moved.qdisc_drops > 0, "{moved:?}");
        // veth also counts trains.
        assert_eq!(moved.qdisc_drops + moved.tx_packets, TRAINS, "{moved:?}");
    });
}

#[test]
fn what_a_veth_cannot_hand_over_is_the_interfaces_loss() {
    let setup = [VETH, "ip link set vb down\n"].concat();
    in_namespace(&setup, || {
        let moved = between("va", || send("10.9.9.2:7", 150));
        assert_eq!(
            (moved.nic_out_drops, moved.qdisc_drops),
            (150, 0),
            "{moved:?}"
        );
    });
}

#[test]
fn what_no_socket_wants_is_counted_by_udp() {
    in_namespace("", || {
        let moved = between("lo", || send("127.0.0.1:9", 120));
        assert_eq!(moved.udp_no_ports, 120, "{moved:?}");
        let others = moved.nic_in_drops + moved.backlog_drops + moved.ip_in_discards;
        assert_eq!(others + moved.udp_in_errors, 0, "{moved:?}");
    });
}

#[test]
fn what_a_full_receive_buffer_refuses_is_counted_by_udp() {
    in_namespace("", || {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        SockRef::from(&receiver)
            .set_recv_buffer_size(10_000)
            .expect("granted");
        let address = receiver.local_addr().expect("bound").to_string();
        let moved = between("lo", || send(&address, 90));
        receiver.set_nonblocking(true).expect("a socket");
        let received = std::iter::from_fn(|| receiver.recv(&mut [0]).ok()).count() as u64;
        assert!(received < 90, "nothing was dropped");
        assert_eq!(moved.udp_rcvbuf_errors, 90 - received, "{moved:?}");
        assert_eq!(
            (moved.udp_in_errors, moved.udp_no_ports),
            (0, 0),
            "{moved:?}"
        );
        assert!(
            moved.tx_packets >= 90 && moved.rx_packets >= 90,
            "{moved:?}"
        );
    });
}

#[test]
fn what_a_filter_drops_on_arrival_is_counted() {
    let setup = "tc qdisc add dev lo clsact
        tc filter add dev lo ingress protocol ip prio 1 u32 match u32 0 0 action drop";
    in_namespace(setup, || {
        let moved = between("lo", || send("127.0.0.1:9", 80));
        assert_eq!(
            (moved.filter_drops, moved.udp_no_ports),
            (80, 0),
            "{moved:?}"
        );
        assert_eq!((moved.nic_in_drops, moved.qdisc_drops), (0, 0), "{moved:?}");
    });
}

#[test]
fn what_nobody_redirected_to_an_ifb_is_lost_on_its_way_in() {
    let setup = "ip link add ifb9 type ifb
        ip addr add 10.8.8.1/24 dev ifb9
        ip link set ifb9 up
        ip neigh add 10.8.8.2 lladdr 02:00:00:00:00:02 dev ifb9 nud permanent";
    in_namespace(setup, || {
        // `ifb_xmit` counts these packets as lost on the way in.
        let moved = between("ifb9", || send("10.8.8.2:7", 70));
        assert_eq!(
            (moved.nic_in_drops, moved.nic_out_drops, moved.qdisc_drops),
            (70, 0, 0),
            "{moved:?}"
        );

        let mut reader = InterfaceReader::open("ifb9").expect("it is there");
        let kind = reader.link().expect("readable").kind;
        assert_eq!(kind.as_deref(), Some("ifb"));
        let deleted = Command::new("ip").args(["link", "del", "ifb9"]).status();
        assert!(deleted.expect("ip").success());
        let error = reader.read().expect_err("it is gone");
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    });
}

#[test]
fn what_an_interface_below_loses_is_counted_once() {
    for (kind, on_top) in [
        ("macvlan", "ip link add top link vb type macvlan"),
        ("vlan", "ip link add link vb name top type vlan id 5"),
        (
            "bridge",
            "ip link add top type bridge && ip link set vb master top",
        ),
        (
            "bond",
            "ip link add top type bond && ip link set vb down master top",
        ),
        (
            "macvlan on a bridge",
            "ip link add br0 type bridge && ip link set vb master br0 && ip link set br0 up
            ip link add top link br0 type macvlan",
        ),
    ] {
        in_namespace(VETH, || {
            let script = format!("{on_top} && ip link set vb up mtu 500 && ip link set top up");
            let made = Command::new("sh").args(["-c", &script]).output();
            if !made.expect("a shell").status.success() {
                eprintln!("SKIPPED: this kernel makes no {kind}");
                return;
            }
            // What is longer than the other end's MTU is lost there.
            let moved = between("top", || send("10.9.9.2:7", 60));
            assert_eq!(moved.nic_in_drops, 60, "{kind}: {moved:?}");
            let mut reader = InterfaceReader::open("top").expect("it is there");
            let named = reader.read().expect("readable");
            assert_eq!(named["rx_dropped"], 60, "{kind}: {named:?}");
            let mut alone = InterfaceReader::open_alone("top").expect("it is there");
            let own = if kind == "bond" { 60 } else { 0 };
            assert_eq!(alone.read().expect("readable")["rx_dropped"], own, "{kind}");
        });
    }
}

#[test]
fn a_driver_that_counts_is_asked() {
    in_namespace(VETH, || {
        let driver = Ethtool::open("va").expect("a socket");
        let Ok(statistics) = driver.statistics() else {
            eprintln!("SKIPPED: this kernel does not answer ethtool, as emulators do not");
            return;
        };
        let named = |wanted: &str| statistics.iter().any(|(name, _)| name == wanted);
        assert!(
            named("peer_ifindex") && named("rx_queue_0_drops"),
            "{statistics:?}"
        );
        let by_name = statistics
            .into_iter()
            .collect::<std::collections::BTreeMap<_, _>>();
        assert_eq!(driver_drops(&by_name), (0, 0));
    });
}

#[test]
fn an_interface_that_is_not_there_is_an_error() {
    let error = InterfaceReader::open("nope").expect_err("there is none");
    assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
}
