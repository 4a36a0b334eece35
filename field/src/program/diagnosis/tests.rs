use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::*;
use crate::program::tests::unseen;
use crate::program::{SocketSeen, ThreadTimes};
use crate::sys::loss_counters::LossCounters;

const LIMITS: Limits = Limits {
    rmem_default: Some(212_992),
    rmem_max: RcvbufLimit {
        most: Some(212_992),
        is_of_host: false,
    },
};

/// Ten seconds in which a thread ran and waited for these shares of the time, on CPU 1.
fn seen(drops: u64, ran: f64, waited: f64) -> Interval {
    let ns = |share: f64| {
        let time = Duration::from_secs_f64(10.0 * share);
        u64::try_from(time.as_nanos()).expect("seconds")
    };
    let thread = ThreadTimes {
        id: 7,
        pid: 7,
        process: "lidar".to_owned(),
        runs: 1,
        name: "reader".to_owned(),
        ran_ns: ns(ran),
        waited_ns: ns(waited),
        ran_ns_on: BTreeMap::from([(1, ns(ran))]),
    };
    Interval {
        length: Duration::from_secs(10),
        sockets: BTreeMap::from([(1, socket(drops, 212_992))]),
        read: 100_000,
        socket_drops: drops,
        threads: BTreeMap::from([(7, thread)]),
        packets_of_cpu: BTreeMap::from([(0, 100_000), (1, 1000)]),
        lost: lost(&[("UdpInErrors", drops), ("UdpRcvbufErrors", drops)]),
        ..Interval::default()
    }
}

fn socket(drops: u64, buffer_bytes: u32) -> SocketSeen {
    let mut socket = SocketSeen {
        drops,
        owners: BTreeSet::from([7]),
        ..unseen()
    };
    (socket.state.queued_bytes, socket.state.buffer_bytes) = (119_000, Some(buffer_bytes));
    socket
}

fn lost(counters: &[(&str, u64)]) -> LossCounters {
    let counters = counters
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count));
    LossCounters {
        counters: counters.collect(),
        interfaces: BTreeMap::from([("wan0 rx_missed_errors".to_owned(), 0)]),
        ..LossCounters::default()
    }
}

fn found(seen: &Interval) -> Vec<Finding> {
    let found = findings(seen, seen, "lidar", LIMITS);
    for Finding { seen, why, fix } in &found {
        let text = format!("{seen}{why}{fix}");
        assert!(!text.contains(['{', '}']), "all values stand in it: {text}");
    }
    found
}

#[test]
fn nothing_is_found_where_nothing_was_dropped() {
    assert_eq!(found(&seen(0, 0.99, 0.5)), []);
}

#[test]
fn a_full_buffer_is_due_to_the_thread_or_the_cpu_or_its_size() {
    for (ran, waited, why, fix) in [
        (0.97, 0.0, "used 97 % of a CPU", "recvmmsg"),
        (0.3, 0.4, "waited for a CPU 40 % of the time", "top -H"),
        (
            0.02,
            0.0,
            "was not busy (2 % of a CPU)",
            "net.core.rmem_default=8388608",
        ),
    ] {
        let found = found(&seen(14, ran, waited));
        let [finding] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(
            finding.seen.to_string(),
            "its receive buffer (SO_RCVBUF 106496 B) overflowed: 14 datagrams dropped, in 10 of 10 s"
        );
        assert!(finding.why.contains(why), "{finding:?}");
        assert!(finding.fix.contains(fix), "{finding:?}");
    }
}

#[test]
fn a_program_that_sleeps_between_two_datagrams_needs_no_larger_buffer() {
    // It reads 400 per second while 1000 come, on a busy machine, on the CPU of the interrupt.
    let slow = |full_looks, runs| {
        let mut seen = Interval {
            read: 4000,
            packets_of_cpu: BTreeMap::from([(0, 100), (1, 100_000)]),
            ..seen(6000, 0.01, 0.21)
        };
        seen.threads.get_mut(&7).expect("a thread").runs = runs;
        let socket = seen.sockets.get_mut(&1).expect("a socket");
        (socket.looks, socket.full_looks) = (100, full_looks);
        seen
    };
    let found_in = found(&slow(95, 4000));
    let [finding] = &found_in[..] else {
        panic!("{found_in:?}");
    };
    let why = "it takes fewer datagrams than come (at most 400 of 1000 per second), and sleeps meanwhile: ";
    assert!(finding.why.starts_with(why), "{finding:?}");
    assert!(
        finding.fix.starts_with("let a thread of its own read"),
        "{finding:?}"
    );
    assert!(!finding.fix.contains("RCVBUF"), "{finding:?}");
    // Full now and then, or emptied at once after a pause.
    for (full_looks, runs) in [(20, 4000), (70, 20)] {
        let found = found(&slow(full_looks, runs));
        assert!(found[0].why.contains("waited for a CPU 21 %"), "{found:?}");
        assert_eq!(
            found.len(),
            1,
            "a thread that sleeps loses no time to the softirq"
        );
    }
}

