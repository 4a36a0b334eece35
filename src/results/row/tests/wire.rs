//! Tests of rows between two hosts.

use std::collections::BTreeMap;

use super::*;
use crate::data::{Direction, DirectionCounts};
use crate::sys::nic::Wireless;
use crate::sys::path_counters::PathCounters;

/// Returns a row of a sweep from a laptop to a board.
pub(crate) fn row_of_a_wire() -> Row {
    let text = str::to_owned;
    Row {
        case: of_key("std:std/2t/300B/connected/v4/up"),
        direction: Some(Direction::Up),
        board: text("generic"),
        model: text("a laptop"),
        cpu_model: String::new(),
        arch: text("x86_64"),
        virtualization: String::new(),
        remote: text("pi@board"),
        remote_board: text("rpi-4b"),
        remote_model: text("Raspberry Pi 4 Model B"),
        remote_cpu_model: text("Cortex-A72"),
        remote_machine: text("aarch64"),
        remote_kernel: text("6.12.0"),
        ..ordinary_row()
    }
}

/// Returns the path counters of a window between two hosts: 30,000 datagrams sent, and this many received.
pub(crate) fn path(received: u64) -> DirectionCounts {
    DirectionCounts {
        direction: Direction::Up,
        sent: 30_000,
        refused: 0,
        failed: 0,
        refused_without_error: 0,
        received,
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

/// Returns a row of six windows with this path.
fn row_over(path: &DirectionCounts) -> Row {
    let mut samples = six();
    for sample in &mut samples {
        sample.paths = vec![path.clone()];
    }
    make_row(&samples, &[], Ok(EndedBy::Rounds))
}

#[test]
fn a_surplus_in_one_window_makes_up_for_no_loss_in_another() {
    let mut samples = six();
    for (sample, received) in samples
        .iter_mut()
        .zip([30_000, 31_000, 29_000].into_iter().cycle())
    {
        sample.paths = vec![path(received)];
    }
    let row = make_row(&samples, &[], Ok(EndedBy::Rounds));
    assert_eq!(row.loss_pct, Some(1.1111));
    let [said] = &texts(&row)[..] else {
        panic!("{row:?}");
    };
    assert!(
        said.starts_with("2000 datagrams more were received than sent"),
        "{said}"
    );
    assert!(
        said.contains("at least 1.1111 % were: --verify tells"),
        "{said}"
    );
}

#[test]
fn what_a_path_held_for_long_is_no_fault_of_the_receivers() {
    let mut samples = six();
    let left = |samples: &mut Vec<Sample>, paths: Vec<DirectionCounts>| {
        (samples[1].paths, samples[1].accounting.unread) = (paths, 7);
        make_row(samples, &[], Ok(EndedBy::Rounds))
    };
    let late = DirectionCounts {
        unread: 7,
        ..path(29_993)
    };
    let row = left(&mut samples, vec![late]);
    assert_eq!((row.status, row.unread_packets), (Status::Ok, Some(7)));
    let said = "7 datagrams were left unread";
    assert!(texts(&row).iter().any(|it| it.starts_with(said)), "{row:?}");
    assert_eq!(left(&mut samples, Vec::new()).status, Status::Failed);
}

#[test]
fn counters_that_other_traffic_moved_further_are_named() {
    let with = |nic_in_drops, udp_no_ports| {
        texts(&row_over(&DirectionCounts {
            at_receiver: PathCounters {
                nic_in_drops,
                udp_no_ports,
                ..PathCounters::default()
            },
            ..path(29_000)
        }))
    };
    assert_eq!(with(1000, 0), Vec::<String>::new());
    assert_eq!(with(1005, 0), Vec::<String>::new(), "next to nothing");
    let said = with(5000, 0).join("; ");
    assert!(
        said.contains("at NIC in than is missing: its counters moved by 30000, and 6000 missing"),
        "{said}"
    );
    let said = with(0, 400).join("; ");
    assert!(
        said.starts_with("2400 missing datagrams are taken for those that closed ports counted"),
        "{said}"
    );
}

#[test]
fn counters_of_the_driver_are_named_and_damaged_frames_are_a_cables() {
    let named = |name: &str| BTreeMap::from([(name.to_owned(), 1000)]);
    let row = row_over(&DirectionCounts {
        nic_at_receiver: named("rx_resource_errors"),
        ..path(29_000)
    });
    assert_eq!(row.nic_counters, "receiver: rx_resource_errors 6000");
    let said = texts(&row).join("; ");
    let expected = "the receiver's driver lost 6000 packets (rx_resource_errors): the receive ring had no free";
    assert!(said.starts_with(expected), "{said}");
    // What this end sends is lost by other counters.
    let row = row_over(&DirectionCounts {
        nic_at_sender: named("rx_resource_errors"),
        ..path(30_000)
    });
    assert_eq!(row.warnings, []);
    for counter in ["rx_crc_errors", "RX FCS Errors", "mmc_rx_align_error"] {
        let row = row_over(&DirectionCounts {
            nic_at_receiver: named(counter),
            ..path(29_000)
        });
        let said = texts(&row).join("; ");
        let expected = format!("the receiver's interface received 6000 damaged frames ({counter})");
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn the_place_where_the_receivers_host_dropped_packets_is_named_with_what_to_type() {
    let lost_at = |place: &str, packets: u64, received: u64| {
        let row = row_over(&DirectionCounts {
            places_at_receiver: BTreeMap::from([(place.to_owned(), packets)]),
            ..path(received)
        });
        texts(&row).join("; ")
    };
    let said = lost_at("reverse path filter", 1000, 29_000);
    let expected = "for any program: reverse path filter 6000 (a route to the sender's ADDRESS: sudo ip route add \
                    ADDRESS dev NIC, or no such filter: sudo sysctl -w net.ipv4.conf.all.rp_filter=0 \
                    net.ipv4.conf.NIC.rp_filter=0)";
    assert!(said.contains(expected), "{said}");
    assert_eq!(
        lost_at("reverse path filter", 1000, 30_000),
        "",
        "nothing is missing"
    );
    assert_eq!(
        lost_at("closed UDP ports", 3, 29_990),
        "",
        "that comes every day"
    );
}

#[test]
fn a_radio_that_sleeps_or_changes_is_named() {
    let with = |power_save, kbps: [u32; 2], mhz: [u32; 2]| {
        let mut samples = six();
        for (index, sample) in samples.iter_mut().enumerate() {
            let radio = Wireless {
                power_save: Some(power_save),
                frequency_mhz: Some(mhz[index % 2]),
                signal_dbm: Some([-60, -75][index % 2]),
                tx_kbps: Some(kbps[index % 2]),
                ..Wireless::default()
            };
            sample.paths = vec![DirectionCounts {
                radio_at_receiver: Some(radio),
                ..path(30_000)
            }];
        }
        texts(&make_row(&samples, &[], Ok(EndedBy::Rounds)))
    };
    let channel = [5180, 5180];
    assert_eq!(with(false, [65_000, 72_200], channel), Vec::<String>::new());
    let said = with(true, [65_000, 72_200], channel).join("; ");
    assert!(
        said.starts_with("the receiver's radio saves power"),
        "{said}"
    );
    let said = with(false, [72_200, 6_500], channel).join("; ");
    let expected = "its bit rate went from 6.5 to 72.2 Mb/s, its signal from -75 to -60 dBm";
    assert!(said.ends_with(expected), "{said}");
    let said = with(false, [65_000, 65_000], [2412, 5180]).join("; ");
    assert!(
        said.ends_with("its channel from 2412 to 5180 MHz"),
        "{said}"
    );
}

#[test]
fn a_window_without_datagrams_is_too_short_only_where_they_came_later() {
    let with = |received| {
        let mut samples = six();
        samples[2].threads[1].received_packets = 0;
        for sample in &mut samples {
            sample.paths = vec![path(received)];
        }
        let row = make_row(&samples, &[], Ok(EndedBy::Rounds));
        texts(&row).join("; ")
    };
    assert!(with(30_000).contains("too short, or the machine too busy"));
    let said = with(10);
    assert!(
        said.contains("of 30000 datagrams that were sent for it, 10 came"),
        "{said}"
    );
}
