//! Tests of the schedule and of the gaps.

use super::*;
use std::net::UdpSocket;

use crate::data::Arrivals;
use crate::sys::clock;

fn flood(gap_ns: f64) -> PacedFlood {
    let schedule = DueTimes::new(gap_ns, Arrivals::Even);
    let mut flood = PacedFlood::new(0, Rotation::of(1, Vec::new()), schedule, None);
    flood.begin();
    flood
}

#[test]
fn a_flood_catches_up_and_never_has_more_gone_than_is_due() {
    const BATCH: u64 = 7;
    let begun = clock::monotonic_ns();
    let mut flood = flood(10_000.0);
    std::thread::sleep(std::time::Duration::from_millis(2));
    let mut sent = 0;
    while sent < 500 {
        if flood.wait_until_due().is_some() {
            flood.sent(BATCH);
            let due = (clock::monotonic_ns() - begun) / 10_000 + 1;
            sent += BATCH;
            assert!(sent < due + BATCH, "{sent} have gone, {due} are due");
        }
    }
    flood.meter.close_window();
    assert!(flood.meter.pacing().late >= 100, "it began 2 ms late");
}

/// Returns the gaps counted for 100 batches of 3 datagrams over loopback: by timestamps, and by calls.
fn counts(gap_ns: f64) -> (u64, u64) {
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
    let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
    let to = receiver.local_addr().expect("it is bound");
    sender.connect(to).expect("loopback works");
    let meter = Arc::<PaceMeter>::default();
    let mut watch = GapWatch::new(TransmitStamps::of(&sender), Arc::clone(&meter));
    meter.open_window();
    for _ in 0..100 {
        watch.prepare();
        for _ in 0..3 {
            sender.send(&[0]).expect("loopback works");
        }
        watch.went(gap_ns);
    }
    meter.close_window();
    watch.went(gap_ns);
    let found = meter.pacing();
    (found.transmit_gaps.count(), found.call_end_gaps.count())
}

#[test]
fn at_a_low_rate_every_gap_is_counted_and_at_a_high_one_some_are() {
    let (left, returned) = counts(1e6);
    assert_eq!(returned, 99, "between the calls");
    if left == 0 {
        eprintln!("this kernel does not stamp what leaves");
        return;
    }
    assert_eq!(left, 99 * 3, "all but those within the first burst");
    let (left, returned) = counts(1e5);
    assert_eq!(returned, 99);
    // Pairs of batches, ten batches from one pair to the next on average. Each pair has two gaps within, and one
    // between.
    assert!(left % 3 == 0 && (3..50 * 3).contains(&left), "{left}");
}
