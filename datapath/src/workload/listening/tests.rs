use std::sync::mpsc;
use std::thread;

use super::*;

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
    let (over, windows) = mpsc::sync_channel(2);
    let (spares, spare) = mpsc::channel();
    spares.send(ListenWindow::new()).expect("open");
    let options = ListenOptions {
        numbered: None,
        silence: None,
        window,
        length: Some(Duration::from_millis(20)),
        drops_before: 0,
    };
    let interrupt = Interrupt::never().expect("a pair");
    let pipe = WindowPipe { over, spare };
    let end = thread::scope(|scope| {
        let listening = scope.spawn(|| listen(&socket, options, &interrupt, pipe));
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
