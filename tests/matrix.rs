//! Every registered engine over real sockets, in every combination: whatever the speed, the books close.

mod common;

use std::time::Duration;

use udpbench::case::{Case, Connection, Ip};
use udpbench::engines;
use udpbench::placement::Placement;
use udpbench::runner::{self, NoSample, Settings, Spread};
use udpbench::sample::Sample;
use udpbench::sys::files::Root;
use udpbench::sys::interrupt::Interrupt;

use common::cases::{batch, built_and_runnable, matrix};

/// So small that a flood overflows it, whatever the machine.
const TINY_RCVBUF: u32 = 2048;

fn settings(rcvbuf_bytes: u32, spread: Spread) -> Settings {
    Settings {
        warmup: Duration::from_millis(4),
        window: Duration::from_millis(8),
        rcvbuf_bytes,
        spread,
        root: Root::default(),
    }
}

fn measure(case: &Case, settings: &Settings) -> Sample {
    let interrupt = Interrupt::never().expect("a pair of sockets");
    match runner::measure(
        case,
        &Placement::unpinned(case.threads),
        settings,
        &interrupt,
    ) {
        Ok(sample) => sample,
        Err(NoSample::Failed(error)) => panic!("{}: {error:#}", case.key()),
        Err(NoSample::Interrupted) => panic!("{}: interrupted by nobody", case.key()),
    }
}

/// Holds for any engine on any machine. Returns how many datagrams the socket dropped.
fn check_invariants(case: &Case, sample: &Sample) -> u64 {
    let (key, books) = (case.key(), sample.books.of_window());
    assert_eq!(books.unaccounted, 0, "{key}: {:?}", sample.books);
    assert!(books.received <= books.sent, "{key}: {books:?}");
    if case.receiver.about.starves.is_none() {
        assert_eq!(books.unread, 0, "{key}: {:?}", sample.books);
    }
    // Nothing of the warm-up: what the lanes did in the window is at most what was done since it opened.
    let (before, end) = (sample.books.at_opening, sample.books.at_end);
    let sent: u64 = sample.lanes.iter().map(|lane| lane.sent_packets).sum();
    let received: u64 = sample.lanes.iter().map(|lane| lane.received_packets).sum();
    assert_eq!(books.sent, end.sent - before.sent, "{key}");
    assert!(sent <= end.sent - before.sent, "{key}: {sample:?}");
    assert!(
        received <= end.received - before.received,
        "{key}: {sample:?}"
    );
    // Every datagram has the payload that was asked for. Packets and bytes are read one after the other,
    // so at either edge a burst may be in one and not yet in the other; those of `null` are large.
    let payload = case.payload.bytes() as u64;
    if case.sender.about.moves_datagrams {
        for lane in &sample.lanes {
            let skew = lane.sent_bytes.abs_diff(lane.sent_packets * payload);
            assert!(skew <= 2 * payload, "{key}: {lane:?}");
            let skew = lane
                .received_bytes
                .abs_diff(lane.received_packets * payload);
            assert!(skew <= 2 * payload, "{key}: {lane:?}");
        }
    }
    books.dropped_socket
}

#[test]
fn the_books_close_over_the_whole_matrix_while_sockets_overflow() {
    let settings = settings(TINY_RCVBUF, Spread::Even);
    for connection in [Connection::Connected, Connection::Unconnected] {
        for ip in [Ip::V4, Ip::V6] {
            let mut cases = matrix(300);
            cases.retain(|case| (case.connection, case.ip) == (connection, ip));
            let drops = |case: &Case| check_invariants(case, &measure(case, &settings));
            let dropped: u64 = cases.iter().map(drops).sum();
            assert!(
                cases.is_empty() || dropped > 0,
                "{connection} {ip}: nothing overflowed"
            );
        }
    }
}

#[test]
fn the_books_close_at_the_ends_of_the_payload_axis() {
    let settings = settings(1 << 20, Spread::Even);
    for payload in [0, 65_507] {
        for case in matrix(payload) {
            check_invariants(&case, &measure(&case, &settings));
        }
    }
}

#[test]
fn any_sender_meets_any_receiver() {
    let settings = settings(TINY_RCVBUF, Spread::Even);
    let moving = || built_and_runnable().filter(|entry| entry.about.moves_datagrams);
    for sender in moving().filter(|entry| entry.sends()) {
        for receiver in moving().filter(|entry| entry.receives()) {
            let case = Case {
                sender,
                receiver,
                threads: 2.try_into().expect("in range"),
                payload: 26.try_into().expect("in range"),
                connection: Connection::Unconnected,
                ip: Ip::V4,
                batch: batch(sender, receiver),
            };
            check_invariants(&case, &measure(&case, &settings));
        }
    }
}

#[test]
fn the_books_close_when_the_kernel_spreads_the_flows() {
    let settings = settings(TINY_RCVBUF, Spread::Hash);
    for case in matrix(26) {
        check_invariants(&case, &measure(&case, &settings));
    }
}

#[test]
fn many_more_threads_than_cpus_do_not_hang() {
    let settings = settings(TINY_RCVBUF, Spread::Even);
    for threads in [7, 33] {
        let case = Case {
            sender: engines::reference(),
            receiver: engines::reference(),
            threads: threads.try_into().expect("in range"),
            payload: 26.try_into().expect("in range"),
            connection: Connection::Connected,
            ip: Ip::V4,
            batch: None,
        };
        check_invariants(&case, &measure(&case, &settings));
    }
}

#[test]
fn a_receiver_that_starves_is_seen_to_starve() {
    let settings = settings(TINY_RCVBUF, Spread::Even);
    for entry in engines::ALL
        .iter()
        .filter(|entry| entry.about.starves.is_some())
    {
        let case = Case {
            sender: engines::reference(),
            receiver: entry,
            threads: 4.try_into().expect("in range"),
            payload: 26.try_into().expect("in range"),
            connection: Connection::Connected,
            ip: Ip::V4,
            batch: None,
        };
        // A flood over a tiny buffer outruns it at some point: then its queue stays full.
        let starved = (0..100).any(|_| measure(&case, &settings).books.unread > 0);
        assert!(starved, "{entry} never starved");
    }
}
