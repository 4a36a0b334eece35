//! Tests of the accounting between two hosts, with counters made by hand.

use super::*;

fn path() -> DirectionCounts {
    DirectionCounts {
        direction: Direction::Up,
        sent: 1000,
        refused: 0,
        failed: 0,
        refused_without_error: 0,
        received: 1000,
        unread: 0,
        dropped_socket: 0,
        drops_may_be_aggregates: false,
        drops_may_be_trains: false,
        at_sender: PathCounters::default(),
        at_receiver: PathCounters::default(),
        nic_at_sender: BTreeMap::new(),
        nic_at_receiver: BTreeMap::new(),
        radio_at_sender: None,
        radio_at_receiver: None,
        reasons_at_sender: BTreeMap::new(),
        reasons_at_receiver: BTreeMap::new(),
        places_at_receiver: BTreeMap::new(),
    }
}

#[test]
fn a_queue_that_dropped_others_refused_nothing_that_a_firewall_did() {
    let path = DirectionCounts {
        failed: 160,
        at_sender: PathCounters {
            qdisc_drops: 500,
            ..PathCounters::default()
        },
        ..path()
    };
    let accounting = path.accounting();
    assert_eq!(
        (accounting.places.qdisc, accounting.refused, accounting.sent),
        (0, 160, 1160)
    );
}

/// Simulates a firewall that refuses every third datagram (of some batches without an error) and a TAP device that
/// drops datagrams when it is full.
#[test]
fn what_is_refused_without_an_error_is_refused_for_the_reason_that_others_were_told() {
    let accounting = |path: DirectionCounts| {
        let accounting = path.accounting();
        (
            accounting.refused,
            accounting.places.nic_out,
            accounting.places.path,
        )
    };
    let firewall = DirectionCounts {
        sent: 2000,
        failed: 600,
        refused_without_error: 400,
        at_sender: PathCounters {
            nic_out_drops: 900,
            ..PathCounters::default()
        },
        ..path()
    };
    assert_eq!(accounting(firewall.clone()), (1000, 900, 100));
    let full = DirectionCounts {
        refused: 600,
        failed: 0,
        ..firewall
    };
    assert_eq!(accounting(full), (100, 900, 1000));
}

/// Simulates a TAP device, and a firewall behind it, that count each segment of a train.
#[test]
fn counters_of_datagrams_explain_no_more_than_they_say_where_trains_are_sent() {
    let places = DirectionCounts {
        sent: 100_000,
        received: 40_000,
        drops_may_be_trains: true,
        at_sender: PathCounters {
            nic_out_drops: 50_000,
            ..PathCounters::default()
        },
        at_receiver: PathCounters {
            rx_packets: 50_000,
            ip_in_frames: Some(50_000),
            ip_in_packets: 50_000,
            ip_in_ended: 40_000,
            ..PathCounters::default()
        },
        ..path()
    }
    .accounting()
    .places;
    assert_eq!((places.nic_out, places.kernel_in), (50_000, 10_000));
    assert_eq!(places.path, 0);
}

#[test]
fn what_a_filter_drops_on_the_way_in_is_no_loss_on_the_way_out() {
    let filtered = DirectionCounts {
        received: 900,
        at_sender: PathCounters {
            filter_drops: 317,
            ..PathCounters::default()
        },
        ..path()
    };
    let places = filtered.accounting().places;
    assert_eq!((places.qdisc, places.path), (0, 100));
    let told = DirectionCounts {
        refused: 40,
        ..filtered
    };
    let places = told.accounting().places;
    assert_eq!((places.qdisc, places.path), (40, 100));
    let without_error = DirectionCounts {
        refused_without_error: 40,
        ..told
    };
    assert_eq!(
        (
            without_error.accounting().places.qdisc,
            without_error.accounting().refused
        ),
        (40, 40)
    );
}

#[test]
fn each_loss_is_in_the_place_that_counted_it_and_the_rest_is_the_paths() {
    let accounting = DirectionCounts {
        refused: 50,
        refused_without_error: 4,
        received: 900,
        dropped_socket: 20,
        at_sender: PathCounters {
            // Refused datagrams are included.
            qdisc_drops: 59,
            nic_out_drops: 6,
            ..PathCounters::default()
        },
        at_receiver: PathCounters {
            nic_in_drops: 7,
            backlog_drops: 8,
            udp_no_ports: 9,
            ..PathCounters::default()
        },
        ..path()
    }
    .accounting();
    let places = Places {
        qdisc: 59,
        nic_out: 6,
        path: 45,
        nic_in: 7,
        backlog: 8,
        protocol: 9,
        surplus: 0,
        ..Places::default()
    };
    assert_eq!((accounting.sent, accounting.dropped_socket), (1054, 20));
    assert_eq!((accounting.places, accounting.unaccounted), (places, 0));
}

#[test]
fn what_other_traffic_counted_explains_no_more_than_is_missing() {
    let at_receiver = PathCounters {
        nic_in_drops: 100,
        udp_no_ports: 100,
        ..PathCounters::default()
    };
    let accounting = DirectionCounts {
        received: 997,
        at_receiver,
        ..path()
    }
    .accounting();
    assert_eq!(
        (accounting.places.protocol, accounting.places.nic_in),
        (0, 3)
    );
    assert_eq!((accounting.places.path, accounting.unaccounted), (0, 0));
}