#[test]
fn of_a_thread_that_takes_many_and_sleeps_the_queue_tells_whether_it_takes_all() {
    // Four of ten are read, 200 at a time: an emptied buffer is not nearly full for 28 of 100 looks.
    let found = |looks, full_looks, least_queued_bytes| {
        let mut seen = Interval {
            read: 4000,
            ..seen(6000, 0.01, 0.01)
        };
        seen.threads.get_mut(&7).expect("a thread").runs = 20;
        let socket = seen.sockets.get_mut(&1).expect("a socket");
        (socket.looks, socket.full_looks) = (looks, full_looks);
        socket.least_queued_bytes = least_queued_bytes;
        found(&seen).remove(0)
    };
    for (looks, full_looks, least, why, is_buffer) in [
        (
            100,
            100,
            190_000,
            "it takes fewer datagrams than come",
            false,
        ),
        (
            100,
            88,
            100_000,
            "it takes fewer datagrams than come",
            false,
        ),
        (
            100,
            72,
            100_000,
            "it takes fewer datagrams than come",
            false,
        ),
        (100, 72, 5000, "its thread reader was not busy (1 %", true),
        (
            10,
            9,
            100_000,
            "its thread reader (busy 1 % of the time) sleeps",
            true,
        ),
    ] {
        let finding = found(looks, full_looks, least);
        assert!(finding.why.starts_with(why), "{finding:?}");
        assert_eq!(
            finding.fix.contains("rmem_default"),
            is_buffer,
            "{finding:?}"
        );
    }
    let unknown = found(10, 9, 100_000);
    assert!(unknown.why.contains("cannot be told"), "{unknown:?}");
}

#[test]
fn where_nobody_reads_no_buffer_helps() {
    let mut mute = seen(14, 0.0, 0.0);
    mute.threads.get_mut(&7).expect("a thread").runs = 0;
    let busy = Interval {
        read: 0,
        ..seen(14, 0.97, 0.0)
    };
    // A program that read has ended, and left its socket to its child.
    let mut left = mute.clone();
    let reader = ThreadTimes {
        id: 8,
        pid: 8,
        process: "reader (pid 8)".to_owned(),
        runs: 900,
        ran_ns: 9_000_000,
        ..ThreadTimes::default()
    };
    left.threads.insert(8, reader);
    left.sockets.get_mut(&1).expect("a socket").owners.insert(8);
    left.holders = BTreeSet::from([7]);
    for (seen, why) in [
        (&mute, "nobody reads: no thread of lidar ran"),
        (&busy, "nobody reads: no program here took a datagram"),
        (
            &left,
            "nobody reads: no thread of lidar ran; reader (pid 8), which had the socket as well, has ended",
        ),
    ] {
        let finding = found(seen).remove(0);
        assert!(finding.why.starts_with(why), "{finding:?}");
        assert!(!finding.fix.contains("SO_RCVBUF"), "{finding:?}");
    }
}

#[test]
fn a_thread_that_waits_for_a_cpu_may_be_too_slow_for_one_anyway() {
    // It read 100000 in 5 s of CPU time, and 150000 or 300000 came.
    for (drops, why) in [
        (50_000, "its thread reader waited for a CPU 45 %"),
        (
            200_000,
            "lidar takes datagrams more slowly than they come: its thread reader used 50 % of a CPU",
        ),
    ] {
        let finding = found(&seen(drops, 0.5, 0.45)).remove(0);
        assert!(finding.why.starts_with(why), "{finding:?}");
    }
}

