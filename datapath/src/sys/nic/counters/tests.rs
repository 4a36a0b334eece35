//! Tests of counter differences.

use super::*;

#[test]
fn counters_of_32_bits_may_pass_their_end() {
    let end = u64::from(u32::MAX);
    assert_eq!(moved(end - 1, 3), 5);
    assert_eq!(moved(end, 0), 1);
    assert_eq!(moved(end, end + 7), 7);
}

#[test]
fn counters_that_begin_anew_have_moved_by_what_they_show() {
    assert_eq!(moved(1_000_000, 7), 7);
    assert_eq!(moved(1 << 31, 7), 7);
    assert_eq!(moved(1 << 40, 7), 7);
    assert_eq!(moved(u64::MAX, 7), 7);
}

#[test]
fn what_found_the_backlog_full_is_counted_once() {
    let before = PathCounters {
        nic_in_drops: 100,
        backlog_drops: 30,
        ..PathCounters::default()
    };
    let after = PathCounters {
        nic_in_drops: 150,
        backlog_drops: 70,
        ..before
    };
    let moved = after.since(&before);
    assert_eq!((moved.nic_in_drops, moved.backlog_drops), (10, 40));
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
fn only_counters_that_moved_are_named() {
    let at = |a: u64, b: u64| BTreeMap::from([("a".to_owned(), a), ("b".to_owned(), b)]);
    let moved = named_since(&at(5, 9), &at(5, 2));
    assert_eq!(moved, BTreeMap::from([("b".to_owned(), 7)]));
    assert!(named_since(&at(5, 9), &BTreeMap::new()).is_empty());
}

#[test]
fn counters_of_cpus_that_came_or_went_say_nothing() {
    let before = PathCounters {
        backlog_drops: 30,
        softnet_squeezed: 30,
        cpus: 4,
        ..PathCounters::default()
    };
    let after = PathCounters { cpus: 3, ..before };
    let moved = after.since(&before);
    assert_eq!((moved.backlog_drops, moved.softnet_squeezed), (0, 0));
}
