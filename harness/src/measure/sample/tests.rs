//! Samples from readings made by hand.

use super::*;
use crate::engines;
use crate::row::tests::case;
use crate::sys::idle::IdleTimes;
use crate::sys::sensors::SensorReadings;

/// A site at `host`, with one lane that sends or receives as many datagrams as there are seconds.
fn half(host: &str, side: Side) -> Half {
    let (boot, network) = host.split_once('/').expect("boot and network");
    let host = serde_json::json!({ "boot": boot, "network": network });
    let discards = |count| Discarded {
        in_network: count,
        in_backlog: 10 * count,
    };
    let reading = |at_s: u64| {
        let moved = |moves| if moves { at_s } else { 0 };
        let lane = LaneReading {
            sent_packets: moved(side.sends()),
            received_packets: moved(side.receives()),
            cpu_ns: Some(at_s),
            ..LaneReading::default()
        };
        Reading {
            at_ns: at_s * 1_000_000_000,
            counts: Counts {
                sent: lane.sent_packets,
                received: lane.received_packets,
                ..Counts::default()
            },
            discards: [discards(at_s); 2],
            cpu_ns: Some(at_s + 1),
            coordinator_cpu_ns: Some(10 * at_s),
            lanes: vec![lane],
        }
    };
    let (opening, closing, end) = (reading(2), reading(5), reading(6));
    Half {
        host: serde_json::from_value(host).expect("a host"),
        opening,
        closing,
        finished: Finished {
            counts: end.counts,
            unread: 0,
            discards: discards(6),
            no_room: 0,
            unsaid: 0,
            path: None,
            nic: <_>::default(),
            drop_reasons: <_>::default(),
            rcvbuf_bytes: side.receives().then_some(4096),
            sndbuf_bytes: side.sends().then_some(8192),
            climate: SensorReadings::default(),
            idle_times: IdleTimes::default(),
            round_trips: None,
            pacing: None,
            flow_packets: Vec::new(),
            verified: None,
            lanes: vec![LaneEnd {
                side,
                cpu: None,
                is_pooled: false,
                pace: None,
                remark: None,
                refusal: None,
            }],
        },
    }
}

fn sample(receivers: &str, senders: &str) -> Sample {
    let engines = engines::of(&case()).expect("std is in every build");
    let halves = [half(receivers, Side::Receiver), half(senders, Side::Sender)];
    of(&case(), engines, UNIX_EPOCH, &halves)
}

#[test]
fn two_sites_make_one_sample() {
    let sample = sample("a/1", "b/1");
    assert_eq!(sample.window_ns, 3_000_000_000);
    let counts = |count| Counts {
        sent: count,
        received: count,
        ..Counts::default()
    };
    let books = sample.books;
    let edges = [books.at_opening, books.at_closing, books.at_end];
    assert_eq!(edges, [2, 5, 6].map(counts));
    let [sender, receiver] = &sample.lanes[..] else {
        panic!("two lanes: {sample:?}");
    };
    assert_eq!((sender.side, sender.sent_packets), (Side::Sender, 3));
    assert_eq!(
        (receiver.side, receiver.received_packets),
        (Side::Receiver, 3)
    );
    assert_eq!((sample.rcvbuf_bytes, sample.sndbuf_bytes), (4096, 8192));
    assert_eq!(sample.other_cpu_ns, Some(0));
    // Each site has one.
    assert_eq!(sample.coordinator_cpu_ns, Some(2 * 30));
}

#[test]
fn the_kernels_discards_are_counted_once_on_one_machine() {
    let discards = |receivers, senders| {
        let books = sample(receivers, senders).books;
        [
            books.kernel_discards_at_opening,
            books.kernel_discards_at_closing,
            books.kernel_discards,
        ]
    };
    assert_eq!(discards("a/1", "a/1"), [2 + 20, 5 + 50, 6 + 60]);
    // The backlog queues of CPUs know no namespaces.
    assert_eq!(discards("a/1", "a/2"), [4 + 20, 10 + 50, 12 + 60]);
    assert_eq!(discards("a/1", "b/1"), [4 + 40, 10 + 100, 12 + 120]);
}