#[test]
fn beside_a_busy_thread_another_one_may_be_the_reader() {
    let mut two = seen(14, 0.97, 0.0);
    let other = ThreadTimes {
        id: 8,
        name: "rx".to_owned(),
        runs: 4000,
        ran_ns: 200_000_000,
        ..two.threads[&7].clone()
    };
    two.threads.insert(8, other);
    let finding = found(&two).remove(0);
    let why = "which thread reads cannot be told: reader used 97 % of a CPU meanwhile and waited 0 % \
               for one, rx used 2 % and slept";
    assert!(finding.why.starts_with(why), "{finding:?}");
    // It ran for too short a time to have read, or too few times.
    two.threads.get_mut(&8).expect("a thread").runs = 2;
    let finding = found(&two).remove(0);
    assert!(
        finding.why.starts_with("lidar takes datagrams more slowly"),
        "{finding:?}"
    );
    two.threads.get_mut(&8).expect("a thread").runs = 4000;
    two.threads.get_mut(&8).expect("a thread").ran_ns = 1_000_000;
    let finding = found(&two).remove(0);
    assert!(
        finding.why.starts_with("lidar takes datagrams more slowly"),
        "{finding:?}"
    );
}

#[test]
fn a_buffer_that_the_program_set_is_named_by_what_it_asked_for() {
    let seen = Interval {
        sockets: BTreeMap::from([(1, socket(1, 120_000))]),
        ..seen(1, 0.0, 0.0)
    };
    assert_eq!(
        found(&seen)[0].fix,
        "let it set SO_RCVBUF to 4194304 (now 60000)\n\
         rmem_max grants 212992 B at most: sudo sysctl -w net.core.rmem_max=4194304"
    );
}

#[test]
fn where_threads_may_not_be_seen_no_reason_is_made_up() {
    let seen = Interval {
        threads: BTreeMap::new(),
        ..seen(3, 0.0, 0.0)
    };
    assert!(found(&seen)[0].why.contains("may not be read"));
}

#[test]
fn a_thread_on_the_cpu_of_the_interrupt_is_found() {
    let shared = Interval {
        packets_of_cpu: BTreeMap::from([(0, 100), (1, 100_000)]),
        ..seen(0, 0.5, 0.0)
    };
    assert!(
        found(&shared)[0]
            .seen
            .to_string()
            .starts_with("lidar ran on CPU 1 100 % of its time")
    );
    let few = Interval {
        packets_of_cpu: BTreeMap::from([(0, 1), (1, 1000)]),
        ..shared.clone()
    };
    assert_eq!(found(&few), [], "so few take no time");
    let idle = Interval {
        read: 0,
        ..shared.clone()
    };
    assert_eq!(found(&idle), [], "it received nothing of them");
}

#[test]
fn a_drop_has_the_cause_that_the_kernel_counts_and_only_a_full_buffer_needs_a_larger_one() {
    for (counter, seen_as, fix) in [
        (
            "UdpInCsumErrors",
            "wrong UDP checksums: 14 datagrams dropped at its sockets",
            "tcpdump",
        ),
        (
            "UdpMemErrors",
            "UDP memory used up: 14 datagrams",
            "udp_mem",
        ),
        (
            "other",
            "filter of the socket, or wrong UDP length: 14 datagrams",
            "ss -lunpb",
        ),
    ] {
        let found = found(&Interval {
            lost: lost(&[("UdpInErrors", 14), (counter, 14), ("UdpRcvbufErrors", 0)]),
            ..seen(14, 0.0, 0.0)
        });
        let [finding] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(finding.seen.to_string().starts_with(seen_as), "{finding:?}");
        assert!(finding.fix.contains(fix), "{finding:?}");
        assert!(!format!("{finding:?}").contains("SO_RCVBUF"), "{finding:?}");
    }
    let unknown = found(&Interval {
        lost: lost(&[]),
        ..seen(3, 0.0, 0.0)
    });
    assert!(
        unknown[0]
            .seen
            .to_string()
            .contains("no counter of the kernel says why"),
        "{unknown:?}"
    );
    // Linux 6.18 has a reason, and no counter.
    let mut without_memory = lost(&[("UdpInErrors", 0), ("UdpMemErrors", 0)]);
    without_memory.reasons = BTreeMap::from([("PROTO_MEM".to_owned(), 9)]);
    let found = found(&Interval {
        lost: without_memory,
        ..seen(3, 0.0, 0.0)
    });
    assert_eq!(
        found[0].seen.to_string(),
        "UDP memory used up: 3 datagrams dropped at its sockets (PROTO_MEM)"
    );
}