#[test]
fn what_came_twice_is_a_surplus() {
    let accounting = DirectionCounts {
        received: 1004,
        dropped_socket: 3,
        ..path()
    }
    .accounting();
    assert_eq!(
        (accounting.places.surplus, accounting.dropped_socket),
        (7, 3)
    );
    assert_eq!(accounting.unaccounted, 0);
}

#[test]
fn aggregates_that_were_dropped_at_a_socket_may_have_been_of_any_size() {
    let accounting = DirectionCounts {
        received: 900,
        dropped_socket: 3,
        drops_may_be_aggregates: true,
        drops_may_be_trains: true,
        ..path()
    }
    .accounting();
    assert_eq!(
        (accounting.dropped_socket, accounting.places.path),
        (100, 0)
    );
}

/// Returns counters by name.
fn named(counters: &[(&str, u64)]) -> BTreeMap<String, u64> {
    let counters = counters.iter();
    counters
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect()
}

#[test]
fn a_place_that_counted_nothing_has_refused_nothing() {
    let refused = DirectionCounts {
        sent: 100,
        received: 100,
        refused: 900,
        ..path()
    };
    let accounting = refused.accounting();
    assert_eq!(
        (
            accounting.sent,
            accounting.places.qdisc,
            accounting.places.kernel_out
        ),
        (1000, 0, 900)
    );
    // A frame above the MTU of the other end of a veth.
    let accounting = DirectionCounts {
        at_sender: PathCounters {
            nic_out_drops: 900,
            ..PathCounters::default()
        },
        ..refused.clone()
    }
    .accounting();
    assert_eq!(
        (accounting.places.nic_out, accounting.places.kernel_out),
        (900, 0)
    );
    let accounting = DirectionCounts {
        at_sender: PathCounters {
            qdisc_drops: 500,
            filter_drops: 100,
            nic_out_drops: 200,
            ..PathCounters::default()
        },
        ..refused
    }
    .accounting();
    let Places {
        qdisc,
        nic_out,
        kernel_out,
        ..
    } = accounting.places;
    assert_eq!((qdisc, nic_out, kernel_out), (600, 200, 100));
    assert_eq!(accounting.unaccounted, 0);
}

#[test]
fn what_only_the_driver_counted_is_the_interfaces_and_nothing_is_counted_twice() {
    for (counter, value) in [
        ("rx_resource_errors", 70),
        ("rbuf_ovflow_cnt", 70),
        ("mmc_rx_fifo_overflow", 70),
        ("RX Dropped Frames", 70),
        ("rx_missed", 70),
        ("rx_queue_0_drops", 70),
    ] {
        for generic in [0, 70] {
            let accounting = DirectionCounts {
                received: 900,
                at_receiver: PathCounters {
                    nic_in_drops: generic,
                    ..PathCounters::default()
                },
                nic_at_receiver: named(&[(counter, value), ("rx_errors", generic)]),
                ..path()
            }
            .accounting();
            assert_eq!(
                (accounting.places.nic_in, accounting.places.path),
                (70, 30),
                "{counter}"
            );
        }
    }
    let accounting = DirectionCounts {
        received: 900,
        nic_at_sender: named(&[("tx_underrun", 60)]),
        ..path()
    }
    .accounting();
    assert_eq!(
        (accounting.places.nic_out, accounting.places.path),
        (60, 40)
    );
}

#[test]
fn what_the_interface_received_was_not_lost_on_the_path() {
    let lost_at = |rx_packets, ip_in_frames, ip_in_packets, ip_in_ended| {
        let at_receiver = PathCounters {
            rx_packets,
            ip_in_frames: Some(ip_in_frames),
            ip_in_packets,
            ip_in_ended,
            ..PathCounters::default()
        };
        let places = DirectionCounts {
            received: 700,
            at_receiver,
            ..path()
        }
        .accounting()
        .places;
        (places.kernel_in, places.path)
    };
    // XDP or a filter of tc; a firewall; the path; with 50 of other traffic each time.
    assert_eq!(lost_at(1050, 750, 750, 750), (300, 0));
    assert_eq!(lost_at(1050, 1050, 1050, 750), (300, 0));
    assert_eq!(lost_at(750, 750, 750, 750), (0, 300));
    assert_eq!(lost_at(900, 750, 750, 750), (150, 150));
}

#[test]
fn what_other_traffic_has_moved_is_told() {
    let path = DirectionCounts {
        received: 997,
        at_receiver: PathCounters {
            nic_in_drops: 100,
            udp_no_ports: 100,
            ..PathCounters::default()
        },
        ..path()
    };
    let shared = path.shared_counters();
    let moved = shared.into_iter().filter(|it| it.counted > 0);
    let moved: Vec<_> = moved.map(|it| (it.place, it.counted, it.taken)).collect();
    assert_eq!(moved, [("NIC in", 100, 3), (CLOSED_PORTS, 100, 0)]);
}

#[test]
fn a_link_that_came_or_went_is_named_by_its_end() {
    let changed = PathCounters {
        carrier_changes: 2,
        ..PathCounters::default()
    };
    assert_eq!(path().links_that_changed(), Vec::<&str>::new());
    let at_receiver = DirectionCounts {
        at_receiver: changed,
        ..path()
    };
    assert_eq!(at_receiver.links_that_changed(), ["receiver"]);
}

mod simulated;
