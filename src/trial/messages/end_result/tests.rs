//! Samples from made-up results of ends.

use super::*;
use crate::engines;
use crate::results::row::tests::{case, window};
use crate::sys::kernel_drops::Discarded;

/// Returns the result of an end on `host`, with a window of 3 s and one thread that sends or receives a datagram per
/// second.
pub(crate) fn end(host: &str, side: Side) -> EndResult {
    let (boot, network) = host.split_once('/').expect("boot and network");
    let host = serde_json::json!({ "boot": boot, "network": network });
    let counts = |at_s: u64| Counts {
        sent: if side.sends() { at_s } else { 0 },
        received: if side.receives() { at_s } else { 0 },
        ..Counts::default()
    };
    let discards = |count| Discarded {
        in_network: count,
        in_backlog: 10 * count,
    };
    let times = [2, 5, 6];
    let [at_opening, at_closing, at_end] = times.map(counts);
    let window = window(1);
    EndResult {
        host: serde_json::from_value(host).expect("a host"),
        sample: Sample {
            window_ns: 3_000_000_000,
            threads: vec![ThreadSample {
                side,
                ..window.threads[0].clone()
            }],
            coordinator_cpu_ns: Some(30),
            accounting: Accounting {
                at_opening,
                at_closing,
                at_end,
                ..Accounting::default()
            },
            rcvbuf_bytes: if side.receives() { 4096 } else { 0 },
            sndbuf_bytes: if side.sends() { 8192 } else { 0 },
            ..window
        },
        discards: times.map(discards),
        no_room: 0,
        refused_without_error: 0,
        path: PathGrowth::default(),
    }
}

fn merged(receivers: &str, senders: &str) -> Sample {
    let engines = engines::of(&case()).expect("std is in every build");
    let ends = [end(receivers, Side::Receiver), end(senders, Side::Sender)];
    super::sample(&case(), engines, &ends)
}

#[test]
fn two_ends_make_one_sample() {
    let sample = merged("a/1", "b/1");
    assert_eq!(sample.window_ns, 3_000_000_000);
    let counts = |count| Counts {
        sent: count,
        received: count,
        ..Counts::default()
    };
    let accounting = sample.accounting;
    let edges = [
        accounting.at_opening,
        accounting.at_closing,
        accounting.at_end,
    ];
    assert_eq!(edges, [2, 5, 6].map(counts));
    let sides: Vec<Side> = sample.threads.iter().map(|thread| thread.side).collect();
    assert_eq!(sides, [Side::Sender, Side::Receiver]);
    assert_eq!((sample.rcvbuf_bytes, sample.sndbuf_bytes), (4096, 8192));
    assert_eq!(sample.other_cpu_ns, Some(0));
    // Each end has its own coordinator thread.
    assert_eq!(sample.coordinator_cpu_ns, Some(2 * 30));
}

#[test]
fn the_kernels_discards_are_counted_once_on_one_machine() {
    let discards = |receivers, senders| {
        let accounting = merged(receivers, senders).accounting;
        [
            accounting.kernel_discards_at_opening,
            accounting.kernel_discards_at_closing,
            accounting.kernel_discards,
        ]
    };
    assert_eq!(discards("a/1", "a/1"), [2 + 20, 5 + 50, 6 + 60]);
    // The backlog queues of CPUs do not know network namespaces.
    assert_eq!(discards("a/1", "a/2"), [4 + 20, 10 + 50, 12 + 60]);
    assert_eq!(discards("a/1", "b/1"), [4 + 40, 10 + 100, 12 + 120]);
}
