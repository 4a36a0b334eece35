//! Tests of counters between two readings.

use super::*;
use crate::sys::kernel_drops::Softnet;

/// Returns a reading of a machine with so many CPUs, with these counters of `lo`.
fn reading(cpus: usize, in_drops: u64, backlog_drops: u64) -> LossCounters {
    let own = [
        ("rx_dropped", in_drops),
        ("tx_packets", 0),
        ("qdisc_drops", 0),
        ("ingress_drops", 0),
    ];
    let softnet = [SOFTNET_DROPPED, SOFTNET_SQUEEZED];
    LossCounters {
        counters: softnet.map(|it| (it.to_owned(), backlog_drops)).into(),
        interfaces: own
            .map(|(name, count)| (format!("lo {name}"), count))
            .into(),
        received: [("lo".to_owned(), 0)].into(),
        softnet: vec![Softnet::default(); cpus],
        ..LossCounters::default()
    }
}

#[test]
fn what_found_the_backlog_full_is_counted_once() {
    let moved = PathCounters::between(&reading(4, 100, 30), &reading(4, 150, 70), "lo");
    let moved = moved.expect("it is there");
    assert_eq!((moved.nic_in_drops, moved.backlog_drops), (10, 40));
}

#[test]
fn an_interface_that_was_not_read_has_no_growth() {
    let all = reading(1, 0, 0);
    assert_eq!(PathCounters::between(&all, &all, "eth0"), None);
    assert_eq!(
        PathCounters::between(&all, &LossCounters::default(), "lo"),
        None
    );
}

#[test]
fn what_the_interface_has_and_no_protocol_vanished_behind_it() {
    let moved = PathCounters {
        rx_packets: 1000,
        ip_in_frames: Some(700),
        ip_in_packets: 700,
        ip_in_ended: 640,
        nic_in_drops: 10,
        ..PathCounters::default()
    };
    assert_eq!(moved.vanished(0), 290 + 60);
    let few = PathCounters {
        ip_in_frames: Some(990),
        ip_in_ended: 700,
        ..moved
    };
    assert_eq!(few.vanished(0), 0, "they may be ARP");
    let said = PathCounters {
        filter_drops: 7,
        ..few
    };
    assert_eq!(said.vanished(0), 7);
    let silent = PathCounters {
        ip_in_frames: None,
        ip_in_ended: 700,
        ..moved
    };
    assert_eq!(silent.vanished(0), 0, "a kernel that does not say");
    // IP received 12 of 30 trains.
    let trains = PathCounters {
        rx_packets: 30,
        ip_in_frames: Some(12 * 128),
        ip_in_packets: 12,
        ip_in_ended: 12,
        ..PathCounters::default()
    };
    assert_eq!(trains.vanished(12 * 128), 0, "they may be ARP");
    let trains = PathCounters {
        rx_packets: 130,
        ..trains
    };
    assert_eq!(trains.vanished(12 * 128), 118);
}

#[test]
fn counters_of_cpus_that_came_or_went_say_nothing() {
    let moved = PathCounters::between(&reading(4, 0, 30), &reading(3, 0, 40), "lo");
    let moved = moved.expect("it is there");
    assert_eq!((moved.backlog_drops, moved.softnet_squeezed), (0, 0));
    assert_eq!(moved.cpus, 3);
}