#[test]
fn where_other_sockets_drop_as_well_the_number_has_bounds() {
    let both = |full, wrong| Interval {
        lost: lost(&[
            ("UdpInErrors", full + wrong),
            ("UdpRcvbufErrors", full),
            ("UdpInCsumErrors", wrong),
        ]),
        sockets: BTreeMap::new(),
        ..seen(10, 0.0, 0.0)
    };
    let bounds = |full, wrong| {
        let seen = both(full, wrong);
        let causes = losses::causes(&seen, &seen);
        causes
            .iter()
            .map(|it| (it.is_full(), it.least, it.most))
            .collect::<Vec<_>>()
    };
    assert_eq!(bounds(4, 6), [(false, 6, 6), (true, 4, 4)]);
    assert_eq!(bounds(9, 6), [(false, 1, 6), (true, 4, 9)]);
    let others = found(&both(1000, 10));
    assert!(
        others
            .iter()
            .all(|it| !format!("{it:?}").contains("SO_RCVBUF")),
        "{others:?}"
    );
}

#[test]
fn of_two_programs_on_one_port_the_one_whose_socket_drops_is_judged() {
    let mut both = seen(14, 0.97, 0.0);
    let deaf = ThreadTimes {
        id: 8,
        pid: 8,
        process: "deaf (pid 8)".to_owned(),
        name: "deaf".to_owned(),
        ..ThreadTimes::default()
    };
    both.threads.insert(8, deaf);
    let dropping = SocketSeen {
        owners: BTreeSet::from([8]),
        ..socket(14, 4096)
    };
    both.sockets = BTreeMap::from([(1, socket(0, 212_992)), (2, dropping)]);
    let found = found(&both);
    let [full, twins] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(
        full.seen
            .to_string()
            .starts_with("deaf (pid 8): its receive buffer (SO_RCVBUF 2048 B)"),
        "{full:?}"
    );
    assert!(
        twins
            .seen
            .to_string()
            .starts_with("2 sockets have port 7, of 2 processes: at 0.0.0.0 lidar ran"),
        "{twins:?}"
    );
}

#[test]
fn of_a_parent_and_a_child_with_one_socket_the_one_that_reads_is_judged() {
    let mut both = seen(14, 0.0, 0.0);
    let worker = ThreadTimes {
        id: 8,
        pid: 8,
        process: "worker (pid 8)".to_owned(),
        name: "worker".to_owned(),
        runs: 1,
        ran_ns: 9_900_000_000,
        ..ThreadTimes::default()
    };
    both.threads.insert(8, worker);
    let shared = SocketSeen {
        owners: BTreeSet::from([7, 8]),
        ..socket(14, 4096)
    };
    both.sockets = BTreeMap::from([(1, shared)]);
    let found = found(&both);
    let [full] = &found[..] else {
        panic!("one socket has no twin: {found:?}");
    };
    let whose = "worker (pid 8): its receive buffer (SO_RCVBUF 2048 B) overflowed";
    assert!(full.seen.to_string().starts_with(whose), "{full:?}");
    assert!(full.why.starts_with("worker (pid 8) takes"), "{full:?}");
}

#[test]
fn drops_before_any_socket_have_findings_of_their_own() {
    let mut lost = lost(&[
        ("softnet dropped", 5),
        ("IpInHdrErrors", 6),
        ("UdpNoPorts", 1),
    ]);
    lost.interfaces = BTreeMap::from([("wan0 rx_missed_errors".to_owned(), 7)]);
    let found = found(&Interval {
        lost,
        ..seen(0, 0.0, 0.0)
    });
    let texts = found.iter().map(|finding| finding.seen.to_string());
    let texts: Vec<String> = texts.collect();
    assert_eq!(
        texts,
        [
            "interface without a free buffer: 7 packets dropped (wan0 rx_missed_errors 7)",
            "full backlog of a CPU: 5 packets dropped (softnet dropped 5)",
            "wrong IP header: 6 packets dropped (IpInHdrErrors 6)",
            "closed UDP ports: 1 packet dropped (UdpNoPorts 1)",
        ]
    );
    assert!(found[0].fix.ends_with("--interface wan0"), "{found:?}");
}

#[test]
fn an_interface_that_was_set_down_comes_first_if_something_came_in_on_it() {
    let mut seen = seen(3, 0.1, 0.0);
    let times = |name: &str| (format!("{name} set_down"), 1);
    seen.lost.links = BTreeMap::from([times("wan0"), times("wan1")]);
    seen.lost.received = BTreeMap::from([("wan0".to_owned(), 5000), ("wan1".to_owned(), 0)]);
    let findings = findings(&seen, &seen, "lidar", LIMITS);
    let first = findings[0].seen.to_string();
    assert!(first.contains("wan0 was set down here"), "{first}");
    let others = findings
        .iter()
        .filter(|it| it.seen.to_string().contains("set down"));
    assert_eq!(others.count(), 1);
}
