use std::sync::mpsc;
use std::thread;

use nix::sys::socket::{setsockopt, sockopt};

use super::*;
use crate::sys::stamped_receive::ask_for_stamps;

/// Sends datagrams of these lengths and returns what was heard of them.
fn heard(lengths: &[usize], window: Duration) -> (Vec<ListenWindow>, ListenEnd) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let address = socket.local_addr().expect("bound");
    for length in lengths {
        let payload = vec![0; *length];
        sender
            .send_to(&payload, address)
            .expect("loopback takes it");
    }
    heard_on(&socket, window, 0)
}

fn heard_on(
    socket: &UdpSocket,
    window: Duration,
    drops_before: u32,
) -> (Vec<ListenWindow>, ListenEnd) {
    let (over, windows) = mpsc::sync_channel(2);
    let (spares, spare) = mpsc::channel();
    spares.send(ListenWindow::new()).expect("open");
    let options = ListenOptions {
        numbered: None,
        silence: None,
        window,
        length: Some(Duration::from_millis(20)),
        drops_before,
    };
    let interrupt = Interrupt::never().expect("a pair");
    let pipe = WindowPipe { over, spare };
    let end = thread::scope(|scope| {
        let listening = scope.spawn(|| listen(socket, options, &interrupt, pipe));
        listening.join().expect("no panic")
    });
    drop(spares);
    (windows.iter().collect(), end.expect("the socket is fine"))
}

#[test]
fn what_came_is_counted_once_over_all_windows() {
    let lengths = [100, 0, 1400, 100];
    for window in [Duration::from_millis(1), Duration::from_secs(1)] {
        let (windows, end) = heard(&lengths, window);
        let all = windows.iter().chain([&end.last_window]);
        let (datagrams, bytes) = all.fold((0, 0), |(datagrams, bytes), window| {
            (datagrams + window.datagrams, bytes + window.bytes)
        });
        assert_eq!((datagrams, bytes), (4, 1600));
        let sizes = end.listened.sizes.by_count();
        assert_eq!(sizes, [(100, 2), (0, 1), (1400, 1)]);
        assert_eq!(end.listened.sources.known().len(), 1);
    }
}

#[test]
fn a_window_without_a_spare_one_goes_on() {
    let (windows, end) = heard(&[1], Duration::from_millis(1));
    assert_eq!(windows.len(), 1, "there was one spare window");
    let length = end.last_window.length_ns + windows[0].length_ns;
    assert!(length >= 20_000_000, "{length}");
}

/// Fills the queue of a socket until this many datagrams are dropped, or more: a busy kernel drops them after the call.
/// Returns the number of datagrams sent.
fn overflow(socket: &UdpSocket, drops: u32) -> u32 {
    let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let address = socket.local_addr().expect("bound");
    let mut sent = 0;
    while dropped_at(socket) < drops {
        sender.send_to(&[0; 100], address).expect("loopback");
        sent += 1;
    }
    sent
}

fn dropped_at(socket: &UdpSocket) -> u32 {
    socket_drops(socket).expect("Linux tells")
}

#[test]
fn drops_behind_the_first_datagram_of_a_full_queue_are_counted_once_everywhere() {
    for fewest_before_first in [0, 3] {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        setsockopt(&socket, sockopt::RcvBuf, &4096).expect("it is small");
        ask_for_stamps(&socket, "127.0.0.1".parse().expect("an address"));
        socket.set_nonblocking(true).expect("a socket");
        let sent = overflow(&socket, fewest_before_first);
        let mut received = 0;
        while received + dropped_at(&socket) < sent {
            received += u32::from(socket.recv(&mut [0]).is_ok());
        }
        let before_first = dropped_at(&socket);
        // All drops of which the first datagram does not know are behind it, before the start.
        overflow(&socket, before_first + 7);
        let before_start = dropped_at(&socket);
        let (windows, end) = heard_on(&socket, Duration::from_millis(5), before_start);
        let all = windows.iter().chain([&end.last_window]);
        let dropped: u64 = all.map(|window| window.socket_drops).sum();
        assert_eq!(dropped, (dropped_at(&socket) - before_first).into());
    }
}

#[test]
fn drops_are_those_after_the_first_datagram_in_any_order_and_over_the_end_of_the_count() {
    // The queue was full at the start: 4 of its datagrams were queued before the drop 10.
    for (counts, drops) in [
        (
            &[Some(3), Some(3), Some(10), Some(9), Some(12)][..],
            [0, 0, 7, 0, 2].as_slice(),
        ),
        (&[None, None, Some(2), Some(2)], &[0, 0, 2, 0]),
        (
            &[Some(u32::MAX - 1), Some(u32::MAX), None, Some(1)],
            &[0, 1, 0, 2],
        ),
    ] {
        let mut last = None;
        let dropped = counts.iter().map(|count| dropped_since(&mut last, *count));
        assert_eq!(dropped.collect::<Vec<_>>(), drops, "{counts:?}");
    }
}
