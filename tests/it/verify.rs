//! Engines deliver datagrams unchanged, and `--verify` reports any that are not.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;

use udpbench::data::{Batch, Ip, LEAST_BYTES, Verified, refusal};
use udpbench::engine::payload::Fill;
use udpbench::engine::verify::{SequenceTracker, SequenceWriter};
use udpbench::engine::{Direction, Endpoint, IoOptions, Meter};
use udpbench::engines::Entry;
use udpbench::plan::Settings;
use udpbench::results::row::Status;
use udpbench::workload::context::{Control, ThreadContext};
use udpbench::workload::{Incoming, Program};

use crate::common::cases::{self, built_and_runnable, engines_of, matrix};
use crate::common::{Place, rows, wait_until};

const PAYLOAD: usize = 300;

#[test]
fn every_engine_delivers_what_was_sent() {
    let settings = Settings::default();
    for payload in [LEAST_BYTES, 1460] {
        let mut cases = matrix(payload.try_into().expect("in range"));
        cases.retain(|case| case.ip == Ip::V4);
        cases.retain(|case| {
            let sender = engines_of(case).0.properties();
            refusal(case.payload, &sender).is_none()
        });
        for case in cases {
            let (key, sample) = (case.key(), cases::verify(&case, &settings));
            let verified = sample.verified.expect("somebody looked");
            assert_eq!(verified.packets, sample.accounting.at_end.received, "{key}");
            assert_eq!(verified.fault(None), None, "{key}");
            assert_eq!(sample.accounting.of_window().unaccounted, 0, "{key}");
            if engines_of(&case).1.about.starves.is_none() {
                assert!(verified.packets > 0, "{key}: nothing came");
            }
        }
    }
}

#[test]
fn faults_are_found_whatever_the_receiver() {
    // One that starves would not see them all.
    let fair = built_and_runnable().filter(|entry| entry.about.is_fair() && entry.receives());
    for entry in fair {
        let found = received_by(entry, &faulty_stream());
        let counts = (
            found.duplicated,
            found.reordered,
            found.truncated,
            found.corrupted,
        );
        assert_eq!(counts, (1, 1, 1, 3), "{entry}: {found:?}");
    }
}

/// A good stream of a hundred, but for one fault of each kind, and two of the last: a third is who sends its end.
fn faulty_stream() -> Vec<Vec<u8>> {
    let mut writer = SequenceWriter::new(0, PAYLOAD);
    let mut next = || {
        let mut datagram = vec![0; PAYLOAD];
        writer.fill(&mut datagram);
        writer.sent(1);
        datagram
    };
    let mut stream: Vec<Vec<u8>> = (0..100).map(|_| next()).collect();
    stream.insert(10, stream[9].clone());
    stream.swap(20, 21);
    stream[30].pop();
    stream[40][200] ^= 0x10;
    stream[50].push(0);
    stream
}

/// Sends `stream` by hand to a receiving thread of the engine, the last of it from a stranger's socket; returns what
/// its tracker says.
fn received_by(entry: &'static Entry, stream: &[Vec<u8>]) -> Verified {
    let any_port = SocketAddr::new(Ip::V4.loopback(), 0);
    let socket = UdpSocket::bind(any_port).expect("loopback is up");
    let sender = UdpSocket::bind(any_port).expect("as the first");
    let receiver = socket.local_addr().expect("bound");
    let tracker = Arc::new(SequenceTracker::new(PAYLOAD));
    tracker.expect_source(0, sender.local_addr().expect("bound"));
    let links = vec![Endpoint::of(socket, None)];
    let options = IoOptions {
        buffer_bytes: PAYLOAD + 1,
        batch: Batch::DEFAULT.count(),
        ..IoOptions::of(links, Direction::Receives, PAYLOAD)
    };
    let program = Program::Sink(Incoming {
        options,
        tracker: Some(Arc::clone(&tracker)),
        flows: None,
    });
    let control = Arc::new(Control::default());
    let meter = Arc::new(Meter::default());
    let context = ThreadContext::new(Arc::clone(&control), Arc::clone(&meter));
    let thread = thread::spawn(move || (entry.thread)(program, &Arc::new(context)).map(drop));
    control.start_barrier.wait_for(1);
    control.start_barrier.open();

    let stranger = UdpSocket::bind(any_port).expect("as the first");
    let (last, ours) = stream.split_last().expect("there are some");
    let ours = ours.iter().map(|datagram| (&sender, datagram));
    for (socket, datagram) in ours.chain([(&stranger, last)]) {
        // So slowly that no queue overflows.
        let before = tracker.verified().packets;
        socket
            .send_to(datagram, receiver)
            .expect("loopback takes it");
        wait_until("its arrival", || {
            thread::yield_now();
            tracker.verified().packets != before || thread.is_finished()
        });
    }
    let found = tracker.verified();
    control.stop_receiving();
    wait_until("the end of the thread", || {
        // Wakes whoever waits for a datagram.
        sender.send_to(&[], receiver).expect("loopback takes it");
        meter.wakeups.interrupt();
        thread.is_finished()
    });
    thread.join().expect("no panic").expect("no error");
    found
}

#[test]
fn rows_say_what_was_found() {
    let place = Place::new();
    let output = place.run(
        "--verify --engine std,mmsg --threads 2 --payload 11,12 --connection connected --ip v4 \
         --duration 10ms --rounds 5 --warmup 1ms --heat 1ms -o out.csv",
    );
    assert!(output.status.success(), "{output:?}");
    for row in rows(&place.path("out.csv")) {
        assert_eq!(row.status, Status::Ok, "{row:?}");
        let faults = [
            row.duplicated_packets,
            row.truncated_packets,
            row.corrupted_packets,
        ];
        if u32::from(row.payload_bytes) == 12 {
            assert!(row.verified_packets > Some(0), "{row:?}");
            assert_eq!(faults, [Some(0); 3], "{row:?}");
        } else {
            assert_eq!(faults, [None; 3], "{row:?}");
            let why = "not verified: 11 B are too few to tell datagrams apart, 12 B are enough";
            assert!(
                row.warnings.iter().any(|it| it.to_string() == why),
                "{row:?}"
            );
        }
    }
}
